"""Two passes over frames in which things move, appear and leave: each frame shows what drawing everything would."""

from __future__ import annotations

import numpy as np
import pytest

from hra.kernels import TwoPassFrame, draw_in_two_passes, visible_boxes
from hra_lab.inputs.occluders import box_triangles, small_occluders
from tests.helpers.views import View, camera_of


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
