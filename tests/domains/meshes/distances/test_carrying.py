"""Surfaces that are carried along: bounds are never below dense samples in any cut, and tight where nothing is lost."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.domains import meshes
from hra.domains.meshes.building.settings import Workers
from hra.domains.meshes.building.sides import carried_deviations
from hra.domains.meshes.distances.carrying import Carried
from hra.domains.meshes.distances.two_sided import hausdorff_bound
from tests.helpers.seamed_meshes import grid
from tests.helpers.surface_distance import samples_of, true_distances


def farthest(points: np.ndarray, triangles: np.ndarray, others: np.ndarray) -> float:
    """The largest distance of samples of ``triangles`` [F, 3] from the surface ``others`` [G, 3]."""
    found = true_distances(samples_of(points, triangles, 8), meshes.TriangleMesh(points, others.astype(np.uint32)))
    return float(found.max(initial=0.0))


def runs(rows: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Where the rows of each change begin, and all of them."""
    return np.cumsum([0, *map(len, rows)]), np.array([row for run in rows for row in run], np.int64)


def carry(
    points: np.ndarray, source: np.ndarray, gone: list[list[int]], made: list[np.ndarray]
) -> tuple[np.ndarray, list[list[int]]]:
    """Both bounds of each change [C, 2], and the numbers of what each makes."""
    carried = Carried(points, source.astype(np.uint32), np.zeros((len(source), 2), np.float32))
    first = carried.add(sum(map(len, made)))[0]
    ends = first + np.cumsum([0, *map(len, made)])
    numbers = [list(range(begin, end)) for begin, end in pairwise(ends.tolist())]
    indices = np.concatenate(made).astype(np.uint32).reshape(-1)
    with Workers(1) as workers:
        return carried_deviations(carried, runs(gone), runs(numbers), indices, points, workers), numbers


@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(1, 5))
def test_both_sides_hold_for_any_triangles(seed: int, fine: int, coarse: int) -> None:
    rng = np.random.default_rng(seed)
    points = (rng.normal(size=(12, 3)) * rng.choice([1e-4, 1.0, 1e4])).astype(np.float32)
    source, simple = rng.integers(0, 12, (fine, 3)), rng.integers(0, 12, (coarse, 3))
    (bound,), _ = carry(points, source, [list(range(fine))], [simple])
    assert farthest(points, source, simple) <= bound[0] * (1 + 1e-9)
    assert farthest(points, simple, source) <= max(bound) * (1 + 1e-9)


@given(st.integers(0, 2**32 - 1), st.integers(2, 5))
def test_bounds_hold_in_every_cut_after_any_changes(seed: int, changes: int) -> None:
    rng = np.random.default_rng(seed)
    points, source = rng.normal(size=(14, 3)).astype(np.float32), rng.integers(0, 14, (8, 3))
    there, gone, made, maker, corners = list(range(8)), [], [], {}, [*source]
    for change in range(changes):
        rows = rng.choice(there, int(rng.integers(1, min(4, len(there)) + 1)), replace=False).tolist()
        new = rng.integers(0, 14, (int(rng.integers(1, 3)), 3))
        numbers = range(len(corners), len(corners) + len(new))
        there = [row for row in there if row not in rows] + [*numbers]
        maker |= dict.fromkeys(numbers, change)
        corners += [*new]
        gone.append(rows)
        made.append(new)
    bounds, numbers = carry(points, source, gone, made)
    assert [row for run in numbers for row in run] == sorted(maker)
    # All sets of changes that contain what each needs.
    needs = [{maker[row] for row in rows if row in maker} for rows in gone]
    for chosen in range(2**changes):
        done = [change for change in range(changes) if chosen >> change & 1]
        if not all(needs[change] <= set(done) for change in done):
            continue
        taken = {row for change in done for row in gone[change]}
        shown = [row for row in range(len(corners)) if (row < 8 or maker[row] in done) and row not in taken]
        cut = np.array([corners[row] for row in shown])
        bound = max((bounds[maker[row]].max() for row in shown if row in maker), default=0.0)
        rounding = 1e-9 * (1 + bound)
        assert farthest(points, source, cut) <= bound + rounding
        assert farthest(points, cut, source) <= bound + rounding


def test_what_stays_in_the_plane_is_not_off() -> None:
    cells = 9
    x, y = np.meshgrid(np.arange(cells + 1.0), np.arange(cells + 1.0))
    points = np.stack([x, y, np.zeros_like(x)], axis=-1).reshape(-1, 3).astype(np.float32)
    number = np.arange(len(points)).reshape(cells + 1, cells + 1)
    source, corner = grid(cells, cells), (number[0, 0], number[0, -1], number[-1, 0], number[-1, -1])
    whole = np.array([[corner[0], corner[1], corner[2]], [corner[1], corner[3], corner[2]]])
    turned = np.array([[corner[0], corner[1], corner[3]], [corner[0], corner[3], corner[2]]])
    both = [list(range(len(source))), [len(source), len(source) + 1]]
    bounds, _ = carry(points, source, both, [whole, turned])
    # What is below 2**-18 of the extent counts as none; by the way that pieces were taken nothing is added.
    assert bounds.max() <= cells * 2.0**-18


def test_bounds_do_not_add_up() -> None:
    # A line of ridges is flattened, and that bent back to where it was: the second change is as near as nothing.
    points = np.array([[0, 0, 0], [1, 0, 1], [2, 0, 0], [0, 1, 0], [1, 1, 1], [2, 1, 0]], np.float32)
    source = np.array([[0, 1, 3], [1, 4, 3], [1, 2, 4], [2, 5, 4]])
    flat = np.array([[0, 2, 3], [2, 5, 3]])
    bounds, _ = carry(points, source, [[0, 1, 2, 3], [4, 5]], [flat, source])
    assert bounds[0].max() == pytest.approx(1.0, rel=0.02) and bounds[1].max() <= 1.0 * (1 + 1e-6)


def test_what_has_no_pieces_is_measured_by_way_of_what_goes() -> None:
    points = np.array([[0, 0, 0], [8, 0, 0], [8, 8, 0], [0, 8, 0], [0, 0, 1], [8, 0, 1], [8, 8, 1]], np.float32)
    square, other, raised = (np.array(t) for t in ([[0, 1, 2], [0, 2, 3]], [[0, 1, 3], [1, 2, 3]], [[4, 5, 6]]))
    carried = Carried(points, square.astype(np.uint32), np.full((2, 2), 0.25, np.float32))
    carried.add(5)
    gone, made = runs([[0, 1], [2, 3], [4, 5]]), runs([[2, 3], [4, 5], [6]])
    indices = np.concatenate([other, square, raised]).astype(np.uint32).reshape(-1)
    loose, enough = np.array([9, 9, 9], np.float32), np.zeros(3)
    bounds = carried.step_back(gone, made, indices, loose, enough)
    # What goes was .25 away; the second change follows upon the first, the third lies 1 above.
    assert bounds[:2] == pytest.approx(0.25, rel=1e-4) and bounds[2] == pytest.approx(1.25, rel=0.02)
    assert (bounds >= np.array([0.25, 0.25, 1.25], np.float32)).all()
    # Nothing is made tighter than what is enough, and nothing is looser than before.
    assert (carried.step_back(gone, made, indices, loose, loose.astype(float)) == loose).all()
    assert (carried.step_back(gone, made, indices, loose / 64, enough) <= loose / 64).all()


def disc(rings: int = 40, sides: int = 76) -> meshes.TriangleMesh:
    """A flat disc: what it is simplified to is triangles as long as it, across hundreds of others."""
    angle = np.arange(sides) * 2 * np.pi / sides
    rim = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    points = np.concatenate([np.zeros((1, 3)), *(rim * (ring + 1) / rings for ring in range(rings))])
    near, after = np.arange(sides), (np.arange(sides) + 1) % sides
    triangles = [np.stack([0 * near, 1 + near, 1 + after], axis=1)]
    for first in 1 + sides * np.arange(rings - 1):
        a, b, c, d = first + near, first + after, first + sides + near, first + sides + after
        triangles += [np.stack([a, c, d], axis=1), np.stack([a, d, b], axis=1)]
    return meshes.from_arrays(points, np.concatenate(triangles))


def test_flat_faces_are_nowhere_away_however_they_are_cut() -> None:
    source = disc()
    clusters = meshes.build(source)
    hierarchy = clusters.hierarchy
    few = meshes.MeshAllocator(clusters, meshes.SurfaceError(), hra.Exact()).allocate(None, 100)
    assert few.residual == 0 and few.cost <= 74
    flat = meshes.TriangleMesh(clusters.positions, clusters.triangles(few.cut).astype(np.uint32))
    assert hausdorff_bound(source, flat) <= 2.0**-18
    flat = hierarchy.attribute("error") == 0  # all corners of the rim are there
    assert hierarchy.attribute("level")[flat].max() >= 4
    assert hierarchy.attribute("hausdorff")[flat].max() <= 2.0**-15


def test_fine_steps_follow_refinements(make_closed, down_closed) -> None:
    clusters = meshes.build(make_closed(3, bumps=0.4))
    hierarchy, rng, used = clusters.hierarchy, np.random.default_rng(0), []
    whole = clusters.triangles(np.flatnonzero(hierarchy.removed_by < 0))
    for _ in range(6):
        cut = np.flatnonzero(hierarchy.active_nodes(down_closed(hierarchy, rng)))
        simple = clusters.triangles(cut)
        bound = float(hierarchy.attribute("hausdorff")[cut].max())
        sides = farthest(clusters.positions, whole, simple), farthest(clusters.positions, simple, whole)
        assert max(sides) <= bound * (1 + 1e-9)
        used.append(max(sides) / bound)
    # Sums of what each step loses were 2 to 5.5 times the distance.
    assert np.median(used) >= 0.8
