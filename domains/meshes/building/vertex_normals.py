"""Normals of the surface for vertices that have none."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from hra.domains.meshes.mesh.attributes import VertexAttributes
from hra.model.arrays import group

if TYPE_CHECKING:
    from hra.domains.meshes.mesh.triangle_mesh import TriangleMesh


def completed_normals(mesh: TriangleMesh) -> np.ndarray:
    """The mesh's normals with those of length 0 replaced, of unit length, float32 [V, 3].

    A vertex without a normal gets the mean of its triangles' normals by area, or the z axis if they have none.
    """
    given = mesh.attributes.normals if mesh.attributes is not None else None
    normals = np.zeros((len(mesh.positions), 3), np.float32) if given is None else given
    given_one = np.any(normals, axis=1, keepdims=True)
    return normals if given_one.all() else np.where(given_one, normals, surface_normals(mesh))


def surface_normals(mesh: TriangleMesh) -> np.ndarray:
    """The mean of the triangles' normals at each vertex by area, float32 [V, 3]; the z axis where they cancel."""
    corners = mesh.positions[mesh.triangles].astype(np.float64)
    weighted = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    count = len(mesh.positions)
    total = np.stack(
        [np.bincount(mesh.triangles.reshape(-1), np.repeat(weighted[:, axis], 3), count) for axis in range(3)], axis=1
    )
    length = np.linalg.norm(total, axis=1, keepdims=True)
    up = np.broadcast_to([0.0, 0.0, 1.0], total.shape)
    return np.divide(total, length, out=up.copy(), where=length > 0).astype(np.float32)


# Faces that bend by more meet at an edge that looks sharp.
_CREASE_DEGREES = 75.0
# What has no more than this share of the area around a vertex does not.
_SLIVER = 0.05


def with_normals(mesh: TriangleMesh) -> TriangleMesh:
    """The mesh with normals, which programs need to shade it smoothly; one that has normals stays as it is.

    A corner gets the mean by area of the triangles at its position that bend away from its own by less than 75 degrees,
    so that edges stay sharp; there vertices are doubled.
    """
    carried = mesh.attributes
    if carried is not None and carried.normals is not None:
        return mesh
    vertices = mesh.triangles.reshape(-1)
    normals, bent = _corner_normals(mesh)
    number, first = _split(vertices, normals, bent)
    kept = vertices[first]
    attributes = VertexAttributes(normals=normals[first]) if carried is None else carried.take(kept)
    attributes = replace(attributes, normals=normals[first])
    return type(mesh)(mesh.positions[kept], number.reshape(-1, 3).astype(np.uint32), attributes)


def _split(vertices: np.ndarray, normals: np.ndarray, bent: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """New vertex of each corner [3 F] and a corner of each new vertex: one for each normal of an old one.

    Only corners that are ``bent`` bool [3 F] may differ from others of their vertex.
    """
    smooth, edges = np.flatnonzero(~bent), np.flatnonzero(bent)
    number = np.empty(vertices.size, np.int64)
    _, first, number[smooth] = np.unique(vertices[smooth], return_index=True, return_inverse=True)
    # Normals by their bits: only equal ones share a vertex.
    rows = np.column_stack([vertices[edges], normals[edges].view(np.uint32)])
    _, sharp, of_edge = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    number[edges] = of_edge.reshape(-1) + first.size
    return number, np.concatenate([smooth[first], edges[sharp]])


def _corner_normals(mesh: TriangleMesh) -> tuple[np.ndarray, np.ndarray]:
    """The normal of each corner, of unit length, float32 [3 F, 3], and whether it is at an edge, bool [3 F]."""
    points = mesh.positions[mesh.triangles].astype(np.float64)
    # Cross products are as long as twice the area: their sums are means by area.
    weighted = np.repeat(np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0]), 3, axis=0)
    position, count = mesh.position_of[mesh.triangles].reshape(-1), len(mesh.positions)
    own, area = _unit(weighted), np.linalg.norm(weighted, axis=1)
    total = _sums(weighted, position, count)[position]
    # Slivers that simplification leaves stand at odd angles, and show no edge.
    large = area > _SLIVER * np.bincount(position, area, count)[position]
    # Where all triangles are near their mean, none of them bends away from another.
    bends = (own * _unit(total)).sum(axis=1) < np.cos(np.radians(_CREASE_DEGREES / 2))
    edge = np.zeros(count, np.bool_)
    edge[position[bends & large]] = True
    corners = np.flatnonzero(edge[position] & large)
    total[corners] = _sums_within(weighted[corners], own[corners], position[corners])
    normals = _unit(total)
    normals[~normals.any(axis=1)] = (0.0, 0.0, 1.0)
    return normals.astype(np.float32), edge[position]


def _sums_within(weighted: np.ndarray, own: np.ndarray, position: np.ndarray) -> np.ndarray:
    """For each corner the sum over those at its position that do not bend away from it."""
    _, place = np.unique(position, return_inverse=True)
    offsets, order = group(place, int(place.max(initial=-1)) + 1)
    count = np.diff(offsets)[place]
    # All pairs of corners at one position: each corner as often as there are corners, and these by turns.
    one = np.repeat(np.arange(place.size), count)
    within = np.arange(one.size) - np.repeat(np.cumsum(count) - count, count)
    other = order[offsets[place[one]] + within]
    near = (own[one] * own[other]).sum(axis=1) >= np.cos(np.radians(_CREASE_DEGREES))
    return _sums(weighted[other[near]], one[near], place.size)


def _sums(values: np.ndarray, number: np.ndarray, count: int) -> np.ndarray:
    return np.stack([np.bincount(number, values[:, axis], count) for axis in range(3)], axis=1)


def _unit(vectors: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)
