"""The sheet of one token set: both pictures, a legend of the levels that occur, and the size of a screen."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest
from PIL import Image

from hra.domains import tokens
from hra.domains.tokens.pictures.overlay import level_colours
from hra.errors import ArrayError, MissingExtra


def chosen_of(image: np.ndarray, budget: int = 20) -> tokens.TokenSet:
    allocator = tokens.EvenPyramid()
    return allocator.realize(allocator.allocate((image, ""), budget))


def test_both_pictures_stand_above_a_legend_of_the_levels(smooth_noise):
    image = smooth_noise(128, 500)
    chosen = chosen_of(image)
    sheet = tokens.token_sheet(image, chosen)
    assert (sheet[8:136, 8:508] == tokens.overlay(image, chosen)).all()
    assert np.abs(sheet[8:136, 524:1024] - 255 * chosen.reconstruct()).max() <= 0.51
    legend = {tuple(colour) for colour in sheet[144:, 12]}
    assert legend == {(255, 255, 255)} | {tuple(level_colours(level).tolist()) for level in chosen.levels}


def test_the_unseen_is_named_and_small_images_are_enlarged():
    image = np.full((64, 64, 3), 0.5, np.float32)
    some, all_of_it = (tokens.GridTopK(), tokens.EvenPyramid())
    with_line = tokens.token_sheet(image, some.realize(some.allocate((image, ""), 3)))
    without = tokens.token_sheet(image, all_of_it.realize(all_of_it.allocate((image, ""), 16)))
    assert with_line.shape[1] == without.shape[1] == 2 * (512 + 16)
    assert with_line.shape[0] > without.shape[0]


def test_large_images_are_made_smaller(smooth_noise):
    sheet = tokens.token_sheet(image := smooth_noise(40, 2000), chosen_of(image))
    assert sheet.shape[1] == 2 * (1600 + 16)


def test_another_image_or_no_pillow_is_refused(smooth_noise, monkeypatch: pytest.MonkeyPatch):
    chosen = chosen_of(image := smooth_noise(64, 64), 4)
    with pytest.raises(ArrayError):
        tokens.token_sheet(smooth_noise(64, 65), chosen)
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingExtra, match="hra\\[tokens\\]"):
        tokens.token_sheet(image, chosen)
    assert chosen._repr_png_() is None


def test_notebooks_show_token_sets(smooth_noise):
    chosen = chosen_of(smooth_noise(64, 96), 6)
    png = chosen._repr_png_()
    assert png is not None
    shown = np.asarray(Image.open(io.BytesIO(png)).convert("RGB"))
    assert (shown == tokens.token_sheet(chosen.reconstruct(), chosen)).all()
