"""Circles around a point of an image, of which only the part inside the image counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.model.arrays import numbers

STEPS = 256  # of a radius, in which densities are integrated


@dataclass(frozen=True, eq=False)
class VisibleArcs:
    """The arcs of circles that lie inside an image, counted through without the gaps between them.

    Attributes
    ----------
    starts, lengths : float64 [R, A], radians from +x towards +y; arcs outside the image have length 0.
    """

    starts: np.ndarray
    lengths: np.ndarray

    @classmethod
    def of(cls, centre: tuple[float, float], radii: np.ndarray, image_size: tuple[int, int]) -> VisibleArcs:
        """The arcs of the circles of ``radii`` [R] > 0 around ``centre`` (x, y) in the image, all in pixels."""
        (x, y), (height, width), radii = centre, image_size, radii[:, None]
        # Where the circles cross the four borders; clipped, a circle that does not reach one is merely cut in two.
        crossing = np.arccos(np.clip(np.array([-x, width - x, -y, height - y]) / radii, -1, 1))
        towards = np.array([0, 0, np.pi / 2, np.pi / 2])
        whole = np.broadcast_to([0, 2 * np.pi], (len(radii), 2))
        turned = np.concatenate([towards + crossing, towards - crossing], axis=1) % (2 * np.pi)
        bounds = np.sort(np.concatenate([whole, turned], axis=1), axis=1)
        middle = (bounds[:, :-1] + bounds[:, 1:]) / 2
        px, py = x + radii * np.cos(middle), y + radii * np.sin(middle)
        inside = (px >= 0) & (px <= width) & (py >= 0) & (py <= height)
        return cls(bounds[:, :-1], np.diff(bounds, axis=1) * inside)

    @property
    def angle(self) -> np.ndarray:
        """Radians of each circle inside the image, float64 [R]."""
        return self.lengths.sum(axis=1)

    def at(self, circle: np.ndarray, fraction: np.ndarray) -> np.ndarray:
        """The angles, radians [K], at the given fractions [0, 1) of the visible angle of the given circles int [K]."""
        starts, lengths = self.starts[circle], self.lengths[circle]
        ends = np.cumsum(lengths, axis=1)
        travelled = (fraction * ends[:, -1])[:, None]
        arc = np.minimum((ends <= travelled).sum(axis=1), ends.shape[1] - 1)[:, None]
        start, end, length = (np.take_along_axis(part, arc, axis=1) for part in (starts, ends, lengths))
        return (start + travelled - (end - length))[:, 0]


def visible_areas(centre: tuple[float, float], edges: np.ndarray, image_size: tuple[int, int]) -> np.ndarray:
    """Square pixels of the image between consecutive radii ``edges`` [R + 1], by their middle circles: float64 [R]."""
    radii = (edges[:-1] + edges[1:]) / 2
    return VisibleArcs.of(centre, radii, image_size).angle * radii * np.diff(edges)


def places(
    centre: tuple[float, float], radii: np.ndarray, angles: np.ndarray, image_size: tuple[int, int]
) -> np.ndarray:
    """Points float64 [K, 2], (x, y), on visible arcs around ``centre``; what rounding moves outside is moved back."""
    points = centre + radii[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return np.clip(points, 0, image_size[::-1])


def farthest_corner(centre: tuple[float, float], image_size: tuple[int, int]) -> float:
    """Distance in pixels from ``centre`` (x, y) to the farthest corner of the image."""
    (x, y), (height, width) = centre, image_size
    return float(np.hypot(max(x, width - x), max(y, height - y)))


def inside_image(point: tuple[float, float], image_size: tuple[int, int]) -> tuple[float, float]:
    """``point`` (x, y), moved into the image if it lies outside: the last patches may reach beyond the border.

    Raises
    ------
    ArrayError : not two finite numbers.
    """
    (x, y), (height, width) = numbers("fixation", point, 2).tolist(), image_size
    return min(max(x, 0.5), width - 0.5), min(max(y, 0.5), height - 0.5)


def cell_scales(area: np.ndarray, image_size: tuple[int, int], patch: int) -> np.ndarray:
    """Spacing of samples, >= 1, of square tokens that each stand for ``area`` [K] square pixels of the image.

    No cell is taller than the image, so in strips it is longer than the root of its area.
    """
    return np.maximum(np.maximum(np.sqrt(area), area / min(image_size)) / patch, 1.0)
