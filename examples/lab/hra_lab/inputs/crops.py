"""Crops of the shipped images."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hra import samples
from hra.files.images import load_image

_IMAGES = ("photo.jpg", "page.png", "earth.jpg")
_SEED = 0


def crops(count: int, side: int) -> Iterator[tuple[str, np.ndarray]]:
    """``count`` squares [side, side, 3] of the images in turn, at places that are always the same, with their names."""
    images = {name: load_image(samples.path(name)) for name in _IMAGES}
    rng = np.random.default_rng(_SEED)
    for i in range(count):
        name = _IMAGES[i % len(_IMAGES)]
        image = images[name]
        y, x = (int(rng.integers(extent - side + 1)) for extent in image.shape[:2])
        yield f"{name} {x},{y}", np.ascontiguousarray(image[y : y + side, x : x + side])
