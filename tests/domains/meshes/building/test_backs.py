"""Surfaces that are there twice are simplified like those that are there once."""

from __future__ import annotations

import numpy as np
import pytest

from hra.domains import meshes
from hra.domains.meshes.building.backs import without_backs
from hra.domains.meshes.building.geometry import Geometry
from tests.domains.meshes.building.test_parts import crown


def sheet(side: int = 65) -> tuple[np.ndarray, np.ndarray]:
    row, column = np.divmod(np.arange(side * side), side)
    x, z = column / (side - 1), row / (side - 1)
    corner = (np.arange(side - 1)[:, None] * side + np.arange(side - 1)).reshape(-1)
    triangles = (corner[:, None, None] + np.array([[0, side, 1], [1, side, side + 1]])).reshape(-1, 3)
    return np.column_stack([x, np.sin(5 * x) * np.cos(4 * z) / 5, z]).astype(np.float32), triangles.astype(np.uint32)


def twice(kind: str) -> meshes.TriangleMesh:
    """A sheet and its back: of the same vertices, or of some that differ in their normals or materials."""
    positions, triangles = sheet()
    count = len(positions)
    if kind == "bare":
        return meshes.TriangleMesh(positions, np.concatenate([triangles, triangles[:, ::-1]]))
    triangles = np.concatenate([triangles, triangles[:, ::-1] + np.uint32(count)])
    if kind in ("normals", "any normals"):
        normals = np.repeat(np.array([[0, 1, 0], [0, -1, 0]], np.float32), count, axis=0)
        if kind == "any normals":
            normals = np.random.default_rng(0).normal(size=normals.shape).astype(np.float32)
            normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        carried = meshes.VertexAttributes(normals=normals)
    else:
        sides = (meshes.Material("front"), meshes.Material("back", base_color=(1.0, 0.0, 0.0, 1.0)))
        carried = meshes.VertexAttributes(material=np.repeat([0, 1], count).astype(np.int32), materials=sides)
    return meshes.TriangleMesh(np.concatenate([positions] * 2), triangles, carried)


@pytest.mark.parametrize("kind", ["bare", "normals", "materials"])
def test_two_sheets_have_the_bounds_of_one(kind: str) -> None:
    mesh = twice(kind)
    built = meshes.build(mesh)
    assert built.triangle_count == len(mesh.triangles)
    alone = meshes.lod_chain(meshes.from_arrays(*sheet()), [0.25, 0.05])
    chain = meshes.lod_chain(built, [0.25, 0.05])
    assert chain.triangles == tuple(2 * count for count in alone.triangles)
    assert (chain.errors <= 1.05 * alone.errors).all()
    assert meshes.check(built, cuts=20, samples=300).sound


@pytest.mark.parametrize("kind", ["bare", "normals", "any normals", "materials"])
def test_no_cut_has_one_side_without_the_other(kind: str) -> None:
    built = meshes.build(twice(kind))
    for share in (0.4, 0.07):
        level = meshes.lod_chain(built, [share]).levels[0]
        places = level.position_of[level.triangles]
        turned = np.stack([np.roll(places, -k, axis=1) for k in range(3)])
        least = np.argmin(places, axis=1)
        begun = turned[least, np.arange(len(places))]
        ways = {tuple(row) for row in begun.tolist()}
        assert {(a, c, b) for a, b, c in ways} == ways


def test_areas_of_both_add_up() -> None:
    built = meshes.build(twice("bare"))
    area = built.hierarchy.attribute("area")
    whole, base = (area[found].sum() for found in (built.hierarchy.removed_by < 0, built.hierarchy.added_by < 0))
    assert base == pytest.approx(whole)
    positions, triangles = sheet()
    corners = positions[triangles].astype(np.float64)
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert whole == pytest.approx(np.linalg.norm(across, axis=1).sum())


def test_what_is_there_once_stays() -> None:
    positions, triangles = sheet()
    geometry = Geometry.of(positions)
    assert without_backs(geometry, triangles)[1] is None
    partly = np.concatenate([triangles, triangles[:10, ::-1]])
    found, back = without_backs(geometry, partly)
    assert back is None and np.array_equal(found, partly)
    threefold = np.concatenate([triangles, triangles[:, ::-1], triangles])
    assert without_backs(geometry, threefold)[1] is None


def test_leaves_with_backs_of_their_own_grow_on_both_sides() -> None:
    positions, triangles = crown(2000, 0.05)
    count = len(positions)
    normals = np.repeat(np.array([[0, 0, 1], [0, 0, -1]], np.float32), count, axis=0)
    both = np.concatenate([triangles, triangles[:, ::-1] + np.uint32(count)])
    mesh = meshes.TriangleMesh(np.concatenate([positions] * 2), both, meshes.VertexAttributes(normals=normals))
    level = meshes.lod_chain(mesh, [0.1]).levels[0]
    assert level.attributes is not None and level.attributes.normals is not None
    up = level.attributes.normals[level.triangles[:, 0], 2] > 0
    assert up.sum() == len(up) / 2 and len(up) <= 0.1 * len(both)
    areas = []
    for points, chosen in ((positions, triangles), (level.positions, level.triangles[up])):
        corners = points[chosen].astype(np.float64)
        across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        areas.append(np.linalg.norm(across, axis=1).sum())
    assert areas[1] / areas[0] == pytest.approx(1, abs=0.02)
