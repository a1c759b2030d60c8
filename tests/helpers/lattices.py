"""Surfaces that no manifold is."""

from __future__ import annotations

import numpy as np


def lattice(cells: int) -> tuple[np.ndarray, np.ndarray]:
    """All faces of a grid of cubes, four in every edge inside, three on its faces: points [V, 3], triangles [F, 3]."""
    number = np.arange((cells + 1) ** 3).reshape((cells + 1,) * 3)
    faces = []
    for axis in range(3):
        n = np.moveaxis(number, axis, 0)
        a, b, c, d = (part.reshape(-1) for part in (n[:, :-1, :-1], n[:, 1:, :-1], n[:, 1:, 1:], n[:, :-1, 1:]))
        faces += [np.stack([a, b, c], 1), np.stack([a, c, d], 1)]
    points = np.stack(np.meshgrid(*[np.arange(cells + 1.0)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    return points, np.concatenate(faces)
