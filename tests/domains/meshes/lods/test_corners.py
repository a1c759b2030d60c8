"""Triangles show one chart each, most of what lies below them, whichever vertices the source has at their corners."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hra.domains import meshes
from hra.domains.meshes.lods.corners import Corners, SourceCharts
from hra.domains.meshes.lods.refitting import Refitting


def grid(columns: int, rows: int, place: np.ndarray, uv: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A sheet [0, 1]^2 of squares in a corner ``place`` of the plane, with coordinates around ``uv``, and triangles."""
    y, x = (steps.reshape(-1) for steps in np.meshgrid(np.arange(rows + 1), np.arange(columns + 1), indexing="ij"))
    corner = (np.arange(rows)[:, None] * (columns + 1) + np.arange(columns)).reshape(-1, 1, 1)
    triangles = (corner + np.array([[0, 1, columns + 2], [0, columns + 2, columns + 1]])).reshape(-1, 3)
    return np.column_stack([x + place[0], y + place[1], 0 * x]), np.column_stack([x, y]) / 16 + uv, triangles


def patches(charts: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> meshes.TriangleMesh:
    """Sheets side by side, each a chart of its own; the normals are all z."""
    counts = np.cumsum([0, *(len(points) for points, _, _ in charts)])
    positions = np.concatenate([points for points, _, _ in charts]).astype(np.float32)
    uv = np.concatenate([uv for _, uv, _ in charts]).astype(np.float32)
    triangles = np.concatenate([own + begin for (_, _, own), begin in zip(charts, counts, strict=False)])
    normals = np.tile(np.array([[0, 0, 1]], np.float32), (len(positions), 1))
    return meshes.TriangleMesh(positions, triangles.astype(np.uint32), meshes.VertexAttributes(uv=uv, normals=normals))


def floor_with_rug() -> tuple[meshes.TriangleMesh, np.ndarray, np.ndarray]:
    """A floor of 24 x 24 in which all but a frame is another chart; two triangles of the whole, and where it lies."""
    shift = np.array([5.0, 3.0])
    points, uv, triangles = grid(24, 24, np.zeros(2), np.zeros(2))
    middles = points[triangles].mean(axis=1)[:, :2]
    frame = ((middles < 1) | (middles > 23)).any(axis=1)
    rug = grid(22, 22, np.ones(2), shift + 1 / 16)
    corners = np.array([[0, 24, 624], [0, 624, 600]])
    return patches([(points, uv, triangles[frame]), rug]), corners, shift


def test_a_rug_whose_vertices_are_all_gone_is_still_seen() -> None:
    """Its coordinates go on to the corners of the floor, where the source has none of them."""
    mesh, corners, shift = floor_with_rug()
    fit = Refitting(mesh).refitted(corners, np.zeros(len(mesh.positions), bool))
    assert mesh.attributes is not None and mesh.attributes.uv is not None
    uv = fit.values(mesh.attributes.uv)
    assert len(fit.triangles) == 2 and fit.moved.all()
    # A vertex is held a little where it began: at the border of the rug, a square from where it has to go.
    assert np.allclose(uv, fit.positions[:, :2] / 16 + shift, atol=0.2 / 16)
    assert np.allclose(fit.positions[:, 2], 0, atol=1e-6)


def test_frozen_triangles_keep_their_vertices() -> None:
    mesh, corners, _ = floor_with_rug()
    frozen = np.zeros(len(mesh.positions), bool)
    frozen[corners[0, 1]] = True
    own = Corners.of(corners, SourceCharts(mesh, np.arange(len(mesh.positions))), frozen)
    assert own.vertices[own.triangles[0]].tolist() == corners[0].tolist() and not own.added[own.triangles[0]].any()
    assert own.added[own.triangles[1]].all()


def test_of_wedges_of_one_chart_the_one_like_the_triangle_is_taken() -> None:
    """A corner that turns to another chart has two vertices of it there, one for each side of a crease."""
    positions = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [-1, 0, 0]], np.float32)
    # A flat triangle, one that stands upright, whose wedges differ in normals alone, and another chart.
    rows = np.array([0, 1, 2, 0, 1, 3, 0, 2, 4])
    triangles = np.arange(9, dtype=np.uint32).reshape(3, 3)
    uv = np.array([[0, 0], [1, 0], [0, 1], [0, 0], [1, 0], [0, 2], [5, 5], [5, 6], [6, 5]], np.float32) / 8
    normals = np.repeat(np.array([[0, 0, 1], [0, -1, 0], [0, 0, 1]], np.float32), 3, axis=0)
    mesh = meshes.TriangleMesh(positions[rows], triangles, meshes.VertexAttributes(uv=uv, normals=normals))
    charts = SourceCharts(mesh, np.array([0, 1, 2, 0, 1, 5, 6, 7, 8]))
    chart = charts.chart[[0, 0]]
    found = charts.vertices(np.array([6, 6]), chart, np.array([[0.0, 0, 1], [0, -1, 0]]))
    assert found.tolist() == [0, 3]
    assert charts.vertices(np.array([5]), charts.chart[[6]], np.array([[0.0, 0, 1]])).tolist() == [-1]


@given(seed=st.integers(0, 2**16), columns=st.integers(1, 4), rows=st.integers(1, 4), count=st.integers(1, 12))
@settings(max_examples=60, deadline=None)
def test_each_triangle_is_in_one_chart_that_is_below_it(seed: int, columns: int, rows: int, count: int) -> None:
    """Patches of 2 x 2 squares in a plane, each a chart, and any triangles of their vertices."""
    rng = np.random.default_rng(seed)
    places = [np.array([2.0 * column, 2.0 * row]) for row in range(rows) for column in range(columns)]
    mesh = patches([grid(2, 2, place, 8.0 * place) for place in places])
    charts = SourceCharts(mesh, np.arange(len(mesh.positions)))
    corners = rng.integers(0, len(mesh.positions), (count, 3))
    x, y = np.moveaxis(mesh.positions[corners][..., :2].astype(np.float64), 2, 0)
    area = (x[:, 1] - x[:, 0]) * (y[:, 2] - y[:, 0]) - (x[:, 2] - x[:, 0]) * (y[:, 1] - y[:, 0])
    corners = corners[area > 0]
    own = Corners.of(corners, charts, np.zeros(len(mesh.positions), bool))
    shown = own.chart[own.triangles]
    assert (shown == shown[:, :1]).all()
    # The same places as before, and what is like a vertex of the source without being added is that vertex.
    assert np.array_equal(mesh.positions[own.vertices[own.triangles]], mesh.positions[corners])
    assert np.array_equal(own.corners[~own.added], np.repeat(own.vertices[~own.added, None], 3, axis=1))
    assert (own.chart[~own.added] == charts.chart[own.vertices[~own.added]]).all()
    # What each begins as is a point of its chart.
    assert (charts.chart[own.corners] == own.chart[:, None]).all()
    assert np.allclose(own.shares.sum(axis=1), 1) and (own.shares > -1e-9).all()
    # Points of the triangle lie in squares of the chart that it shows.
    number = {int(charts.chart[9 * k]): place for k, place in enumerate(places)}
    for triangle, chart in zip(corners, shown[:, 0].tolist(), strict=True):
        shares = rng.dirichlet(np.ones(3), 4000)
        points = shares @ mesh.positions[triangle][:, :2].astype(np.float64)
        inside = (np.abs(points - number[chart] - 1) <= 1 + 1e-9).all(axis=1).mean()
        # The middle of each of sixteen parts was asked: a patch of the area that a corner holds may be another.
        assert inside > 0.05


@pytest.mark.parametrize("columns", [1, 3])
def test_a_source_is_its_own_level(columns: int) -> None:
    """Nothing is added, and every triangle keeps its vertices."""
    mesh = patches([grid(2, 2, np.array([2.0 * k, 0.0]), np.array([9.0 * k, 0])) for k in range(columns)])
    own = Corners.of(
        mesh.triangles, SourceCharts(mesh, np.arange(len(mesh.positions))), np.zeros(len(mesh.positions), bool)
    )
    assert not own.added.any() and np.array_equal(own.vertices[own.triangles], mesh.triangles)
