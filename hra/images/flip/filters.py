"""The filters of FLIP: the blur of colors at a viewing distance, and detectors of edges and points."""

from __future__ import annotations

import math

import numpy as np

# Contrast sensitivity per channel as sums of Gaussians a sqrt(pi / b) exp(-(pi x)**2 / b), x in degrees.
_SENSITIVITY = (((1.0, 0.0047),), ((1.0, 0.0053),), ((34.1, 0.04), (13.5, 0.025)))
_WIDEST = 0.04
_FEATURE_DEGREES = 0.082  # width of an edge or a point that the eye finds best


def seen_colors(opponents: np.ndarray, pixels_per_degree: float) -> np.ndarray:
    """What the eye resolves of opponent colors, both float32 [H, W, 3]."""
    radius = math.ceil(3 * math.sqrt(_WIDEST / (2 * math.pi**2)) * pixels_per_degree)
    offsets = np.arange(-radius, radius + 1) / pixels_per_degree
    seen = np.empty_like(opponents)
    for channel, gaussians in enumerate(_SENSITIVITY):
        profiles = [np.exp(-((math.pi * offsets) ** 2) / b) for _, b in gaussians]
        sizes = [a * math.sqrt(math.pi / b) * p.sum() ** 2 for (a, b), p in zip(gaussians, profiles, strict=True)]
        parts = zip(sizes, (p / p.sum() for p in profiles), strict=True)
        plane = opponents[..., channel]
        seen[..., channel] = sum(size / sum(sizes) * _filtered(plane, profile, profile) for size, profile in parts)
    return seen


def edges_and_points(luminance: np.ndarray, pixels_per_degree: float) -> np.ndarray:
    """How much of an edge and of a point each pixel [H, W] of YCxCz luminance is: float32 [2, H, W]."""
    deviation = _FEATURE_DEGREES / 2 * pixels_per_degree
    offsets = np.arange(-math.ceil(3 * deviation), math.ceil(3 * deviation) + 1) / deviation
    blur = np.exp(-(offsets**2) / 2)
    edge, point = _balanced(-offsets * blur), _balanced((offsets**2 - 1) * blur)
    plane, blur = (luminance + 16) / 116, blur / blur.sum()
    return np.stack(
        [np.hypot(_filtered(plane, *pair), _filtered(plane, *pair[::-1])) for pair in ((edge, blur), (point, blur))]
    )


def _balanced(profile: np.ndarray) -> np.ndarray:
    """The profile with positive weights that add up to 1 and negative ones that add up to -1."""
    positive, negative = np.maximum(profile, 0), np.minimum(profile, 0)
    return positive / positive.sum() - negative / negative.sum()


def _filtered(plane: np.ndarray, across: np.ndarray, down: np.ndarray) -> np.ndarray:
    """A plane [H, W] correlated with one profile along its rows and one along its columns; borders are repeated."""
    return _down(_down(plane, down).T, across).T


def _down(plane: np.ndarray, profile: np.ndarray) -> np.ndarray:
    radius, height = profile.size // 2, plane.shape[0]
    padded = np.pad(plane, ((radius, radius), (0, 0)), mode="edge")
    result = np.zeros_like(plane)
    for k, weight in enumerate(profile.astype(plane.dtype)):
        result += weight * padded[k : k + height]
    return result
