"""Bounds by maps: never below dense samples on either side, and none where there is no map."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import Delaunay

from hra.domains import meshes
from hra.domains.meshes.distances.deviation import Patches, VertexMemory
from hra.domains.meshes.distances.mapping.deviation import mapped_deviations
from tests.helpers.surface_distance import distances, samples_of, true_distances

SQUARE = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], np.float32)


def patch(triangles: np.ndarray, off: float | np.ndarray = 0.0) -> Patches:
    """One group of triangles [n, 3], each a cluster that is ``off``."""
    count = len(triangles)
    off = np.broadcast_to(np.float32(off), count)
    return Patches(np.asarray(triangles, np.uint32).reshape(-1), 3 * np.arange(count + 1), off, np.array([0, count]))


def bounds(
    points: np.ndarray,
    fine: np.ndarray,
    coarse: np.ndarray,
    lost: float | np.ndarray = 0.0,
    added: float | np.ndarray = 0.0,
) -> np.ndarray:
    shown = patch(fine, added).deviation
    return mapped_deviations(points, patch(fine, lost), shown, patch(coarse), VertexMemory(len(points)))[0]


def sheets(rng: np.random.Generator, kept: int, left: int, made: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points in a square, and two ways to connect them: the coarse one lacks some and has others of its own."""
    turns = np.arange(8) * np.pi / 4
    border = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    flat = np.concatenate([border, rng.uniform(-0.6, 0.6, (kept + left + made, 2))])
    numbers = np.arange(len(flat))
    fine, coarse = numbers[: 8 + kept + left], np.r_[numbers[: 8 + kept], numbers[8 + kept + left :]]
    one, other = (own[_upwards(flat[own], Delaunay(flat[own]).simplices)] for own in (fine, coarse))
    return flat, one, other


def _upwards(flat: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    one, other = (flat[triangles[:, i]] - flat[triangles[:, 0]] for i in (1, 2))
    down = one[:, 0] * other[:, 1] < one[:, 1] * other[:, 0]
    return np.where(down[:, None], triangles[:, ::-1], triangles)


def furthest(points: np.ndarray, fine: np.ndarray, coarse: np.ndarray) -> tuple[float, float]:
    """The largest distances of samples of the one from the other, both ways."""
    one, other = (meshes.TriangleMesh(points, t.astype(np.uint32)) for t in (fine, coarse))
    return (
        float(true_distances(samples_of(points, fine), other).max()),
        float(true_distances(samples_of(points, coarse), one).max()),
    )


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.1, 1.0]))
def test_no_sample_of_simplified_terrain_is_beyond_the_bounds(seed: int, height: float) -> None:
    rng = np.random.default_rng(seed)
    flat, fine, coarse = sheets(rng, 6, 6, 0)
    points = np.column_stack([flat, height * rng.normal(size=len(flat))]).astype(np.float32)
    lost, added = bounds(points, fine, coarse)
    if not np.isnan(lost):
        there, back = furthest(points, fine, coarse)
        assert there <= lost * (1 + 1e-6)
        assert back <= added * (1 + 1e-6)


@given(st.integers(0, 2**32 - 1), st.sampled_from([(6, 6, 0), (0, 12, 0), (3, 4, 3), (0, 0, 6), (10, 0, 2)]))
def test_no_sample_of_crumpled_sheets_is_beyond_the_bounds(seed: int, sizes: tuple[int, int, int]) -> None:
    """Only how triangles are connected matters: vertices may lie anywhere, and surfaces go through themselves."""
    rng = np.random.default_rng(seed)
    flat, fine, coarse = sheets(rng, *sizes)
    points = rng.normal(size=(len(flat), 3)).astype(np.float32)
    # What clusters are off raises what counts as a useful map, so that few are left out.
    off = rng.uniform(0, 2, len(fine)).astype(np.float32)
    lost, added = bounds(points, fine, coarse, off, 2.0)
    if np.isnan(lost):
        return
    there = true_distances(samples_of(points, fine), meshes.TriangleMesh(points, coarse.astype(np.uint32)))
    assert (there + np.repeat(off, len(there) // len(fine))).max() <= lost * (1 + 1e-6)
    assert furthest(points, fine, coarse)[1] + 2.0 <= added * (1 + 1e-6)


@given(st.integers(0, 2**32 - 1))
def test_what_clusters_are_off_counts_where_they_are(seed: int) -> None:
    """Each sample of the coarse surface has a partner in a cluster that is off by no more than the bound leaves."""
    rng = np.random.default_rng(seed)
    flat, fine, coarse = sheets(rng, 4, 4, 0)
    points = np.column_stack([flat, 0.2 * rng.normal(size=len(flat))]).astype(np.float32)
    off = (rng.exponential(0.3, len(fine)) * (rng.random(len(fine)) < 0.5)).astype(np.float32)
    _, added = bounds(points, fine, coarse, 0.0, off)
    if not np.isnan(added):
        samples = samples_of(points, coarse)
        to_each = [distances(samples, np.repeat(points[t].astype(np.float64)[None], len(samples), 0)) for t in fine]
        assert (np.array(to_each) + off[:, None]).min(axis=0).max() <= added * (1 + 1e-6)


def test_simplified_terrain_has_maps_whose_bounds_are_tight() -> None:
    """Not only valid: of forty sheets nearly all have a map, and a bound that is near to what samples show."""
    ratios = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        flat, fine, coarse = sheets(rng, 20, 20, 0)
        points = np.column_stack([flat, 0.1 * np.sin(3 * flat).sum(axis=1)]).astype(np.float32)
        result = bounds(points, fine, coarse)
        ratios.append(result.max() / max(furthest(points, fine, coarse)))
    assert np.isnan(ratios).sum() <= 2
    assert np.nanmin(ratios) >= 1 - 1e-6
    assert np.nanmedian(ratios) < 1.1


@pytest.mark.parametrize("height", [0.0, 0.3, 0.9])
def test_a_coarse_vertex_above_a_fine_triangle_is_seen(height: float) -> None:
    """Every fine vertex is where it was: only the loop of a triangle can tell that it encloses the top of a pyramid."""
    points = np.concatenate([SQUARE, [[0.4, 0.5, height]]]).astype(np.float32)
    pyramid = np.array([[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]])
    lost, added = bounds(points, np.array([[0, 1, 2], [0, 2, 3]]), pyramid, 1.0, 1.0)
    assert 1 + height <= added <= 1 + 1.05 * height + 0.2
    assert 1 + height / 2 < lost + 1e-6 or height == 0


def test_two_vertices_above_one_fine_triangle_are_seen() -> None:
    top = [[0.6, 0.2, 0.4], [0.8, 0.3, 0.5]]
    points = np.concatenate([SQUARE, top]).astype(np.float32)
    fine = np.array([[0, 1, 2], [0, 2, 3]])
    flat = points[:, :2].astype(np.float64)
    coarse = _upwards(flat, Delaunay(flat).simplices)
    added = bounds(points, fine, coarse, 1.0, 1.0)[1]
    assert 1.5 <= added < 1.6


def test_a_path_that_leaves_the_surroundings_of_a_corner_is_seen() -> None:
    """It begins beside the corner (0), and encloses the high vertex (5) where it passes behind that."""
    points = np.array([[0, 0, 0], [1, -1, 0], [2, 0, 0], [1, 1, 0], [1.2, -0.4, 0], [0.8, 0.4, 0.5]], np.float32)
    coarse = np.array([[0, 1, 4], [0, 4, 5], [0, 5, 3], [1, 2, 4], [4, 2, 5], [5, 2, 3]])
    _, added = bounds(points, np.array([[0, 1, 3], [1, 2, 3]]), coarse, 1.0, 1.0)
    assert 1.5 <= added < 1.6


def test_the_same_surface_is_at_no_distance() -> None:
    rng = np.random.default_rng(3)
    flat, fine, _ = sheets(rng, 9, 0, 0)
    points = np.column_stack([flat, rng.normal(size=len(flat))]).astype(np.float32)
    np.testing.assert_allclose(bounds(points, fine, fine), 0, atol=1e-12)


TETRAHEDRON = np.array([[4, 5, 6], [4, 6, 7], [4, 7, 5], [5, 7, 6]])
TWO = np.array([[0, 1, 2], [0, 2, 3]])


@pytest.mark.parametrize(
    "coarse",
    [
        np.array([[0, 1, 2]]),
        TWO[:, ::-1],
        np.array([[0, 1, 2], [0, 3, 2]]),
        np.concatenate([TWO, TETRAHEDRON]),
        np.concatenate([TWO, [[4, 5, 6]]]),
        np.concatenate([TWO, TWO]),
        np.concatenate([TWO, [[0, 2, 4], [0, 4, 2]]]),
    ],
    ids=["a hole", "upside down", "half upside down", "a closed part", "a part", "twice", "a double fin"],
)
def test_what_has_no_map_has_no_bound(coarse: np.ndarray) -> None:
    """Above all a closed part far away, which no border gives away."""
    away = 5 + np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    points = np.concatenate([SQUARE, away]).astype(np.float32)
    assert np.isnan(bounds(points, TWO, coarse, 9.0, 9.0)).all()


def test_a_triangle_that_is_turned_over_within_has_no_map() -> None:
    """Its border is that of the sheet, but paths that turn around its corners would lead astray."""
    flat, fine, coarse = sheets(np.random.default_rng(0), 12, 6, 0)
    points = np.column_stack([flat, np.zeros(len(flat))]).astype(np.float32)
    assert np.isfinite(bounds(points, fine, coarse, 9.0, 9.0)).all()
    within = np.flatnonzero((coarse >= 8).all(axis=1))[0]
    coarse[within] = coarse[within, ::-1]
    assert np.isnan(bounds(points, fine, coarse, 9.0, 9.0)).all()


@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_groups_do_not_depend_on_each_other(seed: int, count: int) -> None:
    rng, memory = np.random.default_rng(seed), VertexMemory(400)
    parts, points, at = [], [], 0
    for _ in range(count):
        flat, fine, coarse = sheets(rng, int(rng.integers(1, 6)), int(rng.integers(1, 6)), 0)
        points.append(np.column_stack([flat, 0.1 * rng.normal(size=len(flat))]))
        parts.append((fine + at, coarse + at))
        at += len(flat)
    places = np.concatenate(points).astype(np.float32)

    def together(which: int) -> Patches:
        sizes = [len(part[which]) for part in parts]
        own = patch(np.concatenate([part[which] for part in parts]))
        return own._replace(groups=np.cumsum([0, *sizes]))

    fine = together(0)
    all_at_once = mapped_deviations(places, fine, fine.deviation, together(1), memory)
    alone = [bounds(places, *part) for part in parts]
    np.testing.assert_array_equal(all_at_once, alone)
