"""Every backend equals the reference; what the pyramid promises about sizes, means, NaN and memory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hra.errors import ArrayError, BackendUnavailable, HraError
from hra.kernels import build_pyramid

BACKENDS = ["numba", "warp"]
REDUCTIONS = ["mean", "max", "min"]
# Each float32 level rounds a handful of operations: a few units in the last place of the largest value.
TOLERANCE = 2e-6


def assert_agrees(image: np.ndarray, reduce: str, backend: str) -> None:
    found = build_pyramid(image, reduce, backend=backend)
    expected = build_pyramid(image, reduce, backend="reference")
    assert found.shapes == expected.shapes
    assert found.data.dtype == image.dtype
    if reduce == "mean" and image.dtype == np.float32:
        scale = float(np.abs(image).max(initial=0))
        np.testing.assert_allclose(found.data, expected.data, rtol=0, atol=TOLERANCE * scale)
    else:
        np.testing.assert_array_equal(found.data, expected.data)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_backend_equals_reference(size, dtype, reduce, backend, make_image):
    assert_agrees(make_image((*size, 1), dtype), reduce, backend)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("reduce", REDUCTIONS)
@pytest.mark.parametrize("shape", [(3, 9, 14, 4), (2, 3, 10, 8, 3), (4, 1, 1, 2), (1, 33, 31, 5)])
def test_backend_equals_reference_with_channels_and_batches(shape, dtype, reduce, backend, make_image):
    assert_agrees(make_image(shape, dtype), reduce, backend)


@given(
    image=hnp.arrays(
        np.float32,
        st.tuples(st.integers(1, 2), st.integers(1, 20), st.integers(1, 20), st.integers(1, 3)),
        elements=st.floats(-1e6, 1e6, width=32),
    ),
    reduce=st.sampled_from(REDUCTIONS),
    backend=st.sampled_from(BACKENDS),
)
def test_backend_equals_reference_for_any_image(image, reduce, backend):
    assert_agrees(image, reduce, backend)


@pytest.mark.parametrize("backend", ["reference", *BACKENDS])
@pytest.mark.parametrize("reduce", REDUCTIONS)
@pytest.mark.parametrize("shape", [(4, 4, 1), (5, 7, 2)])
def test_nan_and_infinity_reach_every_pixel_above_them_and_no_other(shape, reduce, backend):
    image = np.zeros(shape, np.float32)
    image[0, 0, 0], image[3, 3, 0] = np.nan, np.inf
    found = build_pyramid(image, reduce, backend=backend)
    np.testing.assert_array_equal(found.data, build_pyramid(image, reduce, backend="reference").data)
    assert np.isnan(found.levels[-1][..., 0]).all()
    assert np.isnan(found.levels[1][0, 0, 0]) and not np.isnan(found.levels[1][1, 1, 0])
    assert not found.levels[-1][..., 1:].any()


@pytest.mark.parametrize("backend", ["reference", *BACKENDS])
def test_huge_values_do_not_overflow(backend):
    image = np.full((5, 4, 1), np.finfo(np.float32).max / 2, np.float32)
    np.testing.assert_allclose(build_pyramid(image, backend=backend).data, image.max(), rtol=1e-6)


@pytest.mark.parametrize("backend", ["reference", *BACKENDS])
def test_every_level_has_the_mean_of_the_image(size, backend, make_image):
    image = make_image((*size, 1), np.float32) + 2
    for level in build_pyramid(image, backend=backend).levels:
        assert level.mean(dtype=np.float64) == pytest.approx(image.mean(dtype=np.float64), rel=2e-6)


@pytest.mark.parametrize("backend", ["reference", *BACKENDS])
def test_bytes_do_not_grow_brighter_from_level_to_level(backend, make_image):
    image = make_image((512, 512, 1), np.uint8)
    levels = build_pyramid(image, backend=backend).levels[:7]
    # The sampling error of rounding 64 values or more; rounding ties up would add 0.7.
    assert max(abs(level.mean() - image.mean()) for level in levels) < 0.2


@pytest.mark.parametrize("backend", ["reference", *BACKENDS])
@pytest.mark.parametrize("shape", [(0, 5, 1), (5, 0, 1), (4, 4, 0), (0, 4, 4, 1)])
def test_images_without_pixels_give_empty_levels(shape, backend):
    found = build_pyramid(np.zeros(shape, np.float32), backend=backend)
    assert found.data.shape == (0,)
    assert found.shapes[0] == shape
    assert [level.shape for level in found.levels] == list(found.shapes)


def test_levels_are_views_of_one_buffer_that_does_not_alias_the_image(make_image):
    image = make_image((2, 5, 6, 3), np.float32)
    before = image.copy()
    found = build_pyramid(image, "max")
    assert found.shapes == ((2, 5, 6, 3), (2, 3, 3, 3), (2, 2, 2, 3), (2, 1, 1, 3))
    assert found.offsets == (0, 180, 234, 258)
    assert all(np.shares_memory(level, found.data) for level in found.levels)
    image[:] = 9
    np.testing.assert_array_equal(found.levels[0], before)


@pytest.mark.parametrize("backend", ["reference", *BACKENDS])
def test_strided_and_read_only_images_are_read(backend, make_image):
    image = make_image((12, 14, 3), np.float32)
    image.flags.writeable = False
    view = image[::2, ::-1, 1:]
    found = build_pyramid(view, "max", backend=backend)
    np.testing.assert_array_equal(found.levels[-1].ravel(), view.max(axis=(0, 1)))


def test_levels_limits_the_number_of_levels(make_image):
    image = make_image((16, 16, 1), np.float32)
    assert [len(build_pyramid(image, levels=n).levels) for n in (1, 3, 5, 99, None)] == [1, 3, 5, 5, 5]


@pytest.mark.parametrize("levels", [0, -1, 1.5, True, "all"])
def test_bad_levels_are_refused(levels):
    with pytest.raises(HraError, match="levels"):
        build_pyramid(np.zeros((4, 4, 1), np.float32), levels=levels)


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (np.zeros((4, 4), np.float32), "at least 3 axes"),
        (np.zeros((4, 4, 1)), "float64"),
        (np.zeros((4, 4, 1), np.float16), "float16"),
        (np.zeros((4, 4, 1), ">f4"), "dtype"),
        (np.zeros((4, 4, 1), bool), "bool"),
        ([[[1.0]]], "no array"),
        (None, "no array"),
    ],
)
def test_bad_images_are_refused(image, message):
    with pytest.raises(ArrayError, match=message):
        build_pyramid(image)


def test_unknown_reductions_and_backends_are_refused():
    image = np.zeros((4, 4, 1), np.float32)
    with pytest.raises(HraError, match="median"):
        build_pyramid(image, "median")
    with pytest.raises(BackendUnavailable, match="abacus"):
        build_pyramid(image, backend="abacus")
