"""Labels of tokens: what the generator put there, and nothing where a token is too coarse to tell."""

from __future__ import annotations

import numpy as np
import pytest

from hra_lab.evidence.canvas import SIDE, Thing, canvases
from hra_lab.evidence.cells import Cell
from hra_lab.evidence.questions import COLOURS
from hra_lab.evidence.shown import PARTS, shown

PLATE = Thing(4, "green", (40, 40, 60, 60), 2)
OF_PLATE = (1, 4, COLOURS.index("green"))
NOTHING = (0, -1, -1)
UNTOLD = (-1, -1, -1)


@pytest.mark.parametrize(
    ("box", "expected"),
    [
        ((48, 48, 64, 64), OF_PLATE),
        ((32, 32, 64, 64), OF_PLATE),
        ((0, 0, 16, 16), NOTHING),
        # A corner of it: 36 of 256 pixels.
        ((30, 30, 46, 46), NOTHING),
        # Covers it in whole and is too coarse to read it; its area does not fit int16.
        ((0, 0, SIDE, SIDE), UNTOLD),
    ],
)
def test_a_token_shows_what_it_lies_on_if_it_can_be_read(box, expected):
    assert tuple(shown(np.array([box], np.int16), [PLATE])[0]) == expected


def test_the_thing_that_covers_more_is_shown():
    other = Thing(3, "red", (60, 40, 90, 70), 1)
    boxes = np.array([(50, 44, 66, 60), (56, 44, 72, 60)], np.int16)
    assert shown(boxes, [PLATE, other])[:, 1].tolist() == [4, 3]


def test_without_things_all_is_background():
    assert (shown(np.zeros((3, 4), np.int16), []) == NOTHING).all()


def test_labels_are_those_of_things_on_the_canvas():
    canvas = next(canvases("train", 1))
    _, boxes = Cell("uniform-grid", 137).tokens_of(canvas, 0, 0)
    labels = shown(boxes, canvas.things)
    assert labels.shape == (len(boxes), len(PARTS))
    assert ((labels < PARTS) & (labels >= -1)).all()
    named = {tuple(shown(np.array([thing.box]), [thing])[0]) for thing in canvas.things}
    assert {tuple(row) for row in labels.tolist()} <= named | {NOTHING, UNTOLD}
