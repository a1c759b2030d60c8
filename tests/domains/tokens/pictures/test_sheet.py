"""The sheet of one token set: both pictures, a legend of the levels that occur, and the size of a screen."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest
from PIL import Image

from hra.domains import tokens
from hra.domains.tokens.pictures.sheet import level_colours
from hra.domains.tokens.pyramid.downsample import resize
from hra.errors import ArrayError, MissingExtra
from hra.files.images import psnr


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
    chosen = chosen_of(image := smooth_noise(40, 2000))
    sheet = tokens.token_sheet(image, chosen)
    assert sheet.shape[1] == 2 * (1600 + 16)
    left, right = sheet[8:40, 8:1608] / 255, sheet[8:40, 1624:3224] / 255
    assert psnr(right, resize(chosen.reconstruct(), (32, 1600))) > 45
    edges = np.flatnonzero((np.abs(left - resize(image, (32, 1600))).mean(axis=2) > 0.2).all(axis=0))
    borders = np.unique(chosen.boxes[:, ::2]) * 1600 / 2000
    assert edges.size and np.abs(edges[:, None] - borders).min(axis=1).max() <= 3


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


def test_outlines_are_coloured_and_the_unseen_is_dimmed():
    image = np.full((64, 64, 3), 0.8, np.float32)
    allocator = tokens.GridTopK(lambda context: np.eye(4))
    token_set = allocator.realize(allocator.allocate((image, ""), 4))
    picture = tokens.overlay(image, token_set)
    assert picture.dtype == np.uint8 and picture.shape == image.shape
    for y, x in [(0, 5), (15, 5), (20, 16), (20, 31)]:
        assert picture[y, x].tolist() == [204, 94, 0]  # never lighter than light ground
    assert picture[5, 5].tolist() == [204] * 3  # inside a token: 0.8 * 255
    assert picture[5, 40].tolist() == [71] * 3  # 0.8 * 0.35 * 255


def test_levels_have_different_colours_and_fine_ones_lie_on_top(smooth_noise):
    image = 0.8 + 0.2 * smooth_noise(128, 128)  # lighter than most lines, which then have their own colours
    allocator = tokens.PyramidSampling()
    token_set = allocator.realize(allocator.allocate((image, "top left"), 20))
    picture = tokens.overlay(image, token_set)
    colours = {}
    for (level, _, _), (x0, y0, _, _) in zip(token_set.places, token_set.boxes, strict=True):
        if not any((box[:2] == (x0, y0)).all() for box in token_set.boxes[token_set.places[:, 0] < level]):
            lines = level_colours(level)
            assert (picture[y0, x0] == np.minimum(lines, np.rint(255 * image[y0, x0]))).all()
            colours.setdefault(int(level), set()).add(tuple(lines.tolist()))
    assert len(colours) > 1 and all(len(found) == 1 for found in colours.values())
    assert len(set.union(*colours.values())) == len(colours)


def test_no_tokens_dim_everything():
    image = np.ones((20, 20, 3), np.float32)
    allocator = tokens.GridTopK()
    picture = tokens.overlay(image, allocator.realize(allocator.allocate((image, ""), 0)))
    assert (picture == 89).all()


def test_another_image_is_refused(smooth_noise):
    allocator = tokens.GridTopK()
    token_set = allocator.realize(allocator.allocate((smooth_noise(40, 40), ""), 2))
    with pytest.raises(ArrayError):
        tokens.overlay(smooth_noise(40, 41), token_set)


@pytest.mark.parametrize("ink", [0.0, 1.0])
def test_lines_cross_no_text_out(ink: float):
    image = np.full((64, 64, 3), 1 - ink, np.float32)
    image[15:17, 4:60] = ink  # a stroke along the edge of patches
    allocator = tokens.GridTopK(lambda context: np.ones((4, 4)))
    picture = tokens.overlay(image, allocator.realize(allocator.allocate((image, ""), 16)))
    assert (picture[15:17, 4:60] == 255 * ink).all()
    assert (picture[15:17, :4] != 255 * (1 - ink)).any()
