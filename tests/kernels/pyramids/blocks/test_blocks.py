"""Errors of all levels at once, against one level after another in plain steps; what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.tokens.pyramid.pyramid import PatchPyramid
from hra.errors import ArrayError
from hra.kernels import build_pyramid, enlarged_squares, level_errors, node_errors, take_blocks
from hra.kernels.pyramids.blocks import numba_backend
from hra.kernels.pyramids.blocks.blocks import Along
from tests.helpers.compiled_kinds import kinds_compiled
from tests.helpers.refining import refine_to

BACKENDS = ["reference", "numba", "warp"]


def one_after_another(levels: tuple[np.ndarray, ...], patch: int) -> np.ndarray:
    """Every level refined to an image, subtracted, squared and summed by patch, in double precision."""
    image, shapes = levels[0].astype(np.float64), [level.shape[:2] for level in levels]
    errors = [np.zeros((-(-image.shape[0] // patch), -(-image.shape[1] // patch)))]
    for index in range(1, len(levels)):
        shown = np.clip(refine_to(levels[index], shapes[index - 1 :: -1]), 0, 1)
        squares = np.square(image - shown).sum(axis=2)
        rows = np.add.reduceat(squares, np.arange(0, image.shape[0], patch), axis=0)
        here = np.add.reduceat(rows, np.arange(0, image.shape[1], patch), axis=1)
        errors.append(np.maximum(here, errors[-1]))
    return np.array(errors)


@given(st.integers(1, 70), st.integers(1, 70), st.sampled_from([2, 4, 6, 16]), st.integers(0, 5))
def test_matches_plain_steps_at_any_size(height, width, patch, seed):
    pyramid = PatchPyramid.build(np.random.default_rng(seed).random((height, width, 3), np.float32), patch=patch)
    expected = one_after_another(pyramid.levels, patch)
    np.testing.assert_allclose(pyramid.errors_by_level, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("backend", BACKENDS)
def test_flat_images_have_no_error_at_all(backend):
    for shape in ((64, 64), (37, 51), (1, 99)):
        pyramid = build_pyramid(np.full((2, *shape, 3), 0.25, np.float32), "block_mean")
        assert not level_errors(pyramid, 16, backend=backend).any()


def test_sizes_in_turn_do_not_disturb_each_other():
    pyramids = [
        PatchPyramid.build(np.random.default_rng(3).random((*size, 3), np.float32))
        for size in ((96, 80), (200, 50), (96, 80))
    ]
    first, other, again = (level_errors(pyramid.mips, 16) for pyramid in pyramids)
    assert np.array_equal(first, again)
    assert other == pytest.approx(one_after_another(pyramids[1].levels, 16), rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("kept", [1, 5000])
def test_levels_of_large_images_are_compared_a_few_at_a_time(kept, monkeypatch: pytest.MonkeyPatch):
    pyramid = build_pyramid(np.random.default_rng(0).random((2, 75, 130, 3), np.float32), "block_mean")
    at_once = level_errors(pyramid, 4, backend="numba")
    monkeypatch.setattr(numba_backend, "_KEPT", kept)
    assert (level_errors(pyramid, 4, backend="numba") == at_once).all()


def test_nan_reaches_the_same_blocks_on_every_backend():
    image = np.full((1, 40, 40, 1), 0.5, np.float32)
    image[0, 20, 21] = np.nan
    pyramid = build_pyramid(image, "block_mean", 3)
    found = [np.isnan(level_errors(pyramid, 4, backend=backend)) for backend in BACKENDS]
    assert found[0].sum(axis=(2, 3)).tolist() == [[0, 9, 49]]
    assert all(np.array_equal(found[0], other) for other in found[1:])


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_is_empty_stays_so(backend):
    assert level_errors(build_pyramid(np.empty((0, 8, 8, 3), np.float32), "block_mean"), 4, backend=backend).size == 0
    assert level_errors(build_pyramid(np.empty((2, 0, 8, 3), np.float32), "block_mean"), 4).shape == (2, 1, 0, 2)
    assert node_errors(np.empty((0, 2, 4, 4)), backend=backend)[0].shape == (0, 20)
    along = Along(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))
    nothing = np.empty((0, 0, 3), np.float32)
    assert enlarged_squares(nothing, nothing, along, along, 4, backend=backend).shape == (0, 0)
    pyramid = build_pyramid(np.ones((5, 3, 2), np.float32), "block_mean")
    assert take_blocks(pyramid, np.empty(0, np.int32), 4, backend=backend).shape == (0, 4, 4, 2)


def test_one_kind_is_compiled_whether_images_can_be_written_to():
    along = Along(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), np.zeros(4, np.float32))
    fine, coarse, known = np.ones((4, 4, 3), np.float32), np.ones((2, 2, 3), np.float32), set()
    kept = np.ones_like(fine), np.ones_like(coarse)
    for each in kept:
        each.flags.writeable = False
    for images in ((fine, coarse), (kept[0], coarse), kept):
        assert not enlarged_squares(*images, along, along, 4, backend="numba").any()
        known.add(*kinds_compiled(numba_backend._add_bands))
    assert len(known) == 1 and fine.flags.writeable and coarse.flags.writeable


def test_what_does_not_fit_is_refused():
    pyramid = build_pyramid(np.ones((2, 8, 8, 3), np.float32), "block_mean")
    for wrong, patch in ((build_pyramid(np.ones((8, 8, 3), np.uint8), "block_mean"), 4), (pyramid, 3), (pyramid, 0)):
        with pytest.raises(ArrayError):
            level_errors(wrong, patch)
    errors = level_errors(pyramid, 4)
    for weight in (np.ones((2, 2)), np.ones((2, 2, 2), np.float32)):
        with pytest.raises(ArrayError, match="does not fit"):
            node_errors(errors, weight)
    with pytest.raises(ArrayError, match="a block is not in"):
        take_blocks(pyramid, np.array([14], np.int32), 4)
    along = Along(np.zeros(8, np.int64), np.full(8, 4), np.zeros(8, np.float32))
    with pytest.raises(ArrayError, match="axis does not fit"):
        enlarged_squares(np.ones((8, 8, 3), np.uint8), np.ones((4, 4, 3), np.uint8), along, along, 4)
