"""Occlusion culling with OpenGL's depth: what it hides, OpenGL does not draw either."""

from __future__ import annotations

import numpy as np
import pytest

from hra import Camera
from hra.kernels import visible_boxes
from hra.kernels.culling.hiz import draw_in_two_passes
from hra.kernels.raster import EMPTY, DrawList, HiZ, VisibilityBuffer

CORNERS = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
FACES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4],
     [1, 5, 7], [1, 7, 3]]
)  # fmt: skip


@pytest.mark.parametrize("reversed_depth", [False, True])
def test_two_passes_miss_no_box_and_draw_few_in_vain(context, reversed_depth):
    random, count = np.random.default_rng(4), 600
    low = random.uniform([-8, -8, -40], [8, 8, 0], (count, 3))
    boxes = np.stack([low, low + random.uniform(0.2, 3, (count, 3))], 1)
    boxes[0] = [[-4, -4, -1], [4, 4, 0]]  # a wall that hides most of them
    vertices = boxes[:, 0, None] + CORNERS * (boxes[:, 1] - boxes[:, 0])[:, None]
    rows = FACES + 8 * np.arange(count)[:, None, None]
    ranges = 12 * np.stack([np.arange(count), np.arange(1, count + 1)], 1)
    camera = Camera.perspective((0, 0, 8), (0, 0, 0), viewport=(161, 119), reversed_depth=reversed_depth)
    # The culling reads depth as the buffer holds it: in [0, w].
    to_depth = np.eye(4) if reversed_depth else np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0.5, 0.5], [0, 0, 0, 1]])
    matrix = camera.projection @ camera.view
    with (
        DrawList(context, vertices.reshape(-1, 3), rows.reshape(-1, 3), ranges=ranges) as draws,
        VisibilityBuffer(context, camera.viewport, reversed_depth) as buffer,
        HiZ(buffer) as hiz,
    ):

        def draw(where: np.ndarray) -> np.ndarray:
            buffer.draw(draws, matrix, where)
            return buffer.read().depth

        draw(np.ones(count, bool))
        image = buffer.read()
        hiz.build()
        seen = np.zeros(count, bool)
        seen[image.ids[image.ids != EMPTY]] = True
        assert visible_boxes(hiz.pyramid(), boxes, to_depth @ matrix)[seen].all()
        previous, drawn = np.zeros(count, bool), []
        for _ in range(3):
            buffer.clear()
            frame = draw_in_two_passes(
                draw,
                lambda pyramid: visible_boxes(pyramid, boxes, to_depth @ matrix),
                previous,
                reversed_depth=reversed_depth,
            )
            found, previous = buffer.read(), frame.visible
            drawn.append(int((frame.first | frame.second).sum()))
            np.testing.assert_array_equal(found.ids, image.ids)
            np.testing.assert_array_equal(found.depth, image.depth)
    assert drawn[-1] < 0.8 * count  # the first frames know too little
