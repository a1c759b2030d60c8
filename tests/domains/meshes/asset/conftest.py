"""Meshes in files: a small one for damage, one of several pages, one with all attributes."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from hra.domains import meshes
from hra.domains.meshes.mesh.attributes import VertexAttributes
from hra.domains.meshes.mesh.materials import Material


def png(size: int) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (size, size), (200, 30, 60)).save(stream, "PNG")
    return stream.getvalue()


@pytest.fixture(scope="session")
def dressed(make_grid) -> meshes.ClusterMesh:
    """An open sheet with texture coordinates, normals, colours and two materials, one of them with an image."""
    sheet = make_grid(24, height=0.1)
    points = sheet.positions
    half = (points[sheet.triangles].mean(axis=1)[:, 0] > 0.5).astype(np.int32)
    # A border between materials doubles its vertices.
    corners = sheet.triangles.astype(np.int64) + len(points) * half[:, None]
    used, triangles = np.unique(corners, return_inverse=True)
    positions, material = points[used % len(points)], (used // len(points)).astype(np.int32)
    normals = np.tile(np.array([0, 0, 1], np.float32), (len(used), 1))
    colors = np.column_stack([np.arange(len(used)) % 256, *[np.full(len(used), v) for v in (9, 40, 255)]])
    attributes = VertexAttributes(
        uv=np.ascontiguousarray(positions[:, :2]),
        normals=normals,
        colors=colors.astype(np.uint8),
        material=material,
        materials=(Material("rot", (1.0, 0.0, 0.0, 1.0)), Material("Wäsche", image=png(3), alpha_mode="MASK")),
    )
    return meshes.build(meshes.TriangleMesh(positions, triangles.reshape(-1, 3).astype(np.uint32), attributes))


@pytest.fixture(scope="session")
def tiny(make_closed) -> meshes.ClusterMesh:
    return meshes.build(make_closed(2), cluster_size=16)


@pytest.fixture(scope="session")
def tiny_file(tiny: meshes.ClusterMesh, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tiny") / "tiny.hra"
    tiny.save(path)
    return path


@pytest.fixture(scope="session")
def skull_file(skull_clusters: meshes.ClusterMesh, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("skull") / "skull.hra"
    skull_clusters.save(path)
    return path


@pytest.fixture(scope="session")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("damaged") / "damaged.hra"


@pytest.fixture(scope="session")
def dressed_file(dressed: meshes.ClusterMesh, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("dressed") / "dressed.hra"
    dressed.save(path)
    return path


def same(a: meshes.ClusterMesh, b: meshes.ClusterMesh) -> None:
    """Fail unless two meshes are equal in everything that counts."""
    for name in ("positions", "indices", "offsets"):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name
        assert getattr(a, name).dtype == getattr(b, name).dtype
    for name in ("node_cost", "added_by", "removed_by", "cost", "edges"):
        assert np.array_equal(getattr(a.hierarchy, name), getattr(b.hierarchy, name)), name
    assert set(a.hierarchy.node) == set(b.hierarchy.node)
    for name, values in a.hierarchy.node.items():
        assert np.array_equal(values, b.hierarchy.node[name]), name
        assert values.dtype == b.hierarchy.node[name].dtype
    assert (a.attributes is None) == (b.attributes is None)
    if a.attributes is not None and b.attributes is not None:
        assert a.attributes.names == b.attributes.names
        assert np.array_equal(a.attributes.rows, b.attributes.rows)
        assert a.attributes.materials == b.attributes.materials
    assert a.report == b.report


@pytest.fixture(scope="session")
def assert_same():
    return same
