from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.textures.mips import build_mips, level_shapes, tail_level
from hra.errors import ImageError

sizes = st.integers(1, 70)


@given(sizes, sizes)
def test_planned_shapes_are_those_of_the_built_levels(height: int, width: int) -> None:
    levels = build_mips(np.zeros((height, width, 1), np.uint8))
    assert [level.shape[:2] for level in levels] == level_shapes(height, width)


@given(sizes, sizes, st.integers(1, 80))
def test_the_tail_is_the_first_level_that_fits(height: int, width: int, size: int) -> None:
    shapes, tail = level_shapes(height, width), tail_level(height, width, size)
    assert max(shapes[tail]) <= size
    assert tail == 0 or max(shapes[tail - 1]) > size


def test_levels_keep_the_mean_and_the_dtype() -> None:
    image = np.random.default_rng(0).random((33, 20, 2), np.float32)
    for level in build_mips(image):
        assert level.dtype == np.float32
        np.testing.assert_allclose(level.mean((0, 1)), image.mean((0, 1)), rtol=1e-5)


def test_light_is_averaged_where_colours_are_srgb() -> None:
    image = np.array([[[0], [255]], [[255], [0]]], np.uint8)
    # Half the light of white is 188 in sRGB, not 128 (IEC 61966-2-1).
    assert build_mips(image, srgb=True)[1].item() == 188
    assert build_mips(image)[1].item() in (127, 128)


def test_the_caller_may_change_the_image_later() -> None:
    image = np.zeros((4, 4, 1), np.uint8)
    levels = build_mips(image)
    image[:] = 9
    assert not levels[0].any()
    with pytest.raises(ValueError, match="read-only"):
        levels[0][0, 0] = 1


@pytest.mark.parametrize(
    "image",
    [
        np.zeros((4, 4), np.uint8),
        np.zeros((4, 4, 3)),
        np.zeros((4, 4, 3), np.int32),
        np.zeros((0, 4, 3), np.uint8),
        np.zeros((4, 4, 0), np.uint8),
        np.full((2, 2, 1), np.nan, np.float32),
        np.full((2, 2, 1), np.inf, np.float32),
    ],
)
def test_unusable_images_are_refused(image: np.ndarray) -> None:
    with pytest.raises(ImageError):
        build_mips(image)


def test_the_place_of_a_nan_is_named() -> None:
    image = np.zeros((5, 6, 3), np.float32)
    image[3, 4, 1] = np.nan
    with pytest.raises(ImageError) as caught:
        build_mips(image)
    assert "[3, 4, 1]" in caught.value.where


def test_a_page_needs_a_texel() -> None:
    with pytest.raises(ImageError):
        tail_level(4, 4, 0)
