"""Nested boxes: exact around their vertices, exact unions, and part of every built mesh."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import meshes
from hra.domains.meshes.mesh.ragged import enclosing_boxes, vertex_boxes


@given(st.integers(0, 10_000), st.sampled_from([1e-9, 1.0, 1e7]))
def test_boxes_are_those_of_their_vertices(seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    positions = (rng.normal(size=(40, 3)) * scale).astype(np.float32)
    sizes = 3 * rng.integers(1, 9, 12)
    indices, offsets = rng.integers(0, 40, sizes.sum()).astype(np.uint32), np.r_[0, np.cumsum(sizes)]
    boxes = vertex_boxes(positions, indices, offsets)
    assert boxes.dtype == np.float32
    for cluster, box in enumerate(boxes):
        corners = positions[indices[offsets[cluster] : offsets[cluster + 1]]]
        np.testing.assert_array_equal(box, [corners.min(axis=0), corners.max(axis=0)])


def test_a_union_is_the_smallest_box_around_its_members(rng: np.random.Generator) -> None:
    boxes = np.sort(rng.normal(size=(10, 2, 3)), axis=1).astype(np.float32)
    unions = enclosing_boxes(boxes, np.array([0, 4, 5, 10]))
    for union, members in zip(unions, (boxes[:4], boxes[4:5], boxes[5:]), strict=True):
        np.testing.assert_array_equal(union, [members[:, 0].min(axis=0), members[:, 1].max(axis=0)])


@pytest.mark.parametrize("name", ["one ball", "islands", "bow tie", "far away", "tiny"])
def test_boxes_of_a_mesh_nest_and_hold_all_of_the_source_beneath(hard_meshes: dict, name: str) -> None:
    clusters = meshes.build(hard_meshes[name], cluster_size=16)
    hierarchy, box = clusters.hierarchy, clusters.hierarchy.attribute("box")
    sources = hierarchy.removed_by < 0
    own = vertex_boxes(clusters.positions, clusters.indices, clusters.offsets)
    np.testing.assert_array_equal(box[sources], own[sources])
    offsets, added = hierarchy.added_nodes
    for group in range(len(hierarchy)):
        fine = added[offsets[group] : offsets[group + 1]]
        expected = [box[fine, 0].min(axis=0), box[fine, 1].max(axis=0)]
        for coarse in np.flatnonzero(hierarchy.removed_by == group):
            np.testing.assert_array_equal(box[coarse], expected)
