"""The Laplacian pyramid: reconstruction at any size, and EXPAND against its definition."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hra.errors import BackendUnavailable, HraError
from hra.kernels import gaussian_pyramid, laplacian_pyramid

BACKENDS = ["reference", "numba", "warp"]
IMAGES = hnp.arrays(
    np.float32,
    st.tuples(st.integers(1, 2), st.integers(1, 20), st.integers(1, 20), st.integers(1, 5)),
    elements=st.floats(-1e6, 1e6, width=32),
)


def expansion(count: int) -> np.ndarray:
    """The matrix [count, ceil(count / 2)] that expands an axis: equation (2) of Burt and Adelson."""
    coarse = (count + 1) // 2
    matrix = np.zeros((count, coarse))
    for i in range(count):
        for tap, weight in zip(range(-2, 3), (1, 4, 6, 4, 1), strict=True):
            below = i + tap
            if below % 2 == 0:
                while not 0 <= below < count and count > 1:
                    below = -below if below < 0 else 2 * (count - 1) - below
                matrix[i, below // 2 if count > 1 else 0] += weight / 8
    return matrix


def assert_is_defined_so(image: np.ndarray, backend: str) -> None:
    found = laplacian_pyramid(image, backend=backend)
    gaussian = gaussian_pyramid(image, backend="reference").levels
    scale = np.abs(image).max()
    for band, (fine, coarse) in zip(found.levels, pairwise(gaussian), strict=False):
        rows, columns = expansion(fine.shape[-3]), expansion(fine.shape[-2])
        expanded = np.einsum("yj,xi,...jic->...yxc", rows, columns, coarse.astype(np.float64), optimize=True)
        np.testing.assert_allclose(band, fine - expanded, rtol=0, atol=2e-6 * scale)
    np.testing.assert_allclose(found.levels[-1], gaussian[-1], rtol=0, atol=2e-6 * scale)


def assert_reconstructs(image: np.ndarray, levels: int | None, backend: str) -> None:
    found = laplacian_pyramid(image, levels, backend)
    before = found.data.copy()
    rebuilt = found.reconstruct(backend)
    scale = np.abs(image.astype(np.float64)).max(initial=0)
    np.testing.assert_allclose(rebuilt, image.astype(np.float32), rtol=0, atol=1e-6 * scale)
    np.testing.assert_array_equal(found.data, before)


@pytest.mark.parametrize("backend", BACKENDS)
def test_bands_are_the_definition(size, backend, make_image):
    assert_is_defined_so(make_image((*size, 3), np.float32), backend)


@given(image=IMAGES, backend=st.sampled_from(BACKENDS))
def test_bands_are_the_definition_for_any_image(image, backend):
    assert_is_defined_so(image, backend)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.uint8])
@pytest.mark.parametrize("levels", [1, 2, None])
def test_the_levels_add_up_to_the_image(size, levels, dtype, backend, make_image):
    assert_reconstructs(make_image((*size, 1), dtype), levels, backend)


@given(image=IMAGES, levels=st.sampled_from([1, 2, 3, None]), backend=st.sampled_from(BACKENDS))
def test_the_levels_of_any_image_add_up_to_it(image, levels, backend):
    assert_reconstructs(image, levels, backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_bands_of_a_constant_are_zero(backend):
    levels = laplacian_pyramid(np.full((13, 22, 2), 0.75, np.float32), backend=backend).levels
    assert not any(band.any() for band in levels[:-1])
    np.testing.assert_array_equal(levels[-1], 0.75)


def test_a_band_that_is_left_out_is_missing_from_the_image(make_image):
    image = make_image((40, 30, 1), np.float32)
    found = laplacian_pyramid(image)
    detail = found.levels[0].copy()
    found.levels[0][...] = 0
    np.testing.assert_allclose(found.reconstruct(), image - detail, rtol=0, atol=1e-6)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_same_kind_of_array_comes_back(backend, make_image):
    torch, warp = pytest.importorskip("torch"), pytest.importorskip("warp")
    image = make_image((7, 6, 2), np.float32)
    for given_image, kind in ((torch.from_numpy(image), torch.Tensor), (warp.array(image, device="cpu"), warp.array)):
        found = laplacian_pyramid(given_image, backend=backend)
        rebuilt = found.reconstruct(backend)
        assert isinstance(found.data, kind) and isinstance(rebuilt, kind)
        np.testing.assert_allclose(rebuilt.numpy(), image, rtol=0, atol=1e-6)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("shape", [(0, 5, 1), (5, 0, 1), (4, 4, 0), (0, 4, 4, 1)])
def test_images_without_pixels_give_empty_levels(shape, backend):
    found = laplacian_pyramid(np.zeros(shape, np.float32), backend=backend)
    assert [level.shape for level in found.levels] == list(found.shapes)
    assert found.reconstruct(backend).shape == shape


def test_bad_arguments_are_refused():
    image = np.zeros((4, 4, 1), np.float32)
    with pytest.raises(HraError, match="levels"):
        laplacian_pyramid(image, levels=-1)
    with pytest.raises(BackendUnavailable, match="abacus"):
        laplacian_pyramid(image).reconstruct("abacus")
