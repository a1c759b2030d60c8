"""The bound of two whole surfaces holds, and is tight."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hra.domains import meshes
from hra.domains.meshes.distances import two_sided
from hra.domains.meshes.distances.two_sided import _own, hausdorff_bound


def soup(rng: np.random.Generator, count: int, scale: float) -> meshes.TriangleMesh:
    middle = rng.normal(size=(count, 1, 3))
    points = (middle + scale * rng.normal(size=(count, 3, 3))).astype(np.float32).reshape(-1, 3)
    return meshes.TriangleMesh(points, np.arange(3 * count, dtype=np.uint32).reshape(-1, 3))


@given(seed=st.integers(0, 2**16), one=st.integers(1, 90), other=st.integers(1, 90), scale=st.sampled_from([0.01, 1.0]))
@settings(max_examples=30)
def test_no_point_is_farther_and_one_is_nearly_so_far(seed: int, one: int, other: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    a, b = soup(rng, one, scale), soup(rng, other, scale)
    bound, seen = hausdorff_bound(a, b), 0.0
    for first, second in ((a, b), (b, a)):
        # Corners, too: of small triangles they are the farthest.
        points = np.concatenate([meshes.surface_points(first, 20_000, rng), first.positions.astype(np.float64)])
        seen = max(seen, float(meshes.nearest_distances(points, second.positions, second.triangles).max()))
    assert seen <= bound <= 1.05 * seen
    assert hausdorff_bound(b, a) == pytest.approx(bound, rel=0.021)


@pytest.mark.parametrize("work", [0, 2_000, 20_000])
def test_bounds_hold_wherever_the_work_ends(work: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(work)
    a, b = soup(rng, 60, 1.0), soup(rng, 60, 1.0)
    whole = hausdorff_bound(a, b)
    monkeypatch.setattr(two_sided, "_WORK", work)
    monkeypatch.setattr(two_sided, "_WORK_EACH", 0)
    seen = max(
        float(
            meshes.nearest_distances(
                meshes.surface_points(first, 20_000, rng), second.positions, second.triangles
            ).max()
        )
        for first, second in ((a, b), (b, a))
    )
    assert max(seen, whole / 1.02) <= hausdorff_bound(a, b)
    assert work or hausdorff_bound(a, b) > 1.1 * whole


def test_equal_surfaces_are_at_no_distance() -> None:
    mesh = soup(np.random.default_rng(0), 200, 0.1)
    assert hausdorff_bound(mesh, mesh) < 2.0**-18


@given(seed=st.integers(0, 2**16), count=st.integers(1, 60), far=st.booleans())
@settings(max_examples=20)
def test_one_surface_in_two_triangulations_is_at_no_distance(seed: int, count: int, far: bool) -> None:
    # Sheets that cross, each triangle divided at a point in it: quarters alone would follow all the new sides.
    rng = np.random.default_rng(seed)
    mesh = soup(rng, count, 1.0)
    mesh = meshes.TriangleMesh(mesh.positions + np.float32(64 * far), mesh.triangles)
    inside = np.einsum("tc,tcx->tx", rng.dirichlet(np.ones(3), count), mesh.positions[mesh.triangles])
    corners, middle = mesh.triangles, 3 * count + np.arange(count, dtype=np.uint32)
    parts = np.concatenate([np.stack([corners[:, c], corners[:, c - 2], middle], axis=1) for c in range(3)])
    divided = meshes.TriangleMesh(np.concatenate([mesh.positions, inside.astype(np.float32)]), parts)
    size = float(np.ptp(mesh.positions, axis=0).max()) + 64 * far  # float32 rounds points of the plane
    assert hausdorff_bound(mesh, divided) < 2.0**-19 * size


def test_grids_of_one_plane_are_at_no_distance() -> None:
    def grid(count: int) -> meshes.TriangleMesh:
        x, y = np.meshgrid(*[np.linspace(0, 1, count + 1, dtype=np.float32)] * 2)
        at = (np.arange(count)[:, None] * (count + 1) + np.arange(count)).ravel()
        quads = np.stack([at, at + 1, at + count + 2, at, at + count + 2, at + count + 1], axis=1)
        return meshes.TriangleMesh(
            np.stack([x, y, 0 * x], axis=-1).reshape(-1, 3), quads.reshape(-1, 3).astype(np.uint32)
        )

    assert hausdorff_bound(grid(7), grid(10)) < 2.0**-20


def test_triangles_of_both_surfaces_are_not_looked_at() -> None:
    # Sheets that cross have points that are as near to one as to the other, where quartering would not end.
    mesh = soup(np.random.default_rng(2), 2000, 1.0)
    turned = meshes.TriangleMesh(mesh.positions, np.roll(mesh.triangles[::-1], 1, axis=1))
    parts = _own(
        np.concatenate([mesh.positions, turned.positions]), [mesh.triangles.ravel(), 6000 + turned.triangles.ravel()]
    )
    assert [part.size for part in parts] == [0, 0]
    assert hausdorff_bound(mesh, turned) < 2.0**-16


def test_what_is_missing_counts_from_either_side() -> None:
    mesh = soup(np.random.default_rng(1), 100, 0.01)
    far = meshes.TriangleMesh(mesh.positions + np.float32(0), mesh.triangles[:50])
    gone = mesh.positions[mesh.triangles[50:]].astype(np.float64).reshape(-1, 3)
    expected = meshes.nearest_distances(gone, far.positions, far.triangles).max()
    assert expected <= hausdorff_bound(mesh, far) <= 1.03 * expected
    assert expected <= hausdorff_bound(far, mesh) <= 1.03 * expected
