"""How normals change from the source: samples on its surface, carried as a plain loop carries them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import meshes
from hra.domains.meshes.distances.normal_changes import SAMPLES, Surface, draw_samples, normal_changes
from hra.domains.meshes.distances.surface import surface_area
from tests.helpers.seamed_meshes import globe, grid
from tests.helpers.surface_distance import distances

FLAT = np.zeros((0, 3), np.float32)


def surface_of(clusters: meshes.ClusterMesh) -> Surface:
    normals = FLAT if clusters.attributes is None else clusters.attributes.normals
    return Surface(clusters.positions, FLAT if normals is None else normals, clusters.indices, clusters.offsets)


def unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def normal_at(surface: Surface, corners: np.ndarray, point: np.ndarray) -> np.ndarray:
    """The normal of a triangle at the foot of a point, drawn into the triangle."""
    a, b, c = surface.positions[corners].astype(np.float64)
    if not len(surface.normals):
        return unit(np.cross(b - a, c - a))
    shares = np.linalg.lstsq(np.stack([b - a, c - a], axis=1), point - a, rcond=None)[0].clip(0)
    shares /= max(shares.sum(), 1.0)
    return unit(np.array([1 - shares.sum(), *shares]) @ surface.normals[corners])


def plain_changes(clusters: meshes.ClusterMesh) -> np.ndarray:
    """`normal_changes` by lists and a search of all triangles."""
    surface, hierarchy = surface_of(clusters), clusters.hierarchy
    samples = draw_samples(surface, hierarchy)
    ends = np.cumsum([0, *samples.counts])
    held = [list(range(*ends[c : c + 2])) for c in range(len(samples.counts))]
    result = np.zeros(len(held))
    for r in reversed(range(len(hierarchy))):
        added, removed = (np.flatnonzero(by == r) for by in (hierarchy.added_by, hierarchy.removed_by))
        owners = np.repeat(removed, clusters.triangles_per_cluster[removed])
        triangles = clusters.triangles(removed)
        squares, weights, taken = [], [], {c: [] for c in removed.tolist()}
        carried = [s for c in added.tolist() for s in held[c]]
        points = np.repeat(samples.points[carried], len(triangles), axis=0)
        near = distances(points, np.tile(surface.positions[triangles].astype(np.float64), (len(carried), 1, 1)))
        for s, k in zip(carried, near.reshape(len(carried), -1).argmin(axis=1).tolist(), strict=True):
            point = samples.points[s]
            along = abs(normal_at(surface, triangles[k], point) @ samples.normals[s])
            squares.append(max(2 - 2 * along, 0.0))
            weights.append(samples.weight[s])
            taken[int(owners[k])].append(s)
        result[removed] = max(np.sqrt(np.average(squares, weights=weights)), result[added].max())
        for c, found in taken.items():
            kept = min(len(found), SAMPLES)
            held[c] = [one for i, one in enumerate(found) if (i + 1) * kept // len(found) > i * kept // len(found)]
    return result


@pytest.fixture(scope="module")
def small(make_closed) -> meshes.ClusterMesh:
    return meshes.build(make_closed(3, bumps=0.5), cluster_size=16, group_size=3)


def test_changes_are_those_of_a_plain_loop(small: meshes.ClusterMesh) -> None:
    found, plain = normal_changes(surface_of(small), small.hierarchy), plain_changes(small)
    # Beyond an edge that bulges a sample is as near to both sides, and may go to either.
    np.testing.assert_allclose(found, plain, rtol=0.2, atol=1e-6)
    assert (np.abs(found - plain) <= 0.05 * plain).mean() > 0.95
    assert (np.abs(found - plain) <= 1e-4 * plain).mean() > 0.8
    assert found.max() > 0.1


def test_vertex_normals_count_where_there_are_any() -> None:
    clusters = meshes.build(globe(16, 12), cluster_size=16, group_size=3)
    found = normal_changes(surface_of(clusters), clusters.hierarchy)
    # A sample that is as near to two triangles may go to either.
    assert np.median(np.abs(found - plain_changes(clusters))) < 1e-3
    flat = normal_changes(surface_of(replace(clusters, attributes=None)), clusters.hierarchy)
    finest = clusters.hierarchy.attribute("level") == 1
    assert (flat[finest] > found[finest]).all()


def test_samples_are_spread_over_the_source(small: meshes.ClusterMesh) -> None:
    surface, source = surface_of(small), small.hierarchy.removed_by < 0
    samples = draw_samples(surface, small.hierarchy)
    assert (samples.counts == np.where(source, SAMPLES, 0)).all()
    owners = np.repeat(np.arange(len(source)), samples.counts)
    area = surface_area(small.positions, small.indices, small.offsets)
    np.testing.assert_allclose(np.bincount(owners, samples.weight, len(source)), np.where(source, area, 0))
    np.testing.assert_allclose(np.linalg.norm(samples.normals, axis=1), 1)
    mesh = small.mesh(np.flatnonzero(source))
    assert meshes.nearest_distances(samples.points, mesh.positions, mesh.triangles).max() < 1e-6
    middle = (samples.points * samples.weight[:, None]).sum(axis=0) / samples.weight.sum()
    corners = mesh.positions[mesh.triangles].astype(np.float64)
    across = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    np.testing.assert_allclose(middle, np.average(corners.mean(axis=1), axis=0, weights=across), atol=0.02)


@given(st.integers(0, 2**32 - 1), st.sampled_from([16, 32]))
def test_changes_never_fall_and_are_zero_at_the_source(seed: int, cluster_size: int) -> None:
    rng = np.random.default_rng(seed)
    heights = rng.normal(size=(13, 13)) * 0.05
    x, y = np.meshgrid(np.linspace(0, 1, 13), np.linspace(0, 1, 13))
    source = meshes.from_arrays(np.stack([x, y, heights], -1).reshape(-1, 3), grid(12, 12))
    clusters = meshes.build(source, cluster_size=cluster_size, group_size=3, certified=False, threads=1)
    hierarchy = clusters.hierarchy
    changes = normal_changes(surface_of(clusters), hierarchy)
    assert (changes[hierarchy.removed_by < 0] == 0).all() and (changes <= np.float32(np.sqrt(2))).all()
    added = np.flatnonzero(hierarchy.added_by >= 0)
    above = np.full(len(hierarchy), np.inf, np.float32)
    removed = hierarchy.removed_by >= 0
    above[hierarchy.removed_by[removed]] = changes[removed]
    assert (changes[added] <= above[hierarchy.added_by[added]]).all()


def test_a_plane_changes_nothing(make_grid) -> None:
    clusters = meshes.build(make_grid(24), cluster_size=16, group_size=3)
    assert normal_changes(surface_of(clusters), clusters.hierarchy).max() < 1e-3
