"""Rectangle look-ups: never on the wrong side of the truth, exact where promised, and tight."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hra.errors import ArrayError
from hra.kernels import build_pyramid, rect_max, rect_min

BACKENDS = ["reference", "numba", "warp"]


def brute_force(image: np.ndarray, rects: np.ndarray) -> np.ndarray:
    """The true maximum within each rectangle that meets the image."""
    return np.array([image[max(y0, 0) : y1 + 1, max(x0, 0) : x1 + 1].max() for x0, y0, x1, y1 in rects])


def random_rects(random: np.random.Generator, height: int, width: int, count: int) -> np.ndarray:
    corner = random.integers(0, [width, height], (count, 2))
    extent = np.exp(random.random((count, 2)) * np.log(60)).astype(int)
    return np.concatenate([corner, corner + extent], 1).astype(np.int32)


@pytest.mark.parametrize("backend", BACKENDS)
def test_pinholes_are_never_missed_and_most_bounds_are_tight(size, backend, random):
    height, width = size
    image = (random.random((height, width, 1)) * 0.3).astype(np.float32)
    image[random.random(image.shape) < 0.002] = 1  # holes of one pixel to the far plane
    rects = random_rects(random, height, width, 500)
    found, truth = rect_max(build_pyramid(image, "max"), rects, backend=backend), brute_force(image, rects)
    assert (found >= truth).all()
    assert (found - truth < 0.1).mean() > 0.6  # a bound from 2 x 2 of a far coarser level would not manage that


@given(
    image=hnp.arrays(np.uint8, st.tuples(st.integers(1, 40), st.integers(1, 40), st.just(1))),
    rects=hnp.arrays(np.int32, st.tuples(st.integers(0, 8), st.just(4)), elements=st.integers(-5, 45)),
    backend=st.sampled_from(BACKENDS),
)
def test_bounds_hold_and_backends_agree(image, rects, backend):
    highest, lowest = build_pyramid(image, "max"), build_pyramid(image, "min")
    found = rect_max(highest, rects, backend=backend), rect_min(lowest, rects, backend=backend)
    np.testing.assert_array_equal(found[0], rect_max(highest, rects, backend="reference"))
    np.testing.assert_array_equal(found[1], rect_min(lowest, rects, backend="reference"))
    for (x0, y0, x1, y1), above, below in zip(rects, *found, strict=True):
        inside = image[max(y0, 0) : max(y1 + 1, 0), max(x0, 0) : max(x1 + 1, 0)]
        assert above >= inside.max(initial=0)
        assert below <= inside.min(initial=255)
        if inside.size == 0:
            assert (above, below) == (0, 255)


@pytest.mark.parametrize("backend", BACKENDS)
def test_rectangles_that_fill_pixels_of_a_level_are_exact(size, backend, random):
    height, width = size
    image = random.random((height, width, 1), dtype=np.float32)
    rects = []
    for level in range(4):
        left, top = random.integers(0, [(width >> level) + 1, (height >> level) + 1], (50, 2)).T
        right, bottom = left + random.integers(1, 3, 50), top + random.integers(1, 3, 50)
        rects.append(np.stack([left << level, top << level, (right << level) - 1, (bottom << level) - 1], 1))
    rects = np.concatenate(rects).astype(np.int32)
    rects = rects[(rects[:, 0] < width) & (rects[:, 1] < height)]
    found = rect_max(build_pyramid(image, "max"), rects, backend=backend)
    np.testing.assert_array_equal(found, brute_force(image, rects))


@pytest.mark.parametrize("backend", BACKENDS)
def test_empty_and_outside_rectangles_give_the_identity(backend):
    image = np.full((6, 9, 1), 0.5, np.float32)
    limit = np.iinfo(np.int32)
    rects = [[5, 0, 4, 3], [-9, 0, -1, 3], [9, 0, 12, 3], [0, 6, 3, 9], [limit.min, limit.min, limit.max, limit.max]]
    rects = np.array(rects, np.int32)
    highest, lowest = build_pyramid(image, "max"), build_pyramid(image, "min")
    assert rect_max(highest, rects, backend=backend).tolist() == [-np.inf] * 4 + [0.5]
    assert rect_min(lowest, rects, backend=backend).tolist() == [np.inf] * 4 + [0.5]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("shape", [(0, 5, 1), (5, 0, 1)])
def test_images_without_pixels_meet_no_rectangle(shape, backend):
    pyramid = build_pyramid(np.zeros(shape, np.float32), "max")
    assert rect_max(pyramid, np.array([[0, 0, 9, 9]], np.int32), backend=backend).tolist() == [-np.inf]


@pytest.mark.parametrize("backend", BACKENDS)
def test_nan_within_reach_gives_nan(backend):
    image = np.zeros((8, 8, 1), np.float32)
    image[2, 3] = np.nan
    rects = np.array([[2, 2, 3, 3], [0, 0, 7, 7], [4, 4, 7, 7]], np.int32)
    found = rect_max(build_pyramid(image, "max"), rects, backend=backend)
    np.testing.assert_array_equal(found, [np.nan, np.nan, 0])


@pytest.mark.parametrize("backend", BACKENDS)
def test_batch_index_chooses_the_image(backend, random):
    images = random.random((2, 3, 21, 17, 1), dtype=np.float32)
    rects = random_rects(random, 21, 17, 60)
    index = random.integers(0, 6, 60).astype(np.int32)
    found = rect_max(build_pyramid(images, "max"), rects, index, backend=backend)
    singles = [build_pyramid(image, "max") for image in images.reshape(6, 21, 17, 1)]
    expected = [rect_max(singles[i], rect[None])[0] for i, rect in zip(index, rects, strict=True)]
    np.testing.assert_array_equal(found, expected)


RECTS = np.zeros((2, 4), np.int32)
IMAGE = np.zeros((4, 4, 1), np.float32)


@pytest.mark.parametrize(
    ("pyramid", "rects", "index", "message"),
    [
        (IMAGE, RECTS, None, "not a Pyramid"),
        (build_pyramid(IMAGE, "min"), RECTS, None, "'max' pyramid is needed, not 'min'"),
        (build_pyramid(IMAGE, "mean"), RECTS, None, "'max' pyramid is needed, not 'mean'"),
        (build_pyramid(IMAGE, "max", levels=2), RECTS, None, "one pixel"),
        (build_pyramid(np.zeros((4, 4, 3), np.float32), "max"), RECTS, None, "one channel"),
        (build_pyramid(np.zeros((2, 4, 4, 1), np.float32), "max"), RECTS, None, "2 images"),
        (build_pyramid(IMAGE, "max"), RECTS, np.array([0, 1], np.int32), r"not in 0\.\.0"),
        (build_pyramid(IMAGE, "max"), RECTS, np.array([0, -1], np.int32), r"not in 0\.\.0"),
        (build_pyramid(IMAGE, "max"), RECTS, np.array([0], np.int32), "shape"),
        (build_pyramid(IMAGE, "max"), RECTS, np.array([0, 0]), "int64"),
        (build_pyramid(IMAGE, "max"), np.full((2, 4), np.nan), None, "float64"),
        (build_pyramid(IMAGE, "max"), np.zeros((2, 4), np.int64), None, "int64"),
        (build_pyramid(IMAGE, "max"), np.zeros((2, 3), np.int32), None, "shape"),
        (build_pyramid(IMAGE, "max"), np.zeros(4, np.int32), None, "shape"),
        (build_pyramid(IMAGE, "max"), [[0, 0, 1, 1]], None, "no array"),
    ],
)
def test_bad_arguments_are_refused(pyramid, rects, index, message):
    with pytest.raises(ArrayError, match=message):
        rect_max(pyramid, rects, index)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.uint8])
def test_comparisons_decide_as_the_truth_would_or_keep(dtype, backend, random, make_image):
    image = make_image((97, 131, 1), dtype)
    rects = random_rects(random, 97, 131, 400)
    truth = brute_force(image, rects)
    against = (truth + random.choice(np.array([0, 1, 40] if dtype is np.uint8 else [0, 1e-6, 0.2]), 400)).astype(dtype)
    found = rect_max(build_pyramid(image, "max"), rects, backend=backend, against=against)
    first = rect_max(build_pyramid(image, "max"), rects, backend=backend)
    kept = found >= against
    assert kept[truth >= against].all()
    assert kept.sum() < (first >= against).sum()  # looking closer decides more
    expected = rect_max(build_pyramid(image, "max"), rects, backend="reference", against=against)
    # To the bit, so that ties and strict comparisons have one answer everywhere.
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(found, np.where(kept, against, 0 if dtype is np.uint8 else -np.inf))


@pytest.mark.parametrize("backend", BACKENDS)
def test_nan_reaches_every_comparison(backend):
    image = np.zeros((32, 32, 1), np.float32)
    image[20, 20] = np.nan
    rects = np.array([[2, 2, 29, 29]], np.int32)
    for reduce, look_up, beyond in (("max", rect_max, 1), ("min", rect_min, -1)):
        against = np.full(1, beyond, np.float32)
        found = look_up(build_pyramid(image, reduce), rects, backend=backend, against=against)
        assert not (found < against if reduce == "max" else found > against).any()


@pytest.mark.parametrize("against", [np.zeros(1, np.float32), np.zeros(2), [0.0, 0.0]])
def test_bad_comparisons_are_refused(against):
    with pytest.raises(ArrayError):
        rect_max(build_pyramid(IMAGE, "max"), RECTS, against=against)
