"""Images that the token tests share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

ImageFactory = Callable[..., np.ndarray]


@pytest.fixture(scope="session")
def smooth_noise() -> ImageFactory:
    """(height, width, seed) -> float32 [H, W, 3] in [0, 1] with detail at every scale, like a photo."""

    def make(height: int, width: int, seed: int = 0) -> np.ndarray:
        generator = np.random.default_rng(seed)
        image = np.zeros((height, width, 3))
        for size in (1, 3, 9, 27, 81):
            coarse = generator.random((-(-height // size), -(-width // size), 3))
            image += size * coarse.repeat(size, axis=0).repeat(size, axis=1)[:height, :width]
        image -= image.min()
        return (image / max(image.max(), 1)).astype(np.float32)

    return make


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    """A file of noise, 80 x 112 pixels."""
    pixels = np.random.default_rng(0).integers(0, 256, (80, 112, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "noise.png")
    return tmp_path / "noise.png"
