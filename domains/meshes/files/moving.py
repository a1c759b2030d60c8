"""Parsed meshes in other coordinates, once or in many places."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hra.domains.meshes.files.parsed import Parsed
from hra.domains.meshes.mesh.attributes import VertexAttributes


def moved(part: Parsed, matrices: np.ndarray) -> Parsed:
    """Copies of a part in the coordinates that ``matrices`` [n, 4, 4] lead to, one after the other.

    Mirrored copies are turned outside out again.
    """
    if np.array_equal(matrices, np.eye(4)[None]):
        return part
    count, copies = len(part.positions), len(matrices)
    linear = matrices[:, :3, :3]
    with np.errstate(over="ignore", invalid="ignore"):  # refused later, when positions are checked
        positions = _products(part.positions, linear) + matrices[:, None, :3, 3]
        mirrored = np.linalg.det(linear) < 0
    triangles = np.where(mirrored[:, None, None], part.triangles[:, ::-1], part.triangles)
    triangles = triangles + (count * np.arange(copies))[:, None, None]
    carried = None if part.attributes is None else _moved_attributes(part.attributes, linear)
    return Parsed(positions.reshape(-1, 3), triangles.reshape(-1, 3), carried)


def _moved_attributes(attributes: VertexAttributes, linear: np.ndarray) -> VertexAttributes:
    turned = {}
    if attributes.normals is not None:
        turned["normals"] = _moved_normals(attributes.normals, linear).reshape(-1, 3)
    if attributes.tangents is not None:
        turned["tangents"] = _moved_tangents(attributes.tangents, linear).reshape(-1, 4)
    return replace(attributes.take(np.tile(np.arange(len(attributes)), len(linear))), **turned)


def _products(rows: np.ndarray, matrices: np.ndarray) -> np.ndarray:
    """Each of ``rows`` [V, 3] times each of ``matrices`` [n, 3, 3] transposed, float64 [n, V, 3].

    Column by column, because a matrix product may round equal rows differently, and seams would open.
    """
    x, y, z = rows.astype(np.float64).T[:, :, None]
    a, b, c = np.moveaxis(matrices, 2, 0)[:, :, None]
    return x * a + y * b + z * c


def _moved_normals(normals: np.ndarray, linear: np.ndarray) -> np.ndarray:
    """Normals turn by the inverse transpose, here as cofactors, which exist for flattening matrices too."""
    largest = np.abs(linear).max(axis=(1, 2), keepdims=True)
    linear = linear / np.where(largest > 0, largest, 1.0)
    a, b, c = np.moveaxis(linear, 1, 0)
    cofactors = np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)], axis=1)
    sign = np.sign(np.linalg.det(linear))
    return _unit(_products(normals, cofactors * np.where(sign == 0, 1.0, sign)[:, None, None]))


def _moved_tangents(tangents: np.ndarray, linear: np.ndarray) -> np.ndarray:
    """Tangents lie in the surface and move with it; mirrored ones have their bitangent on the other side."""
    signs = np.where(np.linalg.det(linear) < 0, -1, 1)[:, None] * tangents[:, 3]
    return np.concatenate([_unit(_products(tangents[:, :3], linear)), signs[..., None]], axis=2, dtype=np.float32)


def _unit(rows: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(rows, axis=2, keepdims=True)
    return np.divide(rows, length, out=np.zeros_like(rows), where=length > 0).astype(np.float32)
