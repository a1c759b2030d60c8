"""Bounding volumes as they stand in tilesets: boxes, spheres and regions, moved by transforms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hra.errors import FileError

# WGS 84, which regions are given in.
_EQUATOR, _FLATTENING = 6378137.0, 1 / 298.257223563

Volume = tuple[np.ndarray, np.ndarray, float]
"""Centre [3], half axes [3, 3] and radius."""


def volume_of(record: Any, transform: np.ndarray, where: str) -> Volume:
    """The volume ``record`` in the frame of the tileset.

    Parameters
    ----------
    transform : float64 [4, 4], column vectors.

    Raises
    ------
    FileError : no such volume.
    """
    kind = next((kind for kind in ("box", "sphere", "region") if isinstance(record, dict) and kind in record), None)
    size = {"box": 12, "sphere": 4, "region": 6, None: 0}[kind]
    values = np.array(record[kind] if kind else [], dtype=object)
    if not size or values.shape != (size,) or not all(isinstance(v, (int, float)) and math.isfinite(v) for v in values):
        fix = "a tile has a box of 12, a sphere of 4 or a region of 6 numbers"
        raise FileError("a tile has no bounding volume that is known", where=where, fix=fix)
    numbers = values.astype(np.float64)
    if kind == "region":
        return _region(numbers)
    center = transform[:3, :3] @ numbers[:3] + transform[:3, 3]
    if kind == "box":
        return center, numbers[3:].reshape(3, 3) @ transform[:3, :3].T, 0.0
    return center, np.zeros((3, 3)), float(numbers[3]) * scale_of(transform)


def scale_of(transform: np.ndarray) -> float:
    """How much a transform lengthens at most along its axes: what geometric errors grow by."""
    return float(np.linalg.norm(transform[:3, :3], axis=0).max())


def _region(numbers: np.ndarray) -> Volume:
    """A box along the earth's axes around a region, which transforms do not move."""
    west, south, east, north, low, high = numbers.tolist()
    east += 2 * math.pi if east < west else 0.0
    steps = np.linspace(0, 1, 17)
    longitude, latitude = np.meshgrid(west + (east - west) * steps, south + (north - south) * steps)
    points = np.concatenate([_earth_centred(longitude, latitude, height) for height in (low, high)])
    # Between two samples the surface bulges beyond their chord by no more than this.
    angle = max(east - west, north - south) / (steps.size - 1)
    bulge = (_EQUATOR + max(high, 0.0)) * (1 - math.cos(min(angle, math.pi) / 2)) * 2
    lowest, highest = points.min(axis=0) - bulge, points.max(axis=0) + bulge
    return (lowest + highest) / 2, np.diag((highest - lowest) / 2), 0.0


def _earth_centred(longitude: np.ndarray, latitude: np.ndarray, height: float) -> np.ndarray:
    squared = _FLATTENING * (2 - _FLATTENING)
    normal = _EQUATOR / np.sqrt(1 - squared * np.sin(latitude) ** 2)
    across = (normal + height) * np.cos(latitude)
    up = (normal * (1 - squared) + height) * np.sin(latitude)
    return np.stack([across * np.cos(longitude), across * np.sin(longitude), up], axis=-1).reshape(-1, 3)
