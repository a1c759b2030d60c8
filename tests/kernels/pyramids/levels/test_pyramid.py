"""Every backend equals the reference; what the pyramid promises about sizes, means, NaN and memory."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hra.errors import ArrayError, BackendUnavailable, HraError
from hra.kernels import build_pyramid, row_blocks

BACKENDS = ["numba", "warp"]
MEANS = ["mean", "srgb_mean", "block_mean"]
REDUCTIONS = [*MEANS, "max", "min"]
# Each float32 level rounds a handful of operations: a few units in the last place of the largest value.
TOLERANCE = 2e-6


DTYPES: list[type] = [np.float32, np.float16, np.uint8]


@pytest.fixture(params=DTYPES)
def dtype(request: pytest.FixtureRequest) -> type:
    return request.param


def assert_agrees(image: np.ndarray, reduce: str, backend: str) -> None:
    found = build_pyramid(image, reduce, backend=backend)
    assert found.data.dtype == image.dtype
    np.testing.assert_array_equal(found.levels[0].view(np.uint8), np.ascontiguousarray(image).view(np.uint8))
    # Each level from the one that was found, so that the tolerance is that of one step.
    for finer, level in pairwise(found.levels):
        expected = build_pyramid(finer, reduce, levels=2, backend="reference").levels[1]
        assert level.shape == expected.shape
        difference = np.abs(level.astype(np.float64) - expected.astype(np.float64))
        assert (difference <= tolerance(finer, reduce)).all()


def tolerance(finer: np.ndarray, reduce: str) -> float:
    largest = np.abs(finer.astype(np.float64)).max(initial=0)
    if reduce not in MEANS or (finer.dtype == np.uint8 and reduce != "srgb_mean"):
        return 0
    if finer.dtype == np.uint8:
        return 1
    return TOLERANCE * largest + (np.spacing(np.float16(largest)) if finer.dtype == np.float16 else 0)


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
    dtype=st.sampled_from(DTYPES),
    reduce=st.sampled_from(REDUCTIONS),
    backend=st.sampled_from(BACKENDS),
)
def test_backend_equals_reference_for_any_image(image, dtype, reduce, backend):
    limit = {np.float32: 1e6, np.float16: 6e4, np.uint8: 255}[dtype]
    assert_agrees(np.clip(image, 0 if dtype is np.uint8 else -limit, limit).astype(dtype), reduce, backend)


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
    np.testing.assert_array_equal(found.levels[0], view)
    np.testing.assert_array_equal(found.levels[-1].ravel(), view.max(axis=(0, 1)))


@pytest.mark.parametrize("shape", [(0, 5, 1), (5, 0, 1), (4, 4, 0), (0, 4, 4, 1)])
@pytest.mark.parametrize("backend", ["auto", "warp"])
def test_warp_arrays_without_pixels_have_empty_levels(shape, backend):
    warp = pytest.importorskip("warp")
    found = build_pyramid(warp.zeros(shape, dtype=warp.float32, device="cpu"), backend=backend)
    assert isinstance(found.data, warp.array)
    assert [level.shape for level in found.levels] == list(found.shapes)


@pytest.fixture(scope="module", params=[(1025, 1001, 3), (5, 511, 300, 1)])
def large(request: pytest.FixtureRequest) -> np.ndarray:
    """Images that several threads share."""
    return np.random.default_rng(7).random(request.param, np.float32)


@pytest.fixture(scope="module", params=REDUCTIONS)
def by_few(request: pytest.FixtureRequest, large: np.ndarray) -> dict[type, tuple[np.ndarray, str, np.ndarray]]:
    """Of each kind: the image, the reduction, and its pyramid by as many threads as it usually takes."""
    images = {kind: (large * 256 if kind is np.uint8 else large * 2 - 1).astype(kind) for kind in DTYPES}
    made = {dtype: build_pyramid(image, request.param, backend="numba").data for dtype, image in images.items()}
    return {dtype: (images[dtype], request.param, data) for dtype, data in made.items()}


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_number_of_threads_changes_no_bit(by_few, threads, dtype, monkeypatch):
    image, reduce, expected = by_few[dtype]
    monkeypatch.setattr(row_blocks.config, "NUMBA_NUM_THREADS", threads)
    monkeypatch.setattr(row_blocks, "_BYTES_PER_THREAD", 2**12)
    monkeypatch.setattr(row_blocks, "BLOCK_BYTES", 2**16)
    np.testing.assert_array_equal(build_pyramid(image, reduce, backend="numba").data, expected)


def test_a_fork_can_build_pyramids_after_threads_ran(tmp_path):
    program = """
import os, sys
import numpy as np
from numba import config
config.NUMBA_NUM_THREADS = 3
from hra.kernels import build_pyramid, row_blocks
image = np.ones((2048, 1024, 4), np.float32)
expected = build_pyramid(image).data
child = os.fork()
if child == 0:
    os._exit(0 if np.array_equal(build_pyramid(image).data, expected) else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert subprocess.run([sys.executable, "-c", program], timeout=120).returncode == 0


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
        (np.zeros((4, 4, 1), np.int16), "int16"),
        (np.zeros((4, 4, 1), ">f4"), "dtype"),
        (np.zeros((4, 4, 1), bool), "bool"),
        ([[[1.0]]], "not an array"),
        (None, "not an array"),
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


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("reduce", ["mean", "max"])
def test_memory_is_used_again(backend, reduce):
    first, second = (np.random.default_rng(seed).random((37, 52, 3), np.float32) for seed in (0, 1))
    pyramid = build_pyramid(first, reduce, backend=backend)
    again = build_pyramid(second, reduce, backend=backend, into=pyramid)
    assert again.data is pyramid.data
    assert np.array_equal(again.data, build_pyramid(second, reduce, backend=backend).data)
    pyramid.levels[0][...] = first
    in_place = build_pyramid(pyramid.levels[0], reduce, backend=backend, into=pyramid)
    assert np.array_equal(in_place.data, build_pyramid(first, reduce, backend=backend).data)


def test_memory_that_does_not_fit_is_refused():
    image = np.zeros((8, 8, 1), np.float32)
    pyramid = build_pyramid(image, "max")
    for other in (image[:4], image.astype(np.uint8)):
        with pytest.raises(ArrayError, match="cannot hold"):
            build_pyramid(other, "max", into=pyramid)
    with pytest.raises(ArrayError, match="overlaps"):
        build_pyramid(pyramid.levels[0][::-1], "max", into=pyramid)
    pyramid.data.flags.writeable = False
    with pytest.raises(ArrayError, match="read-only"):
        build_pyramid(image, "max", into=pyramid)


def test_memory_of_tensors_is_used_again():
    torch = pytest.importorskip("torch")
    pyramid = build_pyramid(torch.zeros(9, 7, 1), "max")
    pyramid.levels[0][3, 5] = 2.0
    again = build_pyramid(pyramid.levels[0], "max", into=pyramid)
    assert again.data is pyramid.data and pyramid.levels[-1].item() == 2.0


def test_memory_of_warp_arrays_is_used_again():
    warp = pytest.importorskip("warp")
    first, second = np.zeros((9, 7, 1), np.float32), np.ones((9, 7, 1), np.float32)
    pyramid = build_pyramid(warp.array(first, device="cpu"), "max")
    again = build_pyramid(warp.array(second, device="cpu"), "max", into=pyramid)
    assert again.data is pyramid.data and (pyramid.data.numpy() == 1).all()


@pytest.mark.parametrize("backend", ["reference", *BACKENDS])
def test_block_means_are_those_of_two_by_two_pixels_with_the_edge_repeated(size, dtype, backend, make_image):
    image = make_image((*size, 3), dtype)
    padded = np.pad(image, ((0, size[0] % 2), (0, size[1] % 2), (0, 0)), mode="edge")
    expected = build_pyramid(padded, "mean", levels=2, backend="reference").levels[1]
    found = build_pyramid(image, "block_mean", levels=2, backend=backend).levels[-1]
    if max(size) > 1:
        np.testing.assert_allclose(found.astype(float), expected.astype(float), atol=tolerance(image, "block_mean"))
