"""Meshes with attributes: cuts join by position, seams stay where they are, and attributes shape the simplification."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.interpolate import LinearNDInterpolator

from hra.domains import meshes
from hra.domains.meshes.building.creases import Charts, Creases, Unseen, without_slivers
from hra.domains.meshes.building.geometry import AttributeMetric, Geometry
from hra.domains.meshes.distances.surface import boundary_chain
from hra.domains.meshes.mesh import meshopt
from hra.domains.meshes.mesh.weld import first_at_position
from tests.helpers.seamed_meshes import carried, charts, faceted, globe, grid, terrain, with_attributes


@pytest.fixture(scope="module")
def globe_clusters() -> meshes.ClusterMesh:
    return meshes.build(globe(96, 48), group_size=4)


@pytest.fixture(scope="module")
def terrain_clusters() -> meshes.ClusterMesh:
    return meshes.build(terrain(), group_size=4)


def cuts(clusters: meshes.ClusterMesh, down_closed: Callable, count: int = 60) -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    hierarchy = clusters.hierarchy
    return [np.flatnonzero(hierarchy.active_nodes(down_closed(hierarchy, rng))) for _ in range(count)]


def source(clusters: meshes.ClusterMesh) -> np.ndarray:
    return clusters.triangles(np.flatnonzero(clusters.hierarchy.attribute("level") == 0))


def test_a_globe_with_a_seam_is_closed_by_position_only(globe_clusters: meshes.ClusterMesh) -> None:
    whole = source(globe_clusters)
    assert len(boundary_chain(whole)[0])
    assert not len(boundary_chain(globe_clusters.position_of[whole])[0])
    assert meshes.is_closed(globe())


@pytest.mark.case(18)
def test_every_cut_of_a_seamed_globe_is_closed(globe_clusters: meshes.ClusterMesh, down_closed: Callable) -> None:
    for cut in cuts(globe_clusters, down_closed):
        assert not len(boundary_chain(globe_clusters.position_of[globe_clusters.triangles(cut)])[0])
        assert meshes.is_closed(globe_clusters.mesh(cut))
    assert meshes.check(globe_clusters, cuts=50).sound


def test_certified_bounds_hold_with_attributes() -> None:
    clusters = meshes.build(globe())
    report = meshes.check(clusters, cuts=40, samples=300)
    assert report.sound
    assert report.measured_cuts
    assert report.closed


@pytest.mark.case(18)
def test_no_triangle_crosses_a_seam(globe_clusters: meshes.ClusterMesh) -> None:
    # Between the seam's sides u jumps by one; a triangle that mixed them would span most of the texture.
    uv = carried(globe_clusters).uv[globe_clusters.indices.reshape(-1, 3)]
    longitude = np.arctan2(*globe_clusters.positions[globe_clusters.indices.reshape(-1, 3)].T[[1, 0]]).T / (2 * np.pi)
    jump = np.ptp(uv[:, :, 0], axis=1) > 0.75
    wraps = np.ptp(longitude, axis=1) < 0.2
    poles = np.isclose(np.abs(globe_clusters.positions[globe_clusters.indices.reshape(-1, 3)][:, :, :2]).max(-1), 0)
    assert not (jump & wraps & ~poles.any(axis=1)).any()


def test_seams_stay_in_their_charts_and_materials(terrain_clusters: meshes.ClusterMesh) -> None:
    triangles = terrain_clusters.indices.reshape(-1, 3)
    chart = charts(source(terrain_clusters), len(terrain_clusters.positions))
    assert len(np.unique(chart)) == 3
    material = carried(terrain_clusters).material[triangles]
    assert (chart[triangles] == chart[triangles][:, :1]).all()
    assert (material == material[:, :1]).all()


def test_cuts_of_several_materials_join_without_cracks(
    terrain_clusters: meshes.ClusterMesh, down_closed: Callable
) -> None:
    position_of = terrain_clusters.position_of
    outline = np.zeros(len(terrain_clusters.positions), bool)
    outline[boundary_chain(position_of[source(terrain_clusters)])[0]] = True
    for cut in cuts(terrain_clusters, down_closed):
        assert outline[boundary_chain(position_of[terrain_clusters.triangles(cut)])[0]].all()
        assert carried(terrain_clusters.mesh(cut)).materials == carried(terrain_clusters).materials


def test_each_material_keeps_its_share_of_the_surface(
    terrain_clusters: meshes.ClusterMesh, down_closed: Callable
) -> None:
    def areas(triangles: np.ndarray) -> np.ndarray:
        a, b, c = (terrain_clusters.positions[triangles[:, k], :2].astype(np.float64) for k in range(3))
        (ax, ay), (bx, by) = (b - a).T, (c - a).T
        area = 0.5 * (ax * by - ay * bx)
        return np.bincount(carried(terrain_clusters).material[triangles[:, 0]], area, 3)

    expected = areas(source(terrain_clusters))
    for triangles in map(terrain_clusters.triangles, cuts(terrain_clusters, down_closed, 20)):
        # A border between materials that is left with a few edges cuts corners.
        assert areas(triangles) == pytest.approx(expected, abs=0.03 if len(triangles) >= 100 else 0.05)


def test_roots_are_small(globe_clusters: meshes.ClusterMesh, terrain_clusters: meshes.ClusterMesh) -> None:
    # 96 wedges meet at each pole of the globe and stay.
    assert globe_clusters.root_triangle_count <= 400
    assert terrain_clusters.root_triangle_count <= 128


def test_building_with_attributes_is_deterministic(globe_clusters: meshes.ClusterMesh) -> None:
    again = meshes.build(globe(96, 48), group_size=4)
    assert np.array_equal(again.indices, globe_clusters.indices)
    assert np.array_equal(carried(again).rows, carried(globe_clusters).rows)


def test_facets_are_smoothed_over_instead_of_being_stuck(make_closed: Callable, down_closed: Callable) -> None:
    ball = faceted(make_closed(4))
    assert len(ball.positions) == 3 * len(ball.triangles)
    clusters = meshes.build(ball)
    assert clusters.root_triangle_count <= 128
    for cut in cuts(clusters, down_closed, 20):
        mesh = clusters.mesh(cut)
        assert meshes.is_closed(mesh)
        corners = mesh.positions[mesh.triangles].astype(np.float64)
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        assert (np.einsum("fca,fa->fc", carried(mesh).normals[mesh.triangles], normal) > 0).mean() > 0.99


def test_bytes_count_attributes(globe_clusters: meshes.ClusterMesh) -> None:
    bare = meshes.build(meshes.from_arrays(globe().positions, globe().triangles, warn_duplicates=False))
    count = globe_clusters.hierarchy.attribute("vertex_count")
    bytes_of = globe_clusters.with_cost("bytes").hierarchy.node_cost
    assert np.array_equal(bytes_of, 3 * globe_clusters.triangles_per_cluster + count * (12 + 8 + 12 + 4))
    assert globe_clusters.with_cost("bytes").attributes is globe_clusters.attributes
    count = bare.hierarchy.attribute("vertex_count")
    assert np.array_equal(bare.with_cost("bytes").hierarchy.node_cost, 3 * bare.triangles_per_cluster + 12 * count)


def sheet(cells: int, field: Callable[[np.ndarray, np.ndarray], np.ndarray], name: str) -> meshes.TriangleMesh:
    """The unit square with an attribute that is a function of x and y."""
    x, y = (a.reshape(-1) for a in np.meshgrid(np.linspace(0, 1, cells + 1), np.linspace(0, 1, cells + 1)))
    flat = meshes.from_arrays(np.stack([x, y, 0 * x], 1), grid(cells, cells))
    return with_attributes(flat, **{name: field(x, y)})


def largest_error(clusters: meshes.ClusterMesh, cut: np.ndarray, truth: Callable) -> float:
    """Of the attribute interpolated over a flat cut, at random points."""
    mesh, points = clusters.mesh(cut), np.random.default_rng(2).uniform(0.01, 0.99, (2000, 2))
    found = np.full((len(points), 2), np.nan)
    values = carried(mesh).uv if carried(mesh).uv is not None else carried(mesh).colors[:, :2] / 255
    corners, data = mesh.positions[mesh.triangles][:, :, :2].astype(np.float64), values[mesh.triangles]
    for triangle, value in zip(corners, data, strict=True):
        edge = np.stack([triangle[1] - triangle[0], triangle[2] - triangle[0]], 1)
        if abs(np.linalg.det(edge)) < 1e-12:
            continue
        share = np.linalg.solve(edge, (points - triangle[0]).T).T
        inside = (share >= -1e-9).all(1) & (share.sum(1) <= 1 + 1e-9)
        found[inside] = value[0] + share[inside] @ (value[1:] - value[0])
    assert np.isfinite(found).all()
    return float(np.abs(found - truth(*points.T)).max())


def test_linear_coordinates_stay_exact_at_every_level(down_closed: Callable) -> None:
    def linear(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.stack([0.3 * x + 0.5 * y, 0.7 * y - 0.2 * x], -1)

    clusters = meshes.build(sheet(32, lambda x, y: linear(x, y).astype(np.float32), "uv"))
    assert clusters.hierarchy.attribute("error").max() < 1e-3
    for cut in cuts(clusters, down_closed, 4):
        assert largest_error(clusters, cut, linear) < 1e-6


def test_linear_colours_stay_within_their_rounding(down_closed: Callable) -> None:
    def linear(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.stack([x, (x + y) / 2], -1)

    def colors(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        shares = np.concatenate([linear(x, y), np.ones((len(x), 2))], 1)
        return np.rint(255 * shares).astype(np.uint8)

    clusters = meshes.build(sheet(32, colors, "colors"))
    for cut in cuts(clusters, down_closed, 4):
        assert largest_error(clusters, cut, linear) <= 0.5 / 255 + 1e-6


def test_the_metric_keeps_more_of_a_curved_attribute() -> None:
    def curved(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.stack([np.exp(-40 * ((x - 0.3) ** 2 + (y - 0.6) ** 2)), x], -1)

    flat = sheet(48, lambda x, y: curved(x, y).astype(np.float32), "uv")
    geometry, indices = Geometry.of(flat.positions, carried(flat)), flat.triangles.reshape(-1)
    locked = np.zeros(len(flat.positions), np.uint8)
    assert geometry.metric is not None
    weighed, _ = geometry.metric.simplify(indices, geometry.unit_positions, locked, indices.size // 24 * 3)
    blind, _ = meshopt.simplify(indices, geometry.unit_positions, locked, weighed.size)
    rms = []
    points = np.random.default_rng(0).uniform(0.05, 0.95, (3000, 2))
    for left in (weighed, blind):
        used = np.unique(left)
        estimate = LinearNDInterpolator(flat.positions[used, :2], carried(flat).uv[used, 0])(points)
        rms.append(np.sqrt(np.nanmean((estimate - curved(*points.T)[:, 0]) ** 2)))
    assert rms[0] < 0.6 * rms[1]


def test_texture_weights_do_not_depend_on_the_textures_scale() -> None:
    mesh = globe()
    other = with_attributes(mesh, uv=carried(mesh).uv * 64)
    scaled = AttributeMetric.of(other.positions, carried(other))
    indices, locked = mesh.triangles.reshape(-1), np.zeros(len(mesh.positions), np.uint8)
    plain = with_attributes(mesh, uv=carried(mesh).uv)
    metric = AttributeMetric.of(plain.positions, carried(plain))
    ours = metric.simplify(indices, mesh.positions, locked, indices.size // 6 * 3)
    theirs = scaled.simplify(indices, mesh.positions, locked, indices.size // 6 * 3)
    assert np.array_equal(ours[0], theirs[0])
    assert ours[1] == pytest.approx(theirs[1], rel=1e-3)


def test_moved_corners_get_the_wedge_most_like_their_own(rng: np.random.Generator) -> None:
    mesh = faceted(meshes.from_arrays(*_cube()))
    metric = AttributeMetric.of(mesh.positions, carried(mesh))
    indices = mesh.triangles.reshape(-1)
    targets = mesh.position_of[rng.permutation(indices)]
    found = metric.nearest_wedges(indices, targets, mesh.position_of, None)
    assert np.array_equal(mesh.position_of[found], targets)
    normals = carried(mesh).normals
    for corner, target, wedge in zip(indices, targets, found, strict=True):
        there = np.flatnonzero(mesh.position_of == target)
        distance = np.linalg.norm(normals[there] - normals[corner], axis=1)
        assert np.linalg.norm(normals[wedge] - normals[corner]) == distance.min()
    assert np.array_equal(metric.nearest_wedges(indices, mesh.position_of[indices], mesh.position_of, None), indices)


def test_slivers_are_found_by_position() -> None:
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 0, 0], [-0.0, 0, 0]], np.float32)
    triangles = np.array([[0, 1, 2], [0, 1, 3], [1, 3, 2], [4, 2, 0], [4, 3, 2]], np.uint32)
    assert without_slivers(triangles.reshape(-1), points).reshape(-1, 3).tolist() == [[0, 1, 2], [4, 3, 2]]


def test_creases_are_restored_by_the_triangles_normal() -> None:
    cube = faceted(meshes.from_arrays(*_cube()))
    creases = Creases.of(cube.positions, carried(cube))
    assert creases is not None
    assert len(np.unique(creases.first)) == 8
    smooth = creases.first[cube.triangles.reshape(-1)]
    restored = creases.restore(smooth, cube.positions)
    assert np.array_equal(restored, cube.triangles.reshape(-1))
    seamed = with_attributes(cube, uv=np.random.default_rng(0).random((len(cube.positions), 2), np.float32))
    assert Creases.of(seamed.positions, carried(seamed)) is None


def _cube() -> tuple[np.ndarray, np.ndarray]:
    points = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    quads = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    return points, np.array([[q[0], q[k], q[k + 1]] for q in quads for k in (1, 2)])


def test_triangles_are_on_one_side_of_an_unseen_seam_wherever_they_can_be() -> None:
    """What did not change is as before; of what did, each corner has a vertex of a side that all three have one of."""
    triangles, count = grid(24, 24), 25 * 25
    row, column = np.divmod(np.arange(count), 25)
    places = np.column_stack([column, row, np.sin(column / 5)]).astype(np.float32)
    left = places[triangles].mean(axis=1)[:, 0] < 12
    used, corners = np.unique(np.where(left[:, None], triangles, triangles + count), return_inverse=True)
    positions, before = places[used % count], corners.astype(np.uint32).reshape(-1)
    right = (used >= count).astype(np.int32)
    normals = np.tile(np.array([0, 0, 1], np.float32), (len(used), 1))
    unseen = Unseen.of(positions, meshes.VertexAttributes(normals=normals, unseen=right))
    assert unseen is not None and len(np.unique(unseen.first)) == count < len(used)
    assert np.array_equal(unseen.restore(unseen.first[before], before), before)
    coarse, _ = meshopt.simplify(unseen.first[before], positions, np.zeros(len(used), np.uint8), before.size // 8)
    found = unseen.restore(coarse, before)
    assert np.array_equal(positions[found], positions[coarse])
    sides = [set(right[unseen.first == unseen.first[v]].tolist()) for v in range(len(used))]
    for triangle in found.reshape(-1, 3):
        if set.intersection(*(sides[v] for v in triangle)):
            assert len(set(right[triangle].tolist())) == 1
    assert Unseen.of(positions, meshes.VertexAttributes(normals=normals)) is None


def test_wedges_are_of_vertices_that_are_used_and_look_alike_from_behind() -> None:
    """Of five vertices at one place 0 to 2 have 5 to 7 behind them, which is of another material; nothing uses 4."""
    normals = np.random.default_rng(0).normal(size=(8, 3)).astype(np.float32)
    material = np.array([0, 0, 0, 0, 0, 1, 1, 2], np.int32)
    sides = tuple(meshes.Material(name) for name in "abc")
    given = meshes.VertexAttributes(normals=normals, material=material, materials=sides)
    for kind, attributes in (
        (Creases, given),
        (Unseen, replace(given, normals=None, unseen=np.arange(8, dtype=np.int32))),
    ):
        plain = kind.of(np.zeros((8, 3), np.float32), attributes)
        assert plain is not None and plain.first.tolist() == [0, 0, 0, 0, 0, 5, 5, 7]
        found = kind.of(np.zeros((8, 3), np.float32), attributes, np.array([5, 6, 7, 3, -1, -1, -1, -1]))
        assert found is not None and found.first.tolist() == [0, 0, 2, 3, 4, 5, 6, 7]
        assert found.wedges[found.offsets[0] : found.offsets[1]].tolist() == [0, 1]


def test_corners_across_charts_are_those_of_their_place_and_alike() -> None:
    """Two charts meet along an edge: a triangle of one takes no corner of the other."""
    position_of = np.array([0, 1, 2, 3, 1, 2], np.uint32)  # 4 and 5 are 1 and 2 in the other chart
    positions = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [1, 0, 0], [0, 1, 0]], np.float32)
    values = np.array([[0.0], [0.1], [0.1], [5.1], [5.0], [5.0]], np.float32)
    before = np.array([0, 1, 2, 4, 3, 5], np.uint32)
    charts = Charts.of(position_of, None)
    found = charts.restore(charts.first[before], before, positions, values, np.ones(1, np.float32), 0)
    assert found.tolist() == before.tolist()
    divided = Charts.of(position_of, np.array([0, 0, 0, 1, 1, 1], np.int32))
    assert divided.first.tolist() == [0, 1, 2, 3, 4, 5]


def test_across_charts_what_has_not_changed_keeps_its_corners() -> None:
    """A box of which each side is a chart: wedges of the other sides are more alike than those of a wide floor."""
    positions, triangles = _box_of_charts(np.random.default_rng(0))
    uv = (np.arange(24) // 4 * 0.01 + np.random.default_rng(1).random(24) * 0.001).astype(np.float32)
    uv = np.column_stack([uv, uv])
    uv[:4] = [[0, 0], [0.9, 0], [0.9, 0.9], [0, 0.9]]
    charts = Charts.of(first_at_position(positions), None)
    before = triangles.reshape(-1)
    assert len(np.unique(charts.first)) == 8
    found = charts.restore(charts.first[before], before, positions, uv, np.ones(2, np.float32), 0)
    assert found.tolist() == before.tolist()
    # A triangle of the floor that was not there takes corners of the floor.
    floor = charts.first[np.array([0, 1, 3], np.uint32)]
    found = charts.restore(floor, before, positions, uv, np.ones(2, np.float32), 0)
    assert found.tolist() == [0, 1, 3]


def _box_of_charts(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Six sides of four vertices each, the floor first: positions float32 [24, 3], triangles uint32 [12, 3]."""
    floor = np.array([[0, 0, 0], [0, 1, 0], [1, 1, 0], [1, 0, 0]], np.float64)
    up = np.array([0, 0, 1])
    sides = [floor, floor[::-1] + up]
    for k in range(4):
        a, b = floor[k], floor[(k + 1) % 4]
        sides.append(np.array([b, a, a + up, b + up]))
    corners = np.arange(24).reshape(6, 4)
    triangles = np.concatenate([corners[:, [0, 1, 2]], corners[:, [0, 2, 3]]])
    return np.concatenate(sides).astype(np.float32), triangles[rng.permutation(12)].astype(np.uint32)
