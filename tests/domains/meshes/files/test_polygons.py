"""Polygons of files become triangles of the same area, whatever their shape, without cracks to their neighbours."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hra.domains import meshes
from hra.domains.meshes.distances.surface import boundary_chain
from hra.domains.meshes.files.parsed import triangulate
from hra.errors import RepairWarning


def cut(outline: np.ndarray) -> tuple[np.ndarray, float]:
    """The triangles of one polygon, and their area together."""
    places, polygons = triangulate(outline, np.array([0, len(outline)]), "one", outline)
    assert polygons == (len(outline) > 3)
    a, b, c = (outline[column] for column in places.T)
    return places, float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2)


def shoelace(outline: np.ndarray) -> float:
    x, y = outline[:, :2].T
    return float(abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2)


def flat(points: Sequence[tuple[float, float]]) -> np.ndarray:
    return np.column_stack([np.array(points, float), np.zeros(len(points))])


def star(count: int) -> np.ndarray:
    turn = np.arange(count) * math.pi * 2 / count
    radius = np.where(np.arange(count) % 2, 1.0, 4.0)
    return np.column_stack([radius * np.cos(turn), radius * np.sin(turn), np.zeros(count)])


def turned(outline: np.ndarray, seed: int = 0) -> np.ndarray:
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
    return outline @ turn.T + [3.0, -2.0, 7.0]


DART = flat([(0, 0), (2, 1), (0, 2), (1.5, 1)])


@pytest.mark.parametrize("outline", [DART, star(48), turned(star(48)), turned(DART)[::-1]])
def test_concave_polygons_keep_their_area_and_winding(outline: np.ndarray):
    places, area = cut(outline)
    wanted = 0.5 if len(outline) == 4 else shoelace(star(48))
    assert area == pytest.approx(wanted, rel=1e-9)
    assert len(places) == len(outline) - 2
    whole = np.cross(outline, np.roll(outline, -1, axis=0)).sum(axis=0)
    a, b, c = (outline[column] for column in places.T)
    assert (np.cross(b - a, c - a) @ whole > 0).all()


@settings(max_examples=60, deadline=None)
@given(st.integers(3, 40), st.integers(0, 2**31))
def test_any_outline_around_a_point_keeps_its_area(count: int, seed: int):
    rng = np.random.default_rng(seed)
    turn = np.sort(rng.uniform(0, 2 * math.pi, count))
    radius = rng.uniform(0.2, 1, count)
    outline = np.column_stack([radius * np.cos(turn), radius * np.sin(turn), np.zeros(count)])
    if np.diff(turn, append=turn[0] + 2 * math.pi).max() > 3:  # the point is not inside
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cut(turned(outline, seed))[1] == pytest.approx(shoelace(outline), rel=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31))
def test_corners_on_straight_sides_stay_corners(seed: int):
    """A comb on a grid, with all points of the grid on its sides: no side is longer than one step."""
    heights = np.random.default_rng(seed).integers(1, 5, 6).tolist()
    points, at = [(x, 0) for x in range(7)], heights[-1]
    points += [(6, y) for y in range(1, at + 1)]
    for x in range(5, -1, -1):
        points += [(x + 1, y) for y in range(points[-1][1], heights[x], 1 if heights[x] > points[-1][1] else -1)][1:]
        points += [(x + 1, heights[x]), (x, heights[x])]
    points += [(0, y) for y in range(heights[0] - 1, 0, -1)]
    points = list(dict.fromkeys(points))
    outline = flat(points)
    places, area = cut(outline)
    assert area == pytest.approx(sum(heights), rel=1e-12)
    sides = {(int(t[k]), int(t[k - 2])) for t in places for k in range(3)}
    border = {(k, (k + 1) % len(points)) for k in range(len(points))}
    assert border <= sides
    assert {(b, a) for a, b in sides - border} == sides - border


def test_a_hole_is_led_around_and_named():
    square, hole = [(0, 0), (4, 0), (4, 4), (0, 4)], [(1, 1), (1, 3), (3, 3), (3, 1)]
    outline = flat([*square, square[0], hole[0], *hole[1:], hole[0]])
    with pytest.warns(RepairWarning, match="1 polygons touch themselves, first face 0"):
        assert cut(outline)[1] == pytest.approx(12, rel=1e-12)


def test_a_polygon_that_crosses_itself_is_named():
    with pytest.warns(RepairWarning, match="1 polygons cross themselves, first face 0; what they cover twice"):
        cut(flat([(0, 0), (2, 2), (2, 0), (0, 3)]))


PRISM = "".join(f"v {x:.17g} {y:.17g} {z}\n" for z in (0, 1) for x, y, _ in star(24).tolist())
PRISM += "f " + " ".join(map(str, range(24, 0, -1))) + "\nf " + " ".join(map(str, range(25, 49))) + "\n"
PRISM += "".join(f"f {k + 1} {(k + 1) % 24 + 1} {(k + 1) % 24 + 25} {k + 25}\n" for k in range(24))


@pytest.mark.parametrize("in_parts", [False, True])
def test_a_prism_over_a_star_is_closed_and_has_its_volume(in_parts: bool, tmp_path: Path):
    path = tmp_path / "star.obj"
    path.write_text(PRISM)
    if in_parts:
        meshes.build_out_of_core(path, tmp_path / "star.hra", memory=2**30)
        clusters = meshes.load_clusters(tmp_path / "star.hra")
        mesh = clusters.mesh(np.flatnonzero(clusters.hierarchy.removed_by < 0))
    else:
        with pytest.warns(RepairWarning, match="polygons were triangulated"):
            mesh = meshes.load(path)
    corners = mesh.positions[mesh.triangles].astype(float)
    assert np.einsum("fa,fa->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6 == pytest.approx(
        shoelace(star(24)), rel=1e-6
    )
    assert not boundary_chain(mesh.triangles)[0].size
