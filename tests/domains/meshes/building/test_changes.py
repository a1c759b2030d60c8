"""What differs between two meshes, taken apart."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hra.domains import meshes
from hra.domains.meshes.building.changes import Changes, Lives, independent_changes
from hra.domains.meshes.building.geometry import Geometry
from hra.domains.meshes.distances.surface import boundary_chain
from tests.helpers.changes_cases import simplified


def rows(triangles: np.ndarray) -> list[tuple[int, ...]]:
    return sorted(map(tuple, triangles.reshape(-1, 3).tolist()))


def surface(changes: Changes, done: np.ndarray) -> np.ndarray:
    """The triangles after the changes ``done`` [C]."""
    there = (changes.made_by < 0) | done[changes.made_by]
    gone = (changes.gone_by >= 0) & done[changes.gone_by]
    return changes.triangles[there & ~gone]


def test_all_changes_lead_from_the_first_mesh_to_the_last(bumpy: meshes.TriangleMesh) -> None:
    found, geometry = simplified(bumpy, (0.9, 0.8, 0.9, 0.5))
    changes = independent_changes(found, geometry)
    for step, mesh in enumerate(found):
        assert rows(surface(changes, changes.step < step)) == rows(mesh)
    assert (changes.saved > 0).all()
    # One collapsed edge takes two triangles away.
    assert np.median(changes.saved) == 2


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_any_changes_that_need_no_others_leave_no_crack(bumpy: meshes.TriangleMesh, seed: int) -> None:
    found, geometry = simplified(bumpy, (0.9, 0.9, 0.9))
    changes, rng = independent_changes(found, geometry), np.random.default_rng(seed)
    done = rng.random(len(changes)) < rng.random()
    for change in range(len(changes)):
        needs = changes.made_by[changes.gone_by == change]
        done[change] &= done[needs[needs >= 0]].all()
    assert not len(boundary_chain(surface(changes, done))[0])


def test_an_island_that_is_removed_takes_the_nearest_triangle_along() -> None:
    """A tetrahedron goes while a triangle beside it stays, and one far away."""
    island = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], np.uint32)
    others = np.array([[4, 5, 6], [7, 8, 9]], np.uint32)
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    positions = np.concatenate([corners, np.eye(3) + 2, np.eye(3) + 50]).astype(np.float32)
    before, after = np.concatenate([island, others]).reshape(-1), others.reshape(-1)
    changes = independent_changes([before, after], Geometry.of(positions))
    assert len(changes) == 1
    assert rows(changes.triangles[changes.gone_by == 0]) == rows(np.concatenate([island, others[:1]]))
    assert rows(changes.triangles[changes.made_by == 0]) == rows(others[:1])


def test_repeated_triangles_are_followed_one_by_one() -> None:
    one, two = np.array([[0, 1, 2]] * 3, np.uint32), np.array([[0, 1, 2]], np.uint32)
    lives = Lives.of([one.reshape(-1), two.reshape(-1)])
    assert len(lives.triangles) == 3
    assert sorted(lives.gone.tolist()) == [1, 1, 2]
