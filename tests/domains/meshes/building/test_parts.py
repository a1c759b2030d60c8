"""Many small parts: a crown of leaves keeps what is seen of it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from hra.compiling import njit
from hra.domains import meshes
from hra.domains.meshes.building.geometry import Geometry
from hra.domains.meshes.building.parts import Parts, with_parts
from tests.helpers.seamed_meshes import grid

LEAF = np.array([[-1, 0, 0], [0, 0.45, 0.15], [0, 0, 0], [0, -0.45, 0.15], [1, 0, 0]])
SIDES = np.array([[0, 2, 1], [0, 3, 2], [2, 4, 1], [2, 3, 4]])
DIRECTIONS = [d for d in itertools.product((-1, 0, 1), repeat=3) if any(d)]


def crown(count: int, size: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Bent leaves of four triangles in a ball of radius 1."""
    rng = np.random.default_rng(seed)
    middle = rng.normal(size=(count, 3))
    middle *= rng.random((count, 1)) ** (1 / 3) / np.linalg.norm(middle, axis=1, keepdims=True)
    turn, _ = np.linalg.qr(rng.normal(size=(count, 3, 3)))
    scale = size * rng.uniform(0.7, 1.3, (count, 1, 1))
    points = middle[:, None] + np.einsum("nij,pj->npi", turn, LEAF) * scale
    triangles = SIDES + len(LEAF) * np.arange(count)[:, None, None]
    return points.reshape(-1, 3).astype(np.float32), triangles.reshape(-1, 3).astype(np.uint32)


def area(positions: np.ndarray, triangles: np.ndarray) -> float:
    corners = positions[triangles].astype(np.float64)
    return float(np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1).sum())


def seen(mesh: meshes.TriangleMesh, side: int = 512) -> np.ndarray:
    """Pixels whose middle the surface covers from 26 directions, by parallel rays."""
    counts = []
    for direction in np.array(DIRECTIONS, float):
        axis = direction / np.linalg.norm(direction)
        right = np.cross(axis, (0.3, 0.5, 0.8))
        right /= np.linalg.norm(right)
        flat = mesh.positions @ np.stack([right, np.cross(axis, right)], axis=1)
        covered = np.zeros((side, side), np.bool_)
        cover((flat / 2.6 + 0.5)[mesh.triangles] * side, covered)
        counts.append(int(covered.sum()))
    return np.array(counts)


@njit(cache=True)
def cover(corners, covered):
    for t in range(len(corners)):
        (ax, ay), (bx, by), (cx, cy) = corners[t, 0], corners[t, 1], corners[t, 2]
        turn = 1.0 if (bx - ax) * (cy - ay) > (by - ay) * (cx - ax) else -1.0
        for i in range(int(min(ax, bx, cx)), int(max(ax, bx, cx)) + 1):
            for j in range(int(min(ay, by, cy)), int(max(ay, by, cy)) + 1):
                x, y = i + 0.5, j + 0.5
                if (
                    ((bx - ax) * (y - ay) - (by - ay) * (x - ax)) * turn >= 0
                    and ((cx - bx) * (y - by) - (cy - by) * (x - bx)) * turn >= 0
                    and ((ax - cx) * (y - cy) - (ay - cy) * (x - cx)) * turn >= 0
                ):
                    covered[i, j] = True


@pytest.fixture(scope="module")
def leaves() -> tuple[meshes.TriangleMesh, meshes.ClusterMesh]:
    mesh = meshes.from_arrays(*crown(4000, 0.05))
    return mesh, meshes.build(mesh)


def test_a_crown_keeps_what_is_seen_of_it_and_its_extent(leaves):
    mesh, built = leaves
    before, extent = seen(mesh), np.ptp(mesh.positions, axis=0)
    for level in meshes.lod_chain(built, [0.25, 0.1, 0.05]).levels:
        assert area(level.positions, level.triangles) / area(mesh.positions, mesh.triangles) == pytest.approx(
            1.0, abs=0.02
        )
        assert (seen(level) / before).min() > 0.9
        assert np.ptp(level.positions, axis=0) / extent == pytest.approx(np.ones(3), abs=0.05)


def test_its_hierarchy_is_sound(leaves):
    _, built = leaves
    report = meshes.check(built, cuts=40, samples=500)
    assert report.sound and report.measured_cuts


def test_no_leaf_is_drawn_in_part(leaves):
    _, built = leaves
    rng = np.random.default_rng(1)
    for count in rng.integers(built.root_triangle_count, built.triangle_count, 5).tolist():
        level = meshes.lod_chain(built, [count]).levels[0]
        one = meshes.from_arrays(LEAF, SIDES)
        _, sizes = np.unique(_labels(level), return_counts=True)
        assert set(sizes.tolist()) <= {2, 3, len(one.triangles)}


def _labels(mesh: meshes.TriangleMesh) -> np.ndarray:
    """The least vertex that each triangle is connected with."""
    label = np.arange(len(mesh.positions))
    while True:
        least = label[mesh.triangles].min(axis=1)
        after = label.copy()
        for corner in range(3):
            np.minimum.at(after, mesh.triangles[:, corner], least)
        if np.array_equal(after, label):
            return label[mesh.triangles[:, 0]]
        label = after


def test_threads_do_not_change_the_result():
    mesh = meshes.from_arrays(*crown(4000, 0.05, seed=3))
    one, two = (meshes.build(mesh, threads=threads) for threads in (1, 2))
    assert np.array_equal(one.positions, two.positions) and np.array_equal(one.indices, two.indices)


def test_few_parts_or_unlike_ones_are_no_aggregate():
    positions, triangles = crown(31, 0.05)
    assert len(with_parts(Geometry.of(positions), triangles).positions) == len(positions)
    positions, triangles = crown(32, 0.05)
    geometry = with_parts(Geometry.of(positions), triangles)
    assert geometry.parts is not None and len(geometry.positions) == 2 * len(positions)


def test_small_parts_of_a_large_surface_do_not_hold_it_back(tmp_path):
    """Bolts of 1.7 % of the area and 43 % of the triangles: as an aggregate they cost the sheet five times as much."""
    rng = np.random.default_rng(0)
    across, along = np.meshgrid(np.linspace(0, 1, 41), np.linspace(0, 1, 41))
    flat = np.stack([across, along], axis=2).reshape(-1, 2)
    middle = np.concatenate([flat, rng.random((200, 2))])
    middle = np.column_stack([middle, 0.1 * np.sin(6 * middle[:, 0]) * np.cos(5 * middle[:, 1])])
    corners = np.array(list(itertools.product((-0.5, 0.5), repeat=3)))
    sides = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
    box = sides[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)
    bolts = (middle[len(flat) :, None] + 0.004 * corners).reshape(-1, 3)
    triangles = (box + 8 * np.arange(200)[:, None, None]).reshape(-1, 3) + len(flat)
    points = np.concatenate([middle[: len(flat)], bolts])
    mesh = meshes.from_arrays(points, np.concatenate([grid(40, 40), triangles]))
    parts = with_parts(Geometry.of(mesh.positions), mesh.triangles).parts
    assert isinstance(parts, Parts) and not len(parts.kind)
    mesh.export(tmp_path / "sheet.glb")
    level = meshes.scene_lod(tmp_path / "sheet.glb", [0.1]).chain.levels[0]
    off = meshes.nearest_distances(points[: len(flat)].astype(np.float32), level.positions, level.triangles)
    assert off.max() < 0.008


def test_parts_that_a_triangle_joins_are_parts_no_more() -> None:
    """As clustered vertices may: what was enlarged took rows of others, one for each of its many vertices."""
    positions, triangles = crown(64, 0.2)
    joined = 5 * np.arange(0, 60, 2)[:, None] + np.array([0, 5, 7])
    geometry = with_parts(Geometry.of(positions), triangles)
    assert isinstance(geometry.parts, Parts)
    indices = np.concatenate([triangles, joined.astype(np.uint32)]).reshape(-1)
    coarse, _ = geometry.simplify(indices, np.zeros(len(geometry.positions), np.uint8), indices.size // 2)
    of = geometry.parts.of[coarse].reshape(-1, 3)
    mixed = coarse.reshape(-1, 3)[(of != of[:, :1]).any(axis=1)]
    assert coarse.size < indices.size
    assert (mixed < len(positions)).all()


def test_materials_do_not_mix():
    positions, triangles = crown(2000, 0.05, seed=4)
    material = np.repeat(np.arange(2000) % 2, len(LEAF)).astype(np.int32)
    kinds = tuple(meshes.Material(name, base_color=(1.0, 1.0, shade, 1.0)) for name, shade in (("a", 0.0), ("b", 1.0)))
    mesh = meshes.TriangleMesh(
        positions, triangles, meshes.VertexAttributes(material=material, materials=kinds, normals=None)
    )
    level = meshes.lod_chain(meshes.build(mesh), [0.1]).levels[0]
    assert level.attributes is not None and level.attributes.material is not None
    of = level.attributes.material[level.triangles[:, 0]]
    for number in (0, 1):
        whole = area(positions, triangles[material[triangles[:, 0]] == number])
        assert area(level.positions, level.triangles[of == number]) / whole == pytest.approx(1.0, abs=0.03)
