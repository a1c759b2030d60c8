"""Errors of all levels at once, against one level after another in plain steps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.tokens.pyramid.level_errors import errors_of_levels, squared_errors
from hra.domains.tokens.pyramid.pyramid import PatchPyramid
from tests.helpers.refining import refine_to


def reference(levels: tuple[np.ndarray, ...], patch: int) -> np.ndarray:
    """Every level refined to an image, subtracted, squared and summed by patch, in double precision."""
    image, shapes = levels[0].astype(np.float64), [level.shape[:2] for level in levels]
    errors = []
    for index in range(1, len(levels)):
        shown = np.clip(refine_to(levels[index], shapes[index - 1 :: -1]), 0, 1)
        squares = np.square(image - shown).sum(axis=2)
        rows = np.add.reduceat(squares, np.arange(0, image.shape[0], patch), axis=0)
        errors.append(np.add.reduceat(rows, np.arange(0, image.shape[1], patch), axis=1))
    return np.array(errors)


@given(st.integers(1, 70), st.integers(1, 70), st.sampled_from([2, 4, 6, 16]), st.integers(0, 5))
def test_matches_plain_steps_at_any_size(height, width, patch, seed):
    image = np.random.default_rng(seed).random((height, width, 3), np.float32)
    levels = PatchPyramid.build(image, patch=patch).levels
    if len(levels) > 1:
        np.testing.assert_allclose(errors_of_levels(levels, patch), reference(levels, patch), rtol=1e-4, atol=1e-6)


def test_flat_images_have_no_error_at_all():
    for shape in ((64, 64), (37, 51), (1, 99)):
        image = np.full((*shape, 3), 0.3, np.float32)
        assert not squared_errors(PatchPyramid.build(image).levels, 16).any()


def test_sizes_in_turn_do_not_disturb_each_other(smooth_noise):
    pyramids = [PatchPyramid.build(smooth_noise(*size)) for size in ((96, 80), (200, 50), (96, 80))]
    first, other, again = (errors_of_levels(pyramid.levels, 16) for pyramid in pyramids)
    assert np.array_equal(first, again)
    assert other == pytest.approx(reference(pyramids[1].levels, 16), rel=1e-4, abs=1e-6)
