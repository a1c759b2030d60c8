"""Occlusion culling of drawn scenes: nothing that owns a pixel is hidden, and most of what is hidden is found.

Two passes over frames in which things move, appear and leave: each frame shows what drawing everything would.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.errors import ArrayError
from hra.kernels import (
    TwoPassFrame,
    build_pyramid,
    depth_pyramid,
    draw_in_two_passes,
    rect_max,
    rect_min,
    row_blocks,
    visible_boxes,
    visible_spheres,
)
from hra_lab.inputs.occluders import box_triangles, small_occluders
from tests.helpers.views import KINDS, View, camera_of, random_boxes

BACKENDS = ("reference", "numba", "warp")
SIZES = ((512, 512), (641, 479), (1366, 768), (1920, 1080))


def around(boxes: np.ndarray) -> np.ndarray:
    """Spheres [K, 4] around boxes."""
    boxes = boxes.astype(np.float64)
    radius = np.linalg.norm(boxes[:, 1] - boxes[:, 0], axis=1) / 2 * (1 + 1e-7)
    return np.concatenate([boxes.mean(axis=1), radius[:, None]], axis=1)


def holes(rng: np.random.Generator, height: int, width: int) -> np.ndarray:
    """Near surfaces with holes of one pixel to the far plane."""
    depth = (rng.random((height, width)) * 0.3).astype(np.float32)
    depth[rng.random(depth.shape) < 0.002] = 1
    return depth


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_no_pinhole_is_missed_by_25000_rectangles(size):
    """Nothing that is just in front of the true farthest depth is hidden, with maxima and with minima."""
    width, height = size
    rng = np.random.default_rng(width)
    depth, count = holes(rng, height, width), 25_000
    corner = rng.integers(0, size, (count, 2))
    last = np.minimum(corner + np.exp(rng.random((count, 2)) * np.log(120)).astype(int), np.array(size) - 1)
    rects = np.concatenate([corner, last], axis=1).astype(np.int32)
    farthest = np.array([depth[y0 : y1 + 1, x0 : x1 + 1].max() for x0, y0, x1, y1 in rects])
    found = rect_max(depth_pyramid(depth), rects, against=farthest)
    assert (found >= farthest).all()
    reversed_hiz = depth_pyramid(1 - depth, reversed_depth=True)
    assert (rect_min(reversed_hiz, rects, against=1 - farthest) <= 1 - farthest).all()
    # Whatever is clearly behind is hidden mostly, which a bound from a far coarser level would not manage.
    behind = farthest + np.float32(0.01)
    assert (rect_max(depth_pyramid(depth), rects, against=behind) < behind).mean() > 0.75


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 2**32 - 1), width=st.integers(1, 150), height=st.integers(1, 110))
def test_whatever_owns_a_pixel_is_kept(kind, seed, width, height):
    """Random scenes around the eye, some objects through the near plane, sizes that are not powers of two."""
    rng = np.random.default_rng(seed)
    view = View.of_boxes(camera_of(kind, (width, height)), random_boxes(rng, 80), 24 if seed % 2 else None)
    kept = visible_boxes(view.hiz, view.boxes, view.matrix, backend=rng.choice(BACKENDS))
    assert kept[view.seen].all()
    assert visible_spheres(view.hiz, around(view.boxes), view.matrix)[view.seen].all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("eye", [(0, 0, 0), (3000, -2000, 5000)], ids=["origin", "far away"])
def test_large_scenes_keep_what_owns_a_pixel(kind, eye):
    """Thousands of objects; far from the origin float32 is coarse, for the renderer as well."""
    camera = camera_of(kind, (1366, 768), eye, np.add(eye, (0, 0, -1)))
    boxes = (small_occluders(camera_of("perspective", (1366, 768)), 20_000, seed=3) + np.array(eye)).astype(np.float32)
    for bits in (24, None):
        view = View.of_boxes(camera, boxes, bits)
        kept = visible_boxes(view.hiz, boxes, view.matrix)
        assert view.seen.sum() > 2000
        assert kept[view.seen].all()
        assert visible_spheres(view.hiz, around(boxes), view.matrix)[view.seen].all()


@pytest.mark.parametrize("kind", ["perspective", "reversed"])
def test_small_occluders_are_culled(kind):
    """The share of what a test of every pixel culls; measured 95 %."""
    camera = camera_of(kind, (1920, 1080))
    view = View.of_boxes(camera, small_occluders(camera))
    kept = visible_boxes(view.hiz, view.boxes, view.matrix)
    assert kept[view.seen].all() and kept[view.exact].all()
    assert np.sum(~kept) >= 0.7 * np.sum(~view.exact) > 0


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("kind", ["perspective", "reversed"])
def test_backends_and_numbers_of_threads_agree(kind, threads, monkeypatch):
    """More boxes than one thread takes at a time; some beside the frustum, before the near plane or no numbers."""
    monkeypatch.setattr(row_blocks.config, "NUMBA_NUM_THREADS", threads)
    monkeypatch.setattr(row_blocks, "_BYTES_PER_THREAD", 2**12)
    camera = camera_of(kind, (641, 479))
    view = View.of_boxes(camera, small_occluders(camera, 2000))
    boxes = np.concatenate([small_occluders(camera, 20_000, 1), random_boxes(np.random.default_rng(2), 5000)])
    boxes[::997, 0, 1] = np.nan
    found = visible_boxes(view.hiz, boxes, view.matrix, backend="numba")
    assert 0.1 < found.mean() < 0.9
    np.testing.assert_array_equal(found, visible_boxes(view.hiz, boxes, view.matrix, backend="reference"))
    spheres = visible_spheres(view.hiz, around(boxes), view.matrix, backend="numba")
    np.testing.assert_array_equal(spheres, visible_spheres(view.hiz, around(boxes), view.matrix, backend="reference"))


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_surface_does_not_hide_itself(backend):
    """Flat walls, nearest depth and drawn depth are one: only slack and rounding keep them."""
    rng = np.random.default_rng(5)
    for bits in (24, None):
        camera = camera_of("perspective", (800, 600))
        near = -np.exp(rng.uniform(np.log(0.2), np.log(150), 300))
        low = np.column_stack([rng.uniform(-0.6, 0.5, (300, 2)) * -near[:, None], near])
        walls = np.stack([low, low + [0.02, 0.02, 0] * -near[:, None]], axis=1).astype(np.float32)
        view = View.of_boxes(camera, walls, bits)
        assert visible_boxes(view.hiz, walls, view.matrix, backend=backend)[view.seen].all()


def test_nan_in_the_buffer_hides_nothing():
    hiz = depth_pyramid(np.full((60, 80), np.nan, np.float32))
    box = np.array([[[-1, -1, -90], [1, 1, -80]]], np.float32)
    assert visible_boxes(hiz, box, View.of_boxes(camera_of("perspective", (80, 60)), box).matrix).all()


def test_torch_in_torch_out():
    torch = pytest.importorskip("torch")
    hiz = depth_pyramid(torch.full((6, 8), 0.5))
    found = visible_boxes(hiz, torch.tensor([[[0, 0, 0.7], [1, 1, 0.8]]]), np.eye(4))
    assert isinstance(found, torch.Tensor) and found.tolist() == [False]


BOXES = np.zeros((1, 2, 3), np.float32)
BYTES = build_pyramid(np.zeros((4, 4, 1), np.uint8), "max")


@pytest.mark.parametrize(
    ("hiz", "message"), [(None, "no Pyramid"), (BYTES, "float32"), (np.zeros((4, 4)), "no Pyramid")]
)
def test_bad_pyramids_are_refused(hiz, message):
    with pytest.raises(ArrayError, match=message):
        visible_boxes(hiz, BOXES, np.eye(4))


@pytest.mark.parametrize("depth", [np.zeros((4, 4)), np.zeros((4, 4, 1), np.float32), [[0.0]]])
def test_bad_depth_buffers_are_refused(depth):
    with pytest.raises(ArrayError):
        depth_pyramid(depth)


def frame(view: View, previous: np.ndarray) -> tuple[TwoPassFrame, np.ndarray]:
    """One frame, and the identity buffer that it leaves."""
    target = view.blank()

    def draw(objects: np.ndarray) -> np.ndarray:
        chosen = np.repeat(objects, 12)
        target.draw(view.triangles[chosen], view.ids[chosen], view.matrix)
        return target.depth

    def test(hiz):
        return visible_boxes(hiz, view.boxes, view.matrix)

    return draw_in_two_passes(draw, test, previous, reversed_depth=view.camera.reversed_depth), target.ids


@pytest.mark.parametrize("kind", ["perspective", "reversed"])
def test_every_frame_shows_everything(kind):
    boxes = small_occluders(camera_of(kind, (480, 270)), 15_000, seed=2)
    rng = np.random.default_rng(2)
    present, visible = rng.random(len(boxes)) < 0.8, np.zeros(len(boxes), bool)
    drawn = []
    for step in range(6):
        x = [0, 0.3, 0.6, 0.6, 30, 30][step]  # moves, rests, jumps and rests
        present ^= rng.random(len(boxes)) < 0.02  # some leave, some appear
        now = boxes.copy()
        now[~present] = 1e6
        view = View.of_boxes(camera_of(kind, (480, 270), (x, 0, 0), (x, 0, -1)), now)
        result, ids = frame(view, visible)
        np.testing.assert_array_equal(ids, view.drawn.ids)
        assert result.visible[view.seen].all()
        assert not (result.first & result.second).any()
        drawn.append((result.first | result.second).sum())
        visible = result.visible
    assert drawn[0] > drawn[3]  # with an empty buffer nothing hides anything


def test_the_first_frame_draws_all_that_is_in_view_in_the_second_pass():
    camera = camera_of("perspective", (100, 75))
    boxes = np.array([[[-1, -1, -6], [1, 1, -5]], [[-1, -1, -9], [1, 1, -8]], [[-1, -1, 5], [1, 1, 6]]], np.float32)
    view = View(camera, box_triangles(boxes), np.repeat(np.arange(3), 12), boxes)
    first, _ = frame(view, np.zeros(3, bool))
    assert [part.tolist() for part in first] == [[False] * 3, [True, True, False], [True, True, False]]
    second, _ = frame(view, first.visible)
    assert second.visible.tolist() == [True, False, False]
    third, _ = frame(view, second.visible)
    assert third.first.tolist() == [True, False, False] and not third.second.any()
