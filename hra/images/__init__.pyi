from .arrays import as_image as as_image
from .files import MAX_PIXELS as MAX_PIXELS
from .files import load_image as load_image
from .files import save_png as save_png
from .quality import flip as flip
from .quality import flip_map as flip_map
from .quality import psnr as psnr
from .quality import ssim as ssim
