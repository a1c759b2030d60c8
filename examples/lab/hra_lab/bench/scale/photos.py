"""Folders of photographs: windows of the sample, as JPEG files."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hra import samples
from hra.files.images import load_image

SQUARE = (336, 336)
"""What many encoders take."""
CAMERA = (640, 480)
"""The size of most photographs of published data sets (COCO)."""


def write_photos(folder: Path, count: int, size: tuple[int, int] = SQUARE) -> None:
    """Write ``count`` windows of ``size`` (width, height) at random places, every second one mirrored."""
    from PIL import Image

    photo, rng = np.rint(load_image(samples.path("photo.jpg")) * 255).astype(np.uint8), np.random.default_rng(0)
    width, height = size
    for number in range(count):
        y, x = (int(rng.integers(0, free + 1)) for free in (photo.shape[0] - height, photo.shape[1] - width))
        window = photo[y : y + height, x : x + width]
        Image.fromarray(window[:, ::-1] if number % 2 else window).save(folder / f"{number:06}.jpg", quality=88)
