"""Where regions come from: masks, superpixels, and the hybrid of regions and grid."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from hra.domains.tokens.methods.regions import (
    ForegroundRegions,
    Linkage,
    MaskRegions,
    PatchRegions,
    SlicRegions,
    importance,
)
from hra.domains.tokens.methods.regions.region_sources import object_labels
from hra.errors import ArrayError


def two_masks(height: int = 64, width: int = 80) -> np.ndarray:
    masks = np.zeros((2, height, width), bool)
    masks[0, 5:41, 7:43] = True
    masks[1, 20:30, 20:75] = True
    return masks


@pytest.mark.parametrize("linkage", Linkage)
def test_patches_of_one_colour_are_merged_first(context_of, linkage):
    context = context_of(64, 64)
    context.pyramid.levels[0][:] = 0.2
    context.pyramid.levels[0][:32, 32:, 0] = 0.9
    labels = PatchRegions(linkage).build(context).cut(2)
    red = np.zeros((64, 64), bool)
    red[:32, 32:] = True
    assert np.unique(labels[red]).size == 1 and not np.isin(labels[~red], labels[0, 40]).any()


def test_masks_are_regions_of_the_tree(context_of):
    masks = two_masks()
    tree = MaskRegions(masks).build(context_of(64, 80))
    objects = object_labels(masks, (64, 80))
    # Mask 0 in one piece around mask 1, mask 1, and the rest.
    regions = tree.cut(3)
    for number in range(3):
        assert np.unique(regions[objects == number]).size == 1
    assert np.unique(regions).size == 3


def test_the_unlabelled_rest_is_a_region_for_each_connected_part(context_of):
    masks = np.zeros((1, 64, 64), bool)
    masks[0, :, 20:40] = True
    regions = MaskRegions(masks).build(context_of(64, 64)).cut(3)
    assert len({regions[0, 0], regions[0, 30], regions[0, 50]}) == 3


def test_masks_come_from_a_callable_once_and_as_labels(context_of):
    calls = []
    labels = object_labels(two_masks(), (64, 80))

    def model(image: np.ndarray) -> np.ndarray:
        calls.append(image.shape)
        return labels

    source, context = MaskRegions(model), context_of(64, 80)
    assert source.tree(context) is source.tree(context)
    assert calls == [(64, 80, 3)]
    assert np.array_equal(source.tree(context).merges, MaskRegions(two_masks()).build(context).merges)


def test_sources_are_pickled_without_their_trees(context_of):
    source, context = SlicRegions(segments=7), context_of(32, 32)
    source.tree(context)
    copy = pickle.loads(pickle.dumps(source))
    assert copy == source and hash(copy) == hash(source)
    assert np.array_equal(copy.tree(context).merges, source.tree(context).merges)


def test_the_smaller_mask_is_on_top_and_tiny_ones_are_dropped():
    masks = np.zeros((3, 40, 40), bool)
    masks[0, :20, :20] = True
    masks[1] = True
    masks[2, 30:40, 30:40] = True
    labels = object_labels(masks, (40, 40))
    assert labels[0, 0] == 1 and labels[39, 0] == 2 and labels[39, 39] == 2
    assert object_labels(np.where(labels == 1, 7, -3), (40, 40))[0].tolist() == [1] * 20 + [0] * 20
    assert object_labels(np.zeros((0, 40, 40), bool), (40, 40)).max() == 0


@pytest.mark.parametrize("masks", [np.zeros((2, 40, 41), bool), np.zeros((40, 40)), np.zeros((2, 40, 40), int)])
def test_masks_of_another_form_are_refused(masks):
    with pytest.raises(ArrayError, match="masks"):
        object_labels(masks, (40, 40))


def test_superpixels_become_leaves(context_of):
    pytest.importorskip("skimage")
    tree = SlicRegions(segments=40).build(context_of(120, 160))
    assert 10 <= tree.leaves <= 80
    assert np.array_equal(np.unique(tree.labels), np.arange(tree.leaves))


def test_the_background_stays_grid_and_the_foreground_grows(context_of):
    relevance = np.zeros((8, 8))
    relevance[:, :4] = 1
    context = context_of(128, 128, relevance=relevance)
    context.pyramid.levels[0][:] = 0.5
    tree = ForegroundRegions().build(context)
    # The right half is two squares of 4 x 4 patches, which are joined before they meet the left half.
    left, right = ({*np.unique(tree.cut(2)[:, half])} for half in (slice(64), slice(64, 128)))
    assert len(left) == len(right) == 1 and left != right
    sides = {
        tuple(box[2:] - box[:2]) for node, box in enumerate(tree.boxes) if box[0] >= 64 and tree.areas[node] >= 1024
    }
    assert sides <= {(32, 32), (64, 32), (64, 64), (64, 128)}
    assert sorted(tree.merges.ravel()) == list(range(2 * 63))


def test_without_background_the_hybrid_is_the_atlas(context_of):
    context = context_of(96, 96)
    context.pyramid.levels[0][:] = 0.5
    hybrid, atlas = (source.build(context) for source in (ForegroundRegions(), PatchRegions()))
    for count in (1, 5, 36):
        assert np.unique(hybrid.cut(count)).size == np.unique(atlas.cut(count)).size == count


def test_importance_weighs_relevance_and_gradients(context_of):
    context = context_of(32, 32, relevance=[[4, 0], [2, 0]])
    context.pyramid.levels[0][:] = 0.5
    assert importance(context) == pytest.approx(np.array([[0.6, 0], [0.3, 0]]))
    context = context_of(32, 32, relevance=[[4, 0], [2, 0]])
    context.pyramid.levels[0][:] = 0.5
    context.pyramid.levels[0][20:28, 20:28] = 1
    assert importance(context) == pytest.approx(np.array([[0.6, 0], [0.3, 0.4]]))
