"""The depth pyramid on the GPU equals the reference over the same depth, at every size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra import Camera
from hra.errors import ArrayError
from hra.kernels import Pyramid, build_pyramid, rect_max, rect_min
from hra.kernels.raster import DrawList, HiZ, VisibilityBuffer


def assert_equals_reference(context, size: tuple[int, int], reversed_depth: bool) -> None:
    """Draw random triangles, build the pyramid, compare."""
    random = np.random.default_rng(size)
    corners = random.uniform(-2, 2, (60, 1, 3)) + random.uniform(-1, 1, (60, 3, 3))
    camera = Camera.perspective((0, 0, 5), (0, 0, 0), viewport=size, reversed_depth=reversed_depth)
    with VisibilityBuffer(context, size, reversed_depth) as buffer, HiZ(buffer) as hiz:
        with DrawList(context, corners.reshape(-1, 3), np.arange(180).reshape(-1, 3)) as draws:
            buffer.draw(draws, camera.projection @ camera.view)
        hiz.build()
        found, depth = hiz.pyramid(), buffer.read().depth
        assert_same(found, build_pyramid(depth[..., None], "min" if reversed_depth else "max", backend="reference"))
        assert_same_extrema(hiz, found, random)


def assert_same(found: Pyramid, expected: Pyramid) -> None:
    assert (found.layout, found.reduce) == (expected.layout, expected.reduce)
    np.testing.assert_array_equal(found.data, expected.data)


def assert_same_extrema(hiz: HiZ, pyramid: Pyramid, random: np.random.Generator) -> None:
    height, width = pyramid.layout.sizes[0]
    rects = random.integers(-3, [width + 3, height + 3, width + 3, height + 3], (200, 4)).astype(np.int32)
    rects[:100, 2:] = np.maximum(rects[:100, 2:], rects[:100, :2])
    look_up = rect_max if pyramid.reduce == "max" else rect_min
    np.testing.assert_array_equal(hiz.rect_extremum(rects), look_up(pyramid, rects, backend="reference"))
    assert hiz.rect_extremum(rects[:0]).shape == (0,)


@pytest.mark.parametrize("reversed_depth", [False, True])
def test_the_pyramid_equals_the_reference(context, size, reversed_depth):
    height, width = size
    assert_equals_reference(context, (width, height), reversed_depth)


@given(size=st.tuples(st.integers(1, 90), st.integers(1, 90)), reversed_depth=st.booleans())
def test_the_pyramid_equals_the_reference_at_any_size(context, size, reversed_depth):
    assert_equals_reference(context, size, reversed_depth)


def test_the_pyramid_follows_its_buffer(context):
    with VisibilityBuffer(context, (5, 3)) as buffer, HiZ(buffer) as hiz:
        hiz.build()
        empty = hiz.pyramid()
        with DrawList(context, [[-1, -1, 0], [3, -1, 0], [-1, 3, 0]], [[0, 1, 2]]) as draws:
            buffer.draw(draws, np.eye(4))
        hiz.build()
        assert (empty.data == 1).all() and (hiz.pyramid().data == 0.5).all()


@pytest.mark.parametrize("rects", [np.zeros((2, 3), np.int32), np.zeros((2, 4), np.int64), [[0, 0, 1, 1]]])
def test_bad_rectangles_are_refused(context, rects):
    with VisibilityBuffer(context, (5, 3)) as buffer, HiZ(buffer) as hiz, pytest.raises(ArrayError, match="rects"):
        hiz.rect_extremum(rects)
