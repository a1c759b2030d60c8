"""Meshes with seams: spheres with texture coordinates, terrains of several materials, facets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from hra.domains import meshes


def grid(columns: int, rows: int) -> np.ndarray:
    """Triangles of a grid of ``columns`` x ``rows`` cells over row-major vertices, int64 [2 * columns * rows, 3]."""
    number = np.arange((columns + 1) * (rows + 1)).reshape(rows + 1, columns + 1)
    a, b, c, d = (n.reshape(-1) for n in (number[:-1, :-1], number[:-1, 1:], number[1:, :-1], number[1:, 1:]))
    return np.concatenate([np.stack([a, b, c], 1), np.stack([b, d, c], 1)])


def globe(columns: int = 48, rows: int = 24, bumps: float = 0.1) -> meshes.TriangleMesh:
    """A closed bumpy sphere with texture coordinates, normals, colours; a seam at longitude 0, wedges at the poles."""
    u, v = np.meshgrid(np.linspace(0, 1, columns + 1), np.linspace(0, 1, rows + 1))
    turn = 2 * np.pi * (np.arange(columns + 1) % columns) / columns  # the last column repeats the first one exactly
    height = np.pi * np.linspace(0, 1, rows + 1)
    ring, axis = np.sin(height), np.cos(height)
    ring[[0, -1]] = 0
    direction = np.stack(
        [np.outer(ring, np.cos(turn)), np.outer(ring, np.sin(turn)), np.outer(axis, np.ones_like(turn))], -1
    )
    normals = direction.reshape(-1, 3).astype(np.float32)
    radius = 1 + bumps * np.sin(normals.astype(np.float64) @ [5, 3, 4]) * np.cos(normals @ [1, 6, 2])
    attributes = meshes.VertexAttributes(
        uv=np.stack([u, v], -1).reshape(-1, 2).astype(np.float32),
        normals=normals,
        colors=np.concatenate([127 + 120 * normals, np.full((len(normals), 1), 255)], 1).astype(np.uint8),
    )
    faces = grid(columns, rows)
    half = columns * rows
    # At the poles one of two triangles is flat. Rows run downwards, so turned around they face outside.
    faces = np.concatenate([faces[columns:half], faces[half : 2 * half - columns]])[:, ::-1]
    used = np.unique(faces)
    return meshes.from_arrays(
        (normals * radius[:, None])[used],
        np.searchsorted(used, faces),
        attributes.take(used),
        warn_duplicates=False,
    )


def terrain(cells: int = 40, materials: int = 3) -> meshes.TriangleMesh:
    """An open height field whose triangles have materials in wavy stripes, vertices doubled at their borders."""
    x, y = (a.reshape(-1) for a in np.meshgrid(np.linspace(0, 1, cells + 1), np.linspace(0, 1, cells + 1)))
    points = np.stack([x, y, 0.1 * np.sin(9 * x) * np.cos(7 * y)], 1)
    faces = grid(cells, cells)
    center = points[faces].mean(axis=1)
    stripe = (materials * (center[:, 0] + 0.1 * np.sin(8 * center[:, 1]))).clip(0, materials - 1).astype(np.int32)
    corners = faces.reshape(-1)  # a vertex for each corner; welding joins those of one material
    attributes = meshes.VertexAttributes(
        material=np.repeat(stripe, 3),
        materials=tuple(
            meshes.Material(f"stripe {n}", base_color=(n / materials, 0.5, 0.5, 1.0)) for n in range(materials)
        ),
    )
    return meshes.from_arrays(
        points[corners], np.arange(len(corners)).reshape(-1, 3), attributes, warn_duplicates=False
    )


def faceted(mesh: meshes.TriangleMesh) -> meshes.TriangleMesh:
    """The same surface with the normal of each triangle at its corners: every edge is a crease."""
    corners = mesh.positions[mesh.triangles].astype(np.float64)
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    attributes = meshes.VertexAttributes(normals=np.repeat(normal, 3, axis=0).astype(np.float32))
    faces = np.arange(corners.shape[0] * 3).reshape(-1, 3)
    return meshes.from_arrays(corners.reshape(-1, 3), faces, attributes, warn_duplicates=False)


def with_attributes(mesh: meshes.TriangleMesh, **arrays: Any) -> meshes.TriangleMesh:
    """The same mesh with other attributes."""
    return replace(mesh, attributes=meshes.VertexAttributes(**arrays))


def carried(mesh: meshes.TriangleMesh | meshes.ClusterMesh) -> Any:
    """The attributes of a mesh that has some."""
    assert mesh.attributes is not None
    return mesh.attributes


def charts(triangles: np.ndarray, vertices: int) -> np.ndarray:
    """The chart of each vertex, int32 [V]: what is connected by shared vertices."""
    ends = triangles.astype(np.int64)
    pairs = np.concatenate([ends[:, [0, 1]], ends[:, [1, 2]]])
    graph = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), (vertices, vertices))
    return connected_components(graph, directed=False)[1]
