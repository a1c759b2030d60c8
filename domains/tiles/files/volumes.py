"""Bounding volumes of tiles: boxes, spheres and regions of the earth, in the frame of the tileset."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hra.domains.tiles.tileset import EQUATOR, FLATTENING
from hra.errors import FileError

_SQUARED = FLATTENING * (2 - FLATTENING)
# The least radius of curvature of a meridian: above its negative, points higher up are farther out.
_LOWEST = -EQUATOR * (1 - _SQUARED)
_POLE = math.pi / 2
# Of angles: exporters write pi with few digits.
_ROUNDING = 1e-4
Volume = tuple[np.ndarray, np.ndarray, float]
"""Centre [3], half axes [3, 3] and radius."""


def volume_of(record: Any, transform: np.ndarray, where: str) -> Volume:
    """The volume ``record`` in the frame of the tileset.

    Parameters
    ----------
    transform : float64 [4, 4], column vectors.

    Raises
    ------
    FileError : no such volume, or a region that is not on the earth.
    """
    kind = next((kind for kind in ("box", "sphere", "region") if isinstance(record, dict) and kind in record), None)
    size = {"box": 12, "sphere": 4, "region": 6, None: 0}[kind]
    values = np.array(record[kind] if kind else [], dtype=object)
    if not size or values.shape != (size,) or not all(isinstance(v, (int, float)) and math.isfinite(v) for v in values):
        fix = "a tile has a box of 12, a sphere of 4 or a region of 6 numbers"
        raise FileError("a tile has no bounding volume that is known", where=where, fix=fix)
    numbers = values.astype(np.float64)
    if kind == "region":
        return _region(numbers, where)
    center = transform[:3, :3] @ numbers[:3] + transform[:3, 3]
    if kind == "sphere" and numbers[3] < 0:
        raise FileError(f"a sphere of a negative radius, {numbers[3]:g}", where=where, fix="export the tileset again")
    if kind == "box":
        return center, numbers[3:].reshape(3, 3) @ transform[:3, :3].T, 0.0
    return center, np.zeros((3, 3)), float(numbers[3]) * scale_of(transform)


def scale_of(transform: np.ndarray) -> float:
    """How much a transform lengthens at most along its axes: what geometric errors grow by."""
    return float(np.linalg.norm(transform[:3, :3], axis=0).max())


def width_of(west: float, east: float) -> float:
    """How far it is from a meridian eastward to another, radians: a region may lie across the date line."""
    return east - west + (2 * math.pi if east < west else 0.0)


def _region(numbers: np.ndarray, where: str) -> Volume:
    """The smallest box along east, north and up at the middle of a region; transforms do not move regions.

    Both halves of a region beside its middle meridian are alike. In the plane of that meridian, height and the cosine
    of the longitude from it move a point along straight lines, so that only their ends count; along the latitude a
    direction is farthest out where the surface faces it. Thus the farthest points are known exactly.
    """
    west, east = float(numbers[0]), float(numbers[2])
    # Between its ends a region is the same whichever of them is named first; only longitudes have a direction.
    (south, north), (low, high) = sorted(numbers[[1, 3]].tolist()), sorted(numbers[4:].tolist())
    width = width_of(west, east)
    if max(-south, north) > _POLE + _ROUNDING or not 0 <= width <= 2 * math.pi + _ROUNDING:
        fix = "give regions in radians: west, south, east, north"
        raise FileError("a region reaches beyond a pole or a full turn", where=where, fix=fix)
    if low < _LOWEST:
        fix = f"give heights above the ellipsoid in metres, above {_LOWEST:,.0f}"
        raise FileError(f"a region reaches down to {low:,.0f} metres", where=where, fix=fix)
    south, north = max(south, -_POLE), min(north, _POLE)
    side, middle = min(width / 2, math.pi), (south + north) / 2
    nearest = min(max(south, 0.0), north)
    half_east = float(_meridian(nearest, high)[0]) * math.sin(min(side, _POLE))
    axes = np.array([[-math.sin(middle), math.cos(middle)], [math.cos(middle), math.sin(middle)]])
    ends = [_ends(axis, math.cos(side), (south, north), (low, high)) for axis in axes]
    centers, halves = [sum(pair) / 2 for pair in ends], [half_east, *((most - least) / 2 for least, most in ends)]
    turn = west + width / 2
    across = np.array([math.cos(turn), math.sin(turn), 0.0])
    # East, north and up: the plane's axes are away from the earth's axis, and along it.
    frame = [np.array([-math.sin(turn), math.cos(turn), 0.0])]
    frame += [axis[0] * across + axis[1] * np.array([0.0, 0.0, 1.0]) for axis in axes]
    return centers[0] * frame[1] + centers[1] * frame[2], np.array(halves)[:, None] * np.array(frame), 0.0


def _ends(
    axis: np.ndarray, cosine: float, latitudes: tuple[float, float], heights: tuple[float, float]
) -> tuple[float, float]:
    """How far a region reaches along an ``axis`` [2] in the plane of its middle meridian, least and most, metres.

    Parameters
    ----------
    cosine : of the longitude between the middle and the sides.
    """
    found = []
    for turned in (1.0, cosine):
        facing = math.atan2(axis[1], axis[0] * turned)
        # The same direction from the other side: one of both may be among the latitudes.
        facings = (facing, facing - math.pi if facing > 0 else facing + math.pi)
        for latitude in (*latitudes, *(at for at in facings if latitudes[0] < at < latitudes[1])):
            found += [float(axis @ (_meridian(latitude, height) * (turned, 1.0))) for height in heights]
    return min(found), max(found)


def _meridian(latitude: float, height: float) -> np.ndarray:
    """A point of a meridian: how far from the earth's axis and along it, float64 [2], metres."""
    normal = EQUATOR / math.sqrt(1 - _SQUARED * math.sin(latitude) ** 2)
    across = (normal + height) * max(math.cos(latitude), 0.0)
    return np.array([across, (normal * (1 - _SQUARED) + height) * math.sin(latitude)])
