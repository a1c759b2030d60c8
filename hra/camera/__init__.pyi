from .camera import Camera as Camera
from .eccentricity import Eccentricity as Eccentricity
from .occlusion import Occlusion as Occlusion
