"""Folders of photographs: windows of the sample, as JPEG files."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hra.images import load_image
from hra.lab import samples

SIDE = 336


def write_photos(folder: Path, count: int) -> None:
    """Write ``count`` windows of `SIDE` pixels at random places, every second one mirrored."""
    from PIL import Image

    photo, rng = np.rint(load_image(samples.path("photo.jpg")) * 255).astype(np.uint8), np.random.default_rng(0)
    for number in range(count):
        y, x = (int(rng.integers(0, side - SIDE + 1)) for side in photo.shape[:2])
        window = photo[y : y + SIDE, x : x + SIDE]
        Image.fromarray(window[:, ::-1] if number % 2 else window).save(folder / f"{number:06}.jpg", quality=88)
