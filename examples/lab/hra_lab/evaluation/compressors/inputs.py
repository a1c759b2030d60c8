"""Pictures of the samples, one part to train on and another to judge by, and features of their patches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra import samples
from hra.domains import tokens
from hra.files.images import load_image

PATCH = 16
# Rows and columns of pixels: what is trained on and what is judged share no pixel.
_PARTS = {
    "photo.jpg": ([(0, 1024, 0, 1024)], (0, 1024, 1024, 2048)),
    "earth.jpg": ([(512, 1536, 0, 1024), (512, 1536, 1024, 2048)], (512, 1536, 2048, 3072)),
    "page.png": ([(0, 704, 0, 1024)], (730, 1754, 0, 1024)),
}


@dataclass(frozen=True, eq=False)
class Pictures:
    """Images float32 [H, W, 3], sides multiples of 64 pixels.

    Attributes
    ----------
    train : without names.
    judged : by the name of the sample.
    """

    train: list[np.ndarray]
    judged: dict[str, np.ndarray]

    @classmethod
    def of_samples(cls, side: int) -> Pictures:
        """The first ``side`` pixels of the parts of each sample, fewer where there are fewer."""
        train: list[np.ndarray] = []
        judged: dict[str, np.ndarray] = {}
        for name, (parts, last) in _PARTS.items():
            image = load_image(samples.path(name))
            train += [_cut(image, part, side) for part in parts]
            judged[name] = _cut(image, last, side)
        return cls(train, judged)


def encoder(width: int):
    """Image -> features [rows, columns, width] of its patches: their pixels, projected. Weights there are none."""

    def encode(image: np.ndarray) -> np.ndarray:
        rows, columns = image.shape[0] // PATCH, image.shape[1] // PATCH
        patches = image.reshape(rows, PATCH, columns, PATCH, 3).swapaxes(1, 2).reshape(rows, columns, -1)
        return tokens.project(patches - np.float32(0.5), width)

    return encode


def _cut(image: np.ndarray, part: tuple[int, int, int, int], side: int) -> np.ndarray:
    top, bottom, left, right = part
    return np.ascontiguousarray(image[top : min(bottom, top + side), left : min(right, left + side)])
