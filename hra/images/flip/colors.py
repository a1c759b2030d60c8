"""The color spaces of FLIP: linear opponents in which the eye's blur acts, and CIELAB, in which colors differ."""

from __future__ import annotations

import numpy as np

from hra.kernels.pyramids.levels.color import to_linear

# Linear sRGB to CIE XYZ (IEC 61966-2-1); white is the D65 that the rows add up to.
_XYZ = np.array(
    [[0.4123908, 0.3575843, 0.1804808], [0.2126390, 0.7151687, 0.0721923], [0.0193308, 0.1191948, 0.9505322]]
)
_RELATIVE_XYZ = _XYZ / _XYZ.sum(axis=1, keepdims=True)
# Relative XYZ to luminance, red-green and blue-yellow of YCxCz, and CIELAB from the cube roots of the same.
_OPPONENTS = np.array([[0, 116, 0], [500, -500, 0], [0, 200, -200]])
_OFFSET = np.array([-16, 0, 0], np.float32)
_TO_OPPONENTS = (_OPPONENTS @ _RELATIVE_XYZ).astype(np.float32)
_FROM_OPPONENTS = np.linalg.inv(_OPPONENTS @ _RELATIVE_XYZ).astype(np.float32)
_DELTA = 6 / 29  # where the cube root of CIELAB gives way to a straight line


def to_opponents(image: np.ndarray) -> np.ndarray:
    """YCxCz of an sRGB image, both float32 [H, W, 3]."""
    return to_linear(image) @ _TO_OPPONENTS.T + _OFFSET


def color_difference(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """HyAB distance [...] of opponents [..., 3] in CIELAB after the Hunt effect.

    Source: S. Abasi, M. Amani Tehran and M. D. Fairchild, "Distance metrics for very large color differences" (2020).
    """
    difference = _hunt_lab(first) - _hunt_lab(second)
    return np.abs(difference[..., 0]) + np.hypot(difference[..., 1], difference[..., 2])


def _hunt_lab(opponents: np.ndarray) -> np.ndarray:
    """CIELAB of what a screen can show of the opponents, with chroma that grows with lightness (Hunt effect)."""
    shown = np.clip((opponents - _OFFSET) @ _FROM_OPPONENTS.T, 0, 1)
    xyz = shown @ _RELATIVE_XYZ.T.astype(np.float32)
    roots = np.where(xyz > _DELTA**3, np.cbrt(xyz), xyz / (3 * _DELTA**2) + np.float32(4 / 29))
    lab = roots @ _OPPONENTS.T.astype(np.float32) + _OFFSET
    lab[..., 1:] *= 0.01 * lab[..., :1]
    return lab


_GREEN_AND_BLUE = to_opponents(np.array([[0, 1, 0], [0, 0, 1]], np.float32))
# No two colors of the screen differ more.
LARGEST_DIFFERENCE = float(color_difference(*_GREEN_AND_BLUE))
