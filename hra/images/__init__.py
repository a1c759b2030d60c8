"""Images: from and to files, as arrays of one form, and how close two of them are."""

from __future__ import annotations

from hra.images.arrays import as_image
from hra.images.files import MAX_PIXELS, load_image, save_png

__all__ = ["MAX_PIXELS", "as_image", "load_image", "save_png"]
