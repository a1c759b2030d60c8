"""The Gaussian pyramid: every backend against the definition, and what blurring must not change."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hra.errors import ArrayError, BackendUnavailable, HraError
from hra.kernels import gaussian_pyramid

BACKENDS = ["reference", "numba", "warp"]
WEIGHTS = {-2: 1 / 16, -1: 4 / 16, 0: 6 / 16, 1: 4 / 16, 2: 1 / 16}
IMAGES = hnp.arrays(
    np.float32,
    st.tuples(st.integers(1, 2), st.integers(1, 20), st.integers(1, 20), st.integers(1, 5)),
    elements=st.floats(-1e6, 1e6, width=32),
)


def bounce(i: int, count: int) -> int:
    """Walk to pixel ``i`` and turn at the outermost pixels."""
    while not 0 <= i < count:
        i = -i if i < 0 else 2 * (count - 1) - i
    return i


def operator(count: int) -> np.ndarray:
    """The matrix [ceil(count / 2), count] that blurs and halves an axis."""
    matrix = np.zeros(((count + 1) // 2, count))
    for row in range(len(matrix)):
        for tap, weight in WEIGHTS.items():
            matrix[row, bounce(2 * row + tap, count) if count > 1 else 0] += weight
    return matrix


def assert_is_defined_so(image: np.ndarray, backend: str) -> None:
    levels = gaussian_pyramid(image, backend=backend).levels
    np.testing.assert_array_equal(levels[0], image.astype(np.float32))
    # Below the smallest normal number float32 has a fixed step, which is added by every rounding of five weights.
    limit = 1e-6 * np.abs(image.astype(np.float64)).max() + 10 * np.finfo(np.float32).smallest_subnormal
    for finer, level in pairwise(levels):
        rows, columns = operator(finer.shape[-3]), operator(finer.shape[-2])
        expected = np.einsum("yj,xi,...jic->...yxc", rows, columns, finer.astype(np.float64), optimize=True)
        np.testing.assert_allclose(level, expected, rtol=0, atol=limit)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.uint8])
def test_levels_are_the_definition(size, dtype, backend, make_image):
    assert_is_defined_so(make_image((*size, 1), dtype), backend)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("shape", [(3, 9, 14, 4), (2, 3, 10, 8, 3), (4, 1, 1, 2), (1, 33, 31, 5)])
def test_levels_are_the_definition_with_channels_and_batches(shape, backend, make_image):
    assert_is_defined_so(make_image(shape, np.float32), backend)


@given(image=IMAGES, backend=st.sampled_from(BACKENDS))
def test_levels_are_the_definition_for_any_image(image, backend):
    assert_is_defined_so(image, backend)


def test_opencv_computes_the_same(size, make_image):
    cv2 = pytest.importorskip("cv2")
    image = make_image((*size, 3), np.float32)
    for finer, level in pairwise(gaussian_pyramid(image).levels):
        np.testing.assert_allclose(level, cv2.pyrDown(finer).reshape(level.shape), rtol=0, atol=1e-6)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_constant_stays_and_a_ramp_keeps_its_slope(backend):
    ramp = np.tile(np.arange(65, dtype=np.float32)[None, :, None], (33, 1, 1))
    constant, sloped = gaussian_pyramid(np.full_like(ramp, 3), backend=backend), gaussian_pyramid(ramp, backend=backend)
    np.testing.assert_array_equal(constant.data, 3)
    np.testing.assert_allclose(sloped.levels[1][:, 1:-1, 0], ramp[::2, 2:-2:2, 0], rtol=1e-6)


def test_the_result_is_a_pyramid_in_one_buffer(make_image):
    found = gaussian_pyramid(make_image((2, 5, 6, 3), np.uint8), levels=3)
    assert (found.reduce, found.data.dtype) == ("gaussian", np.float32)
    assert found.shapes == ((2, 5, 6, 3), (2, 3, 3, 3), (2, 2, 2, 3))
    assert all(np.shares_memory(level, found.data) for level in found.levels)


@pytest.mark.parametrize("backend", BACKENDS)
def test_strided_and_read_only_images_are_read(backend, make_image):
    image = make_image((12, 14, 3), np.float32)
    image.flags.writeable = False
    view = image[::2, ::-1, 1:]
    expected = gaussian_pyramid(np.ascontiguousarray(view), backend=backend)
    np.testing.assert_array_equal(gaussian_pyramid(view, backend=backend).data, expected.data)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_same_kind_of_array_comes_back(backend, make_image):
    torch, warp = pytest.importorskip("torch"), pytest.importorskip("warp")
    image = make_image((7, 6, 2), np.float32)
    expected = gaussian_pyramid(image, backend=backend).data
    for given_image, kind in ((torch.from_numpy(image), torch.Tensor), (warp.array(image, device="cpu"), warp.array)):
        found = gaussian_pyramid(given_image, backend=backend)
        assert isinstance(found.data, kind) and found.levels[1].shape == (4, 3, 2)
        np.testing.assert_array_equal(found.data.numpy(), expected)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("shape", [(0, 5, 1), (5, 0, 1), (4, 4, 0), (0, 4, 4, 1)])
def test_images_without_pixels_give_empty_levels(shape, backend):
    found = gaussian_pyramid(np.zeros(shape, np.uint8), backend=backend)
    assert [level.shape for level in found.levels] == list(found.shapes) and found.data.dtype == np.float32


def test_bad_arguments_are_refused():
    with pytest.raises(ArrayError, match="at least 3 axes"):
        gaussian_pyramid(np.zeros((4, 4), np.float32))
    with pytest.raises(HraError, match="levels"):
        gaussian_pyramid(np.zeros((4, 4, 1), np.float32), levels=0)
    with pytest.raises(BackendUnavailable, match="vulkan"):
        gaussian_pyramid(np.zeros((4, 4, 1), np.float32), backend="vulkan")
