"""FLIP: recorded values, what holds for every pair of images, and the images that are refused."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from hra.errors import ArrayError, ImageError, MissingExtra
from hra.files.images import flip, flip_map


def pair() -> tuple[np.ndarray, np.ndarray]:
    """Two smooth images [24, 32, 3] of different colors and edges."""
    y, x = np.mgrid[:24, :32] / 32
    first = np.stack([x, y, 0.5 + 0.5 * np.sin(9 * x * y)], axis=-1)
    second = np.stack([x**1.2, 0.9 * y, 0.5 + 0.5 * np.cos(5 * x + y)], axis=-1)
    return first.astype(np.float32), second.astype(np.float32)


# The upper left pixel, the middle one, the lower right one and the mean, by pixels per degree.
RECORDED = {67.02064: (0.9012011, 0.9608919, 0.9133845, 0.7144531), 30.0: (0.9159704, 0.9603311, 0.9215164, 0.7279706)}


@pytest.mark.parametrize("pixels_per_degree", RECORDED)
def test_the_values_of_the_authors_evaluator(pixels_per_degree: float):
    found = flip_map(*pair(), pixels_per_degree)
    assert (found.shape, found.dtype) == ((24, 32), np.float32)
    values = found[0, 0], found[12, 16], found[23, 31], found.mean()
    np.testing.assert_allclose(values, RECORDED[pixels_per_degree], atol=5e-5)
    assert flip(*pair(), pixels_per_degree) == pytest.approx(found.mean())


def test_without_the_evaluator_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "flip_evaluator", None)
    with pytest.raises(MissingExtra) as caught:
        flip(*pair())
    assert caught.value.fix == "pip install 'hra[textures]'"


def test_equal_images_do_not_differ_and_opposites_do():
    image = pair()[0]
    assert flip(image, image) == 0
    green, blue = (np.broadcast_to(np.array(color, np.float32), (9, 9, 3)) for color in ([0, 1, 0], [0, 0, 1]))
    assert flip(green, blue) == pytest.approx(1, abs=1e-6)


def test_it_does_not_matter_which_image_comes_first_or_whether_grey_has_three_channels():
    first, second = pair()
    np.testing.assert_array_equal(flip_map(first, second), flip_map(second, first))
    grey = first[..., :1], second[..., 1:2]
    wide = [np.repeat(image, 3, axis=2) for image in grey]
    np.testing.assert_array_equal(flip_map(*grey), flip_map(wide[0], wide[1]))


def test_values_beyond_black_and_white_are_clipped():
    first, second = pair()
    np.testing.assert_array_equal(flip_map(3 * first - 1, second), flip_map(np.clip(3 * first - 1, 0, 1), second))


@pytest.mark.parametrize(
    "image",
    [
        np.zeros((4, 4, 2), np.float32),
        np.zeros((4, 4), np.float32),
        np.zeros((0, 4, 3), np.float32),
        np.zeros((4, 4, 3), np.uint8),
        np.full((4, 4, 3), np.nan, np.float32),
    ],
)
def test_other_images_are_refused(image: np.ndarray):
    with pytest.raises(ImageError, match="flip"):
        flip(image, image)


def test_sizes_must_agree_and_the_distance_must_be_positive():
    with pytest.raises(ImageError, match="cannot be compared"):
        flip(np.zeros((4, 4, 3)), np.zeros((4, 5, 3)))
    with pytest.raises(ImageError, match="not positive"):
        flip(*pair(), pixels_per_degree=0)
    with pytest.raises(ArrayError):
        flip(*pair(), pixels_per_degree=float("nan"))
