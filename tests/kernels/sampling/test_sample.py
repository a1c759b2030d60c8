"""Look-ups in pyramids: every backend against plain NumPy, and that against a formula; hardware within its steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hra.errors import ArrayError, BackendUnavailable
from hra.kernels import Pyramid, build_pyramid, gaussian_pyramid, sample
from hra.kernels.sampling import numba_backend
from hra.kernels.sampling.sample import HARDWARE_STEP, MOST_PROBES
from tests.helpers.compiled_kinds import kinds_compiled

BACKENDS = ["numba", "warp"]
HARDWARE = ["warp", pytest.param("gl", marks=pytest.mark.gl)]
DTYPES = [np.float32, np.float16, np.uint8]


def image_of(shape: tuple[int, ...], dtype: Any, seed: int) -> np.ndarray:
    values = np.random.default_rng(seed).random(shape, np.float32)
    return (values * 255).astype(dtype) if dtype is np.uint8 else (values * 2 - 1).astype(dtype)


def asked(pyramid: Pyramid, count: int, seed: int, dtype: Any, footprints: bool) -> dict[str, Any]:
    """Points in and around the image, levels below and above those there are or footprints of any shape."""
    rng = np.random.default_rng(seed)
    height, width = pyramid.layout.sizes[0]
    points = (rng.random((count, 2)) * 1.4 - 0.2) * [width, height]
    level = rng.uniform(-1, len(pyramid.shapes) + 1, count)
    level[: count // 3] = np.round(level[: count // 3])
    sides = rng.normal(size=(count, 2, 2)) * np.exp(rng.uniform(-2, 4, (count, 2, 1)))
    found = {"footprint": sides.astype(dtype)} if footprints else {"level": level.astype(dtype)}
    index = rng.integers(0, pyramid.layout.images, count, dtype=np.int32)
    return {"points": points.astype(dtype), "batch_index": index, **found}


def largest(pyramid: Pyramid) -> float:
    return float(np.abs(pyramid.data.astype(np.float64)).max(initial=1))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", DTYPES)
@settings(max_examples=40, deadline=None)
@given(
    shape=st.tuples(st.integers(1, 3), st.integers(1, 40), st.integers(1, 40), st.integers(1, 5)),
    count=st.integers(0, 30),
    seed=st.integers(0, 999),
    options=st.tuples(st.sampled_from(["mean", "block_mean", "max", "gaussian"]), st.booleans(), st.booleans()),
)
def test_backends_equal_the_reference(backend, dtype, shape, count, seed, options):
    reduce, double, footprints = options
    image = image_of(shape, dtype, seed)
    pyramid = gaussian_pyramid(image) if reduce == "gaussian" else build_pyramid(image, reduce)
    given = asked(pyramid, count, seed, np.float64 if double else np.float32, footprints)
    expected = sample(pyramid, **given, backend="reference")
    found = sample(pyramid, **given, backend=backend)
    assert found.dtype == np.float32 and found.shape == (count, shape[-1])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * largest(pyramid))


def test_one_kind_is_compiled_for_all_kinds_of_questions():
    pyramid, known = build_pyramid(image_of((1, 9, 7, 3), np.float32, 0)), set()
    for dtype in (np.float64, np.float32):
        for footprints in (False, True):
            given = asked(pyramid, 5, 1, dtype, footprints)
            given["points"] = np.repeat(given["points"], 2, axis=1)[:, ::2]  # with gaps
            expected = sample(pyramid, **given, backend="reference")
            np.testing.assert_allclose(sample(pyramid, **given, backend="numba"), expected, atol=1e-6)
            known.add(*kinds_compiled(numba_backend._sample))
    assert len(known) == 1


def plain(levels: Any, place: Any, level: float, maps: Any) -> np.ndarray:
    """By weights of all pixels of all levels: triangles of width one around the clamped places."""
    total = 0.0
    for number, pixels in enumerate(levels):
        height, width = pixels.shape[:2]
        at_x, at_y = (np.clip(a, 0, n - 1) for a, n in zip(maps(*place, number), (width, height), strict=True))
        across = np.maximum(1 - abs(np.arange(width) - at_x), 0)
        down = np.maximum(1 - abs(np.arange(height) - at_y), 0)
        total += max(1 - abs(number - level), 0) * np.einsum("y,x,yxc->c", down, across, pixels.astype(np.float64))
    return np.asarray(total)


@pytest.mark.parametrize("reduce", ["mean", "block_mean", "gaussian"])
def test_the_reference_is_the_formula(reduce):
    image = image_of((13, 22, 2), np.float32, 1)
    pyramid = gaussian_pyramid(image) if reduce == "gaussian" else build_pyramid(image, reduce)
    levels, top = pyramid.levels, len(pyramid.levels) - 1
    maps = {
        "mean": lambda x, y, n: (x * levels[n].shape[1] / 22 - 0.5, y * levels[n].shape[0] / 13 - 0.5),
        "block_mean": lambda x, y, n: (x / 2**n - 0.5, y / 2**n - 0.5),
        "gaussian": lambda x, y, n: ((x - 0.5) / 2**n, (y - 0.5) / 2**n),
    }[reduce]
    given = asked(pyramid, 40, 3, np.float64, False)
    found = sample(pyramid, **given, backend="reference")
    for place, level, value in zip(given["points"], np.clip(given["level"], 0, top), found, strict=True):
        np.testing.assert_allclose(value, plain(levels, place, level, maps), atol=1e-6)
    sides = np.array([[[6.5, 1.0], [0.0, -1.5]]])
    long = np.hypot(6.5, 1.0)
    places = [np.array([9.3, 5.1]) + sides[0, 0] * ((i + 0.5) / 5 - 0.5) for i in range(5)]
    expected = np.mean([plain(levels, place, np.log2(long / 5), maps) for place in places], axis=0)
    found = sample(pyramid, np.array([[9.3, 5.1]]), footprint=sides, backend="reference")
    np.testing.assert_allclose(found[0], expected, atol=1e-6)


def test_a_footprint_as_wide_as_long_is_its_level_and_a_long_one_is_sharp_across():
    pyramid = build_pyramid(image_of((64, 64, 3), np.float32, 2))
    points = np.array([[20.2, 31.7], [40.0, 8.5]])
    square = np.broadcast_to(np.eye(2) * 4, (2, 2, 2)).copy()
    level = sample(pyramid, points, np.full(2, 2.0))
    np.testing.assert_allclose(sample(pyramid, points, footprint=square), level, atol=1e-6)
    stripes = build_pyramid(np.tile(np.array([[0.0], [1.0]], np.float32), (32, 64))[..., None])
    along = np.array([[[16.0, 0.0], [0.0, 1.0]]])
    assert sample(stripes, np.array([[32.0, 32.5]]), footprint=along).item() == 0
    assert sample(stripes, np.array([[32.0, 32.5]]), np.array([4.0])).item() == pytest.approx(0.5)
    # Beyond 16 probes the level rises: the stripes begin to blur.
    wide = along * [[[8.0], [1.0]]] / 1
    assert sample(stripes, np.array([[32.0, 32.5]]), footprint=wide).item() == pytest.approx(0.5)
    assert MOST_PROBES == 16


@pytest.mark.parametrize("backend", ["reference", *BACKENDS])
def test_nan_in_a_point_a_level_a_side_or_a_pixel_gives_nan_and_reaches_no_other(backend):
    image = np.zeros((8, 8, 2), np.float32)
    image[5, 5, 0] = np.nan
    pyramid = build_pyramid(image)
    points, level = np.full((5, 2), 2.0), np.zeros(5)
    points[0, 1], level[1], points[2], points[3] = np.nan, np.nan, (5.2, 5.7), np.inf
    found = sample(pyramid, points, level, backend=backend)
    assert np.isnan(found).tolist() == [[True, True], [True, True], [True, False], [False, False], [False, False]]
    sides = np.broadcast_to(np.eye(2), (5, 2, 2)).copy()
    sides[4, 1, 0] = np.nan
    assert np.isnan(sample(pyramid, points, footprint=sides, backend=backend)[[0, 4]]).all()


def hardware_tolerance(pyramid: Pyramid) -> float:
    values = pyramid.data.astype(np.float64)
    return 3 * HARDWARE_STEP * float(np.ptp(values)) + (1 if pyramid.data.dtype == np.uint8 else 1e-6)


@pytest.mark.parametrize("backend", HARDWARE)
@pytest.mark.parametrize("dtype", DTYPES)
@settings(max_examples=15, deadline=None)
@given(
    shape=st.tuples(st.integers(1, 2), st.integers(1, 40), st.integers(1, 40), st.integers(1, 4)),
    count=st.integers(0, 20),
    seed=st.integers(0, 999),
    footprints=st.booleans(),
)
def test_texture_units_are_within_their_steps(backend, dtype, shape, count, seed, footprints):
    pyramid = build_pyramid(image_of(shape, dtype, seed), "block_mean")
    given = asked(pyramid, count, seed, np.float32, footprints)
    found = sample(pyramid, **given, hardware=True, backend=backend)
    expected = sample(pyramid, **given, backend="reference")
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=0, atol=hardware_tolerance(pyramid))


@pytest.mark.parametrize("backend", HARDWARE)
def test_texture_units_give_nan_for_nan(backend):
    pyramid = build_pyramid(np.ones((5, 7, 3), np.float32), "block_mean")
    points, level = np.full((3, 2), 2.0), np.array([0.0, np.nan, 0.5])
    points[0, 0] = np.nan
    found = sample(pyramid, points, level, hardware=True, backend=backend)
    assert np.isnan(found[:2]).all() and (found[2] == 1).all()


def test_what_cannot_be_looked_up_is_refused():
    pyramid, points, level = build_pyramid(np.ones((5, 7, 5), np.float32)), np.ones((2, 2)), np.zeros(2)
    with pytest.raises(ArrayError, match="one of level and footprint"):
        sample(pyramid, points)
    with pytest.raises(ArrayError, match="one of level and footprint"):
        sample(pyramid, points, level, np.ones((2, 2, 2)))
    with pytest.raises(ArrayError, match="shape"):
        sample(pyramid, points, level[:1])
    with pytest.raises(ArrayError, match="dtype"):
        sample(pyramid, points, level.astype(np.float32))
    with pytest.raises(ArrayError, match="dtype int64"):
        sample(pyramid, np.ones((2, 2), int), level)
    with pytest.raises(ArrayError, match="without pixels"):
        sample(build_pyramid(np.ones((0, 7, 5), np.float32)), points, level)
    with pytest.raises(ArrayError, match="2 images"):
        sample(build_pyramid(np.ones((2, 4, 4, 1), np.float32)), points, level)
    with pytest.raises(ArrayError, match="is not int32"):
        sample(pyramid, points, level, batch_index=np.zeros(2))
    with pytest.raises(BackendUnavailable, match="texture units only"):
        sample(pyramid, points, level, backend="gl")
    with pytest.raises(BackendUnavailable, match="1 to 4 channels"):
        sample(pyramid, points, level, hardware=True)
    with pytest.raises(BackendUnavailable, match="does not implement"):
        sample(pyramid, points, level, hardware=True, backend="numba")


@pytest.mark.gl
def test_one_texture_holds_no_levels_of_cells_of_different_widths():
    pyramid = build_pyramid(np.ones((5, 7, 3), np.float32))
    with pytest.raises(BackendUnavailable, match="one texture cannot hold"):
        sample(pyramid, np.ones((2, 2)), np.zeros(2), hardware=True, backend="gl")
