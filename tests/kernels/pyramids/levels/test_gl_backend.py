"""The OpenGL backend equals the reference; maxima and minima to the bit."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hra.errors import ArrayError, BackendUnavailable
from hra.kernels import build_pyramid, rect_max, rect_min
from hra.kernels.pyramids.levels import gl_backend
from hra.kernels.pyramids.levels.pyramid import Layout
from hra.kernels.raster import Context

pytestmark = pytest.mark.gl
REDUCTIONS = ["mean", "block_mean", "max", "min"]
# As for the other backends: float32 levels round a handful of operations. OpenGL may take subnormal numbers for zero.
TOLERANCE, TINY = 2e-6, 1e-37


def assert_agrees(image: np.ndarray, reduce: str) -> None:
    found = build_pyramid(image, reduce, backend="gl")
    expected = build_pyramid(image, reduce, backend="reference")
    assert found.shapes == expected.shapes and found.data.dtype == image.dtype
    if reduce in ("mean", "block_mean") and image.dtype == np.float32:
        scale = float(np.abs(image).max(initial=0))
        np.testing.assert_allclose(found.data, expected.data, rtol=0, atol=TOLERANCE * scale + TINY)
    else:
        np.testing.assert_array_equal(found.data, expected.data)


@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_it_equals_the_reference(size, dtype, reduce, make_image):
    assert_agrees(make_image((*size, 1), dtype), reduce)


@pytest.mark.parametrize("reduce", REDUCTIONS)
@pytest.mark.parametrize("shape", [(3, 9, 14, 4), (2, 3, 10, 8, 3), (4, 1, 1, 2), (1, 33, 31, 5), (0, 4, 4, 1)])
def test_it_equals_the_reference_with_channels_and_batches(shape, dtype, reduce, make_image):
    assert_agrees(make_image(shape, dtype), reduce)


@given(
    image=hnp.arrays(
        st.sampled_from([np.dtype(np.float32), np.dtype(np.uint8)]),
        st.tuples(st.integers(1, 2), st.integers(1, 20), st.integers(1, 20), st.sampled_from([1, 3])),
    ),
    reduce=st.sampled_from(["max", "min"]),
)
def test_extrema_are_exact_for_any_image(image, reduce):
    assert_agrees(image, reduce)  # subnormal numbers, infinities and NaN among them


@given(
    image=hnp.arrays(
        np.float32,
        st.tuples(st.integers(1, 2), st.integers(1, 20), st.integers(1, 20), st.sampled_from([1, 3])),
        elements=st.floats(-1e6, 1e6, width=32),
    )
)
def test_means_agree_for_any_image(image):
    assert_agrees(image, "mean")


def test_means_of_bytes_are_exact_where_32_bits_do_not_hold_the_sum(random):
    image = np.full((4097, 4099, 1), 255, np.uint8)
    image[:, ::3] = 254
    found, expected = (build_pyramid(image, levels=2, backend=name) for name in ("gl", "numba"))
    np.testing.assert_array_equal(found.data, expected.data)


@given(
    image=hnp.arrays(
        st.sampled_from([np.dtype(np.float32), np.dtype(np.uint8)]),
        st.tuples(st.just(2), st.integers(1, 40), st.integers(1, 40), st.just(1)),
    ),
    rects=hnp.arrays(np.int32, st.tuples(st.integers(0, 8), st.just(4)), elements=st.integers(-5, 45)),
)
def test_rectangles_agree_with_the_reference(image, rects):
    index = np.arange(len(rects), dtype=np.int32) % 2
    for reduce, look_up in (("max", rect_max), ("min", rect_min)):
        pyramid = build_pyramid(image, reduce)
        found, expected = (look_up(pyramid, rects, index, backend=name) for name in ("gl", "reference"))
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == image.dtype
        compared = image.ravel()[np.arange(len(rects)) % image.size]
        found, expected = (look_up(pyramid, rects, index, name, against=compared) for name in ("gl", "reference"))
        np.testing.assert_array_equal(found, expected)


def test_rectangles_of_a_single_image_and_at_the_limits_of_int32():
    pyramid = build_pyramid(np.full((6, 9, 1), 0.5, np.float32), "max")
    limit = np.iinfo(np.int32)
    rects = [[5, 0, 4, 3], [-9, 0, -1, 3], [9, 0, 12, 3], [limit.min, limit.min, limit.max, limit.max]]
    assert rect_max(pyramid, np.array(rects, np.int32), backend="gl").tolist() == [-np.inf] * 3 + [0.5]


def test_threads_have_contexts_of_their_own(make_image):
    image = make_image((61, 33, 1), np.float32)
    expected = build_pyramid(image, "max", backend="reference").data
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: build_pyramid(image, "max", backend="gl").data, range(40)):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.case(90)
def test_after_a_lost_context_the_next_call_makes_a_new_one(monkeypatch):
    image = np.zeros((5, 5, 1), np.float32)
    build_pyramid(image, backend="gl")
    with monkeypatch.context() as patch:
        patch.setattr(Context, "_check_errors", _lost)
        with pytest.raises(BackendUnavailable, match="lost"):
            build_pyramid(image, backend="gl")
    assert_agrees(image, "max")
    assert_agrees(image, "mean")


def _lost(self) -> None:
    raise BackendUnavailable("the context was lost")


@pytest.mark.parametrize(("dtype", "reduce"), [(np.float32, "srgb_mean"), (np.float16, "max")])
def test_what_it_has_not_is_refused(dtype, reduce):
    layout = Layout.of((4, 4, 1), None)
    with pytest.raises(BackendUnavailable, match="cannot reduce"):
        gl_backend.build_pyramid(np.zeros((4, 4, 1), dtype), layout, reduce)


def test_images_beyond_the_driver_s_limit_are_refused(monkeypatch):
    monkeypatch.setattr(Context, "limit", lambda self, name: 100)
    with pytest.raises(ArrayError, match=r"shaders of .* reach 100"):
        build_pyramid(np.zeros((5, 5, 1), np.float32), backend="gl")
    with pytest.raises(ArrayError, match="rectangles"):
        rect_max(build_pyramid(np.zeros((2, 2, 1), np.float32), "max"), np.zeros((9, 4), np.int32), backend="gl")


def test_a_context_that_is_gone_is_made_again():
    image = np.random.default_rng(0).random((8, 8, 1), dtype=np.float32)
    first = build_pyramid(image, backend="gl").data.copy()
    gl_backend._local.context.release()
    np.testing.assert_array_equal(build_pyramid(image, backend="gl").data, first)
