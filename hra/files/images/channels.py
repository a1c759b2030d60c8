"""Channels of an image: luma, alpha over white, and whole numbers as [0, 1]."""

from __future__ import annotations

import numpy as np

# Rec. 601, the grey of JPEG and of Pillow's mode L, applied to the encoded values as they do.
LUMA = np.array([0.299, 0.587, 0.114], np.float32)


def over_white(samples: np.ndarray) -> np.ndarray:
    """Samples [H, W, 2 or 4] with straight alpha in the last channel, laid over white: [H, W, 1 or 3].

    The encoded values are mixed, as browsers and image editors do.
    """
    alpha = samples[..., -1:]
    return samples[..., :-1] * alpha + (1 - alpha)  # exact where alpha is 1


def luma(samples: np.ndarray) -> np.ndarray:
    """Grey [H, W, 1] of samples [H, W, 3]; the luma of the encoded values."""
    return np.minimum(samples @ LUMA, 1)[..., None]


def unit_range(values: np.ndarray) -> np.ndarray:
    """uint8 or uint16 values as float32 in [0, 1]."""
    return np.divide(values, np.float32(np.iinfo(values.dtype).max), dtype=np.float32)
