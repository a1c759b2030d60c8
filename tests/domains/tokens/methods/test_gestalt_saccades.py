"""Gestalt and saccades: the base is always there, patches go where relevance is, and what the tokens show."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.tokens.methods.gestalt.compressed import CompressedGestalt
from hra.domains.tokens.methods.gestalt.gestalt import Gestalt, ResizedGestalt, boxes_between, cells_between
from hra.domains.tokens.methods.gestalt_saccades import GestaltSaccades
from hra.errors import ArrayError, BudgetTooSmall

KINDS = [ResizedGestalt, CompressedGestalt]


def test_all_of_the_base_and_the_most_relevant_patches(smooth_noise):
    image, scores = smooth_noise(1024, 1024), np.random.default_rng(0).random((64, 64))
    allocator = GestaltSaccades(lambda context: scores)
    token_set = allocator.realize(allocator.allocate((image, ""), 256 + 273))
    assert len(token_set) == 529 and len(token_set.base) == 256 and len(token_set.saccades) == 273
    assert np.sort(token_set.relevance[256:]) == pytest.approx(np.sort(scores.ravel())[-273:])
    x, y = token_set.saccades[0]
    assert np.array_equal(token_set.values[256].reshape(16, 16, 3), image[16 * y : 16 * y + 16, 16 * x : 16 * x + 16])
    assert token_set.centres_yx[256].tolist() == [16 * y + 8, 16 * x + 8]
    assert token_set.centres_yx[17].tolist() == [96, 96]
    assert (np.diff(token_set.relevance[token_set.order]) <= 0).all()
    with pytest.raises(BudgetTooSmall, match="256"):
        allocator.allocate((image, ""), 255)


def test_the_base_of_llava():
    allocator = GestaltSaccades(patch=14, gestalt=ResizedGestalt(24, 24))
    image = np.random.default_rng(0).random((672, 672, 3), dtype=np.float32)
    token_set = allocator.realize(allocator.allocate((image, ""), 849))
    assert len(token_set.base) == 576 and len(token_set.saccades) == 273
    assert token_set.values.shape == (849, 3 * 14**2)


@given(st.integers(1, 300), st.integers(1, 300), st.integers(1, 20), st.integers(1, 20), st.sampled_from(KINDS))
def test_cells_tile_the_image(height, width, rows, columns, kind):
    gestalt: Gestalt = kind(rows, columns)
    borders = gestalt.borders((height, width), 8)
    grid = gestalt.grid((height, width), 8)
    assert tuple(edges.size - 1 for edges in borders) == grid
    cells = cells_between(borders)
    assert cells.shape == (height, width)
    for number, (x0, y0, x1, y1) in enumerate(boxes_between(borders)):
        assert x0 < x1 and y0 < y1 and (cells[y0:y1, x0:x1] == number).all()
    assert np.unique(cells).size == grid[0] * grid[1]


def test_the_resized_base_shows_the_image_and_saccades_are_exact(smooth_noise):
    image = smooth_noise(300, 420)
    allocator = GestaltSaccades(gestalt=ResizedGestalt(8, 8))
    bare, full = (allocator.realize(allocator.allocate((image, ""), budget)) for budget in (64, 120))
    errors = [np.mean((token_set.reconstruct() - image) ** 2) for token_set in (bare, full)]
    assert errors[1] < errors[0] < np.var(image)
    shown, over = full.reconstruct(), full.token_map() >= 64
    assert np.array_equal(shown[over], image[over])
    assert np.array_equal(shown[~over], bare.reconstruct()[~over])
    assert (full.shown_detail()[over] == 0).all() and (full.shown_detail()[~over] > 0).all()


def test_nothing_is_encoded_twice():
    image = np.random.default_rng(0).random((100, 200, 3), dtype=np.float32)
    allocator = GestaltSaccades()
    context = allocator.context(image, "")
    token_set = allocator.realize(allocator.allocate(context, 500))
    assert len(token_set) == 7 * 13 and not len(token_set.saccades)
    np.testing.assert_allclose(token_set.reconstruct(), image, rtol=0, atol=1e-6)


def test_the_gestalt_vector_is_a_mean_of_base_tokens(smooth_noise):
    allocator = GestaltSaccades(gestalt=ResizedGestalt(2, 2))
    token_set = allocator.realize(allocator.allocate((smooth_noise(128, 128), ""), 10))
    assert token_set.gestalt_vector() == pytest.approx(token_set.values[:4].mean(axis=0), abs=1e-6)
    query = np.random.default_rng(0).normal(size=768).astype(np.float32)
    scores = np.exp(token_set.values[:4] @ query / np.sqrt(768))
    weighted = token_set.gestalt_vector("attention", query=query)
    assert weighted == pytest.approx((scores / scores.sum()) @ token_set.values[:4], abs=1e-5)
    assert token_set.gestalt_vector("cls", cls=query) is query


def test_gestalt_vectors_of_embeddings_keep_their_gradient(smooth_noise):
    torch = pytest.importorskip("torch")
    allocator = GestaltSaccades(gestalt=ResizedGestalt(2, 2))
    token_set = allocator.realize(allocator.allocate((smooth_noise(128, 128), ""), 10))
    features = torch.rand(8, 8, 16, requires_grad=True)
    query = torch.rand(16)
    for kind in ("mean", "attention"):
        vector = token_set.gestalt_vector(kind, token_set.pool(features), query=query)
        assert vector.shape == (16,) and vector.requires_grad
    for kind, wrong in (("attention", {}), ("cls", {"cls": torch.rand(3)}), ("sum", {})):
        with pytest.raises(ArrayError):
            token_set.gestalt_vector(kind, token_set.pool(features), **wrong)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("kind", KINDS)
def test_a_grid_has_cells(kind):
    with pytest.raises(ArrayError):
        kind(0, 3)
