"""Token sets: values, boxes, relevance and order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import tokens
from hra.errors import HraError


@pytest.fixture
def token_set(smooth_noise) -> tokens.PatchTokens:
    allocator = tokens.PyramidSampling()
    return allocator.realize(allocator.allocate((smooth_noise(100, 230), "right"), 30))


def test_shapes_and_types(token_set):
    assert token_set.values.shape == (30, 768) and token_set.values.dtype == np.float32
    assert token_set.places.shape == (30, 3) and token_set.places.dtype == np.int32
    assert token_set.boxes.shape == (30, 4) and token_set.boxes.dtype == np.int32
    assert token_set.image_size == (100, 230) and len(token_set) == 30


def test_values_are_the_pyramids_patches(smooth_noise, token_set):
    pyramid = tokens.PatchPyramid.build(smooth_noise(100, 230))
    for value, (level, x, y) in zip(token_set.values, token_set.places, strict=True):
        pixels = pyramid.levels[level][16 * y : 16 * y + 16, 16 * x : 16 * x + 16]
        assert np.array_equal(value.reshape(16, 16, 3)[: pixels.shape[0], : pixels.shape[1]], pixels)


def test_boxes_follow_from_positions(token_set):
    for (level, x, y), box in zip(token_set.places, token_set.boxes, strict=True):
        side = 16 * 2**level
        assert box.tolist() == [x * side, y * side, min((x + 1) * side, 230), min((y + 1) * side, 100)]


def test_relevance_is_the_mean_over_the_region(smooth_noise, token_set):
    scores = tokens.CueRelevance()(tokens.TokenContext.of(smooth_noise(100, 230), "right"))
    for (level, x, y), value in zip(token_set.places, token_set.relevance, strict=True):
        side = 2**level
        assert value == pytest.approx(scores[y * side : (y + 1) * side, x * side : (x + 1) * side].mean(), rel=1e-5)


def test_order_falls_and_keeps_ties(token_set):
    assert sorted(token_set.order.tolist()) == list(range(30))
    assert (np.diff(token_set.relevance[token_set.order]) <= 0).all()
    even = tokens.PatchTokens(token_set.values, token_set.places, np.ones(30), token_set.image_size, token_set.patch)
    assert even.order.tolist() == list(range(30))


def test_every_pixel_is_shown_by_its_finest_token(token_set):
    shown = token_set.token_map()
    for y, x in ((0, 0), (99, 229), (50, 17), (13, 200)):
        over = [k for k, (x0, y0, x1, y1) in enumerate(token_set.boxes) if x0 <= x < x1 and y0 <= y < y1]
        assert shown[y, x] == min(over, key=lambda k: token_set.places[k, 0])
        assert token_set.shown_detail()[y, x] == token_set.detail[shown[y, x]]


def test_what_no_token_covers_is_shown_by_none(smooth_noise):
    allocator = tokens.GridTopK()
    chosen = allocator.realize(allocator.allocate((smooth_noise(64, 80), ""), 3))
    assert (chosen.token_map() >= 0).sum() == 3 * 16 * 16
    assert np.isinf(chosen.shown_detail()).sum() == 64 * 80 - 3 * 16 * 16


def test_positions_are_those_of_the_models_own_tokens(smooth_noise):
    allocator = tokens.GridTopK()
    patches = allocator.realize(allocator.allocate((smooth_noise(100, 230), ""), 10_000))
    level, x, y = patches.places.T
    assert np.array_equal(patches.positions("centres"), np.stack([x, y], axis=1))  # at the clipped border, too
    assert np.array_equal(patches.positions("level_xy"), patches.places)
    assert np.array_equal(patches.positions("boxes"), np.stack([x, y, x + 1, y + 1, level + 1, level + 1], axis=1))
    assert np.array_equal(patches.positions("centres", grid=(7, 15)), patches.positions("centres"))


def test_coarse_patches_lie_between_the_cells_that_they_cover(token_set):
    centres, boxes = token_set.positions("centres"), token_set.positions("boxes")
    side, limit = 2.0 ** token_set.levels[:, None], np.array([15, 7])
    first, last = side * token_set.places[:, 1:], np.minimum(side * (token_set.places[:, 1:] + 1), limit)
    np.testing.assert_allclose(centres, (first + last) / 2 - 0.5)
    assert np.array_equal(boxes, np.concatenate([first, last, last - first], axis=1))
    assert np.array_equal(token_set.positions("level_xy"), token_set.places)


@given(st.integers(1, 300), st.integers(1, 300), st.integers(1, 40), st.integers(1, 30), st.integers(1, 30))
def test_centres_lie_in_the_picture_on_any_grid(height, width, budget, rows, columns):
    image = np.random.default_rng(height).random((height, width, 3), dtype=np.float32)
    allocator = tokens.MultiFixation(patch=8)
    chosen = allocator.realize(allocator.allocate((image, ""), budget))
    for grid in (None, (rows, columns)):
        limit = np.array((-(-width // 8), -(-height // 8)) if grid is None else (columns, rows))
        centres = chosen.positions("centres", grid)
        assert (centres > -0.5).all() and (centres < limit - 0.5).all()
        assert (chosen.positions("boxes", grid)[:, 2:4] <= limit + 1e-4).all()


def test_positions_in_another_grid_are_stretched_over_the_image(smooth_noise):
    allocator = tokens.GridTopK()
    whole = allocator.realize(allocator.allocate((smooth_noise(96, 128), ""), 48))
    found = whole.positions("boxes", grid=(24, 24))
    assert found[0].tolist() == [0, 0, 3, 4, 3, 4] and found[-1].tolist() == [21, 20, 24, 24, 3, 4]
    with pytest.raises(HraError, match="kind 'wavelet' is unknown"):
        whole.positions("wavelet")  # pyright: ignore[reportArgumentType]


def test_dropped_is_the_coarsest_level_that_shows_a_pixel_of_the_patch(smooth_noise, token_set):
    dropped = token_set.dropped
    assert dropped.shape == (7, 15) and dropped.max() == token_set.levels.max() and np.isfinite(dropped).all()
    shown = token_set.shown_detail()
    assert dropped[6, 14] == shown[96:, 224:].max() and dropped[2, 3] == shown[32:48, 48:64].max()
    allocator = tokens.GridTopK()
    few = allocator.realize(allocator.allocate((smooth_noise(64, 80), ""), 3))
    assert (few.dropped == 0).sum() == 3 and np.isinf(few.dropped).sum() == 17


def test_tokens_know_the_fixation_that_took_them(smooth_noise):
    allocator = tokens.MultiFixation(threshold=1.0)
    steps = allocator.look((smooth_noise(256, 320), "left"), 60)
    chosen = allocator.realize(steps[-1])
    earlier = allocator.realize(steps[0])
    assert chosen.fixations is not None and earlier.fixations is not None
    first = dict(zip(steps[0].cut.tolist(), earlier.fixations.tolist(), strict=True))
    assert set(map(tuple, first.values())) == {(160.0, 128.0)}
    for node, gaze in zip(steps[-1].cut.tolist(), chosen.fixations.tolist(), strict=True):
        assert gaze == first.get(node, gaze)
    assert len(np.unique(chosen.fixations, axis=0)) == 3
    offset = chosen.centres - chosen.fixations
    np.testing.assert_allclose(chosen.eccentricity, np.hypot(*offset.T))
    np.testing.assert_allclose(chosen.eccentricity * np.cos(chosen.angle), offset[:, 0], atol=1e-9)


def test_foveated_tokens_are_densest_at_their_fixation(smooth_noise):
    allocator = tokens.FoveatedPyramid()
    context = allocator.context(smooth_noise(256, 320), "top left")
    chosen = allocator.realize(allocator.allocate(context, 60))
    assert chosen.fixations is not None and len(np.unique(chosen.fixations, axis=0)) == 1
    fine = chosen.levels == 0
    assert chosen.eccentricity[fine].mean() < chosen.eccentricity[~fine].mean()
    (batched,) = allocator.realize_batch(allocator.allocate_batch([context], 60))
    assert np.array_equal(batched.places, chosen.places)
    assert np.array_equal(batched.eccentricity, chosen.eccentricity)


def test_without_a_fixation_there_is_no_eccentricity(token_set):
    assert np.isnan(token_set.eccentricity).all() and np.isnan(token_set.angle).all()


def test_images_are_taken_in_the_forms_that_users_have_them(smooth_noise, tmp_path):
    torch, pillow = pytest.importorskip("torch"), pytest.importorskip("PIL.Image")
    bytes_ = np.rint(smooth_noise(64, 80) * 255).astype(np.uint8)
    pillow.fromarray(bytes_).save(tmp_path / "image.png")
    forms = (
        *(tmp_path / "image.png", str(tmp_path / "image.png"), pillow.fromarray(bytes_)),
        *(bytes_, bytes_.transpose(2, 0, 1), bytes_.astype(np.float32) / 255),
        *(torch.tensor(bytes_), torch.tensor(bytes_).permute(2, 0, 1), torch.tensor(bytes_).permute(2, 0, 1) / 255),
    )
    allocator = tokens.PyramidSampling()
    sets = [allocator.realize(allocator.allocate((form, "left"), 9)) for form in forms]
    assert all(np.allclose(each.values, sets[0].values, atol=1e-6) for each in sets)


def test_the_repr_is_short(token_set):
    assert repr(token_set) == "PatchTokens(30 tokens of 768 values, levels 0 to 2, of 100 x 230 pixels)"
