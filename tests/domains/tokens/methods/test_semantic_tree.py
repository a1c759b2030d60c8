from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import tokens
from hra.domains.tokens import SemanticAtlas, SemanticTree
from hra.domains.tokens.methods.regions import MaskRegions, SlicRegions
from hra.errors import BudgetTooSmall
from tests.helpers.noise import noise


def test_a_large_image(smooth_noise):
    allocator = SemanticTree()
    allocation = allocator.allocate((smooth_noise(1024, 1024), ""), 273)
    assert len(allocator.realize(allocation)) == 273


@given(st.integers(1, 120), st.integers(1, 120), st.integers(1, 60))
def test_a_tree_cut_shows_every_pixel(height, width, budget):
    allocator = SemanticTree(patch=8)
    token_set = allocator.realize(allocator.allocate((noise(height, width), ""), budget))
    assert token_set.token_map().min() == 0


def test_no_token_is_too_few_for_a_tree():
    with pytest.raises(BudgetTooSmall, match="1"):
        SemanticTree().allocate((noise(32, 32), ""), 0)
    assert len(SemanticAtlas().realize(SemanticAtlas().allocate((noise(32, 32), ""), 0))) == 0


@pytest.mark.parametrize("make", [SemanticTree, SemanticAtlas])
def test_masks_and_superpixels(smooth_noise, make):
    masks = np.zeros((1, 200, 150), bool)
    masks[0, 40:120, 30:90] = True
    image = smooth_noise(200, 150)
    for source in (MaskRegions(masks), SlicRegions()):
        allocator = make(source)
        token_set = allocator.realize(allocator.allocate((image, ""), 30))
        assert len(token_set) == 30
        assert tokens.overlay(image, token_set).shape == token_set.reconstruct().shape == image.shape


def test_a_heuristic_claims_no_certificate(smooth_noise):
    image = smooth_noise(64, 64)
    assert SemanticAtlas().allocate((image, ""), 10).status == "heuristic"
    assert SemanticTree().allocate((image, ""), 10).status != "heuristic"
