"""Views: the tokens that allocators make, moved canvases, and labels and answers that go with them."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")
from hra_lab.evidence import views
from hra_lab.evidence.canvas import SIDE, canvases
from hra_lab.evidence.cells import Cell
from hra_lab.evidence.questions import ANSWERS, COLOURS, WORDS
from hra_lab.evidence.shown import shown
from hra_lab.evidence.views import UNASKED, Stock, view


@pytest.fixture(scope="module")
def made():
    return list(canvases("train", 4))


@pytest.fixture(scope="module")
def stock(made):
    return Stock.of(made)


@pytest.mark.parametrize("cell", [Cell("grid", 256, "oracle"), Cell("pyramid", 34, "oracle")])
def test_tokens_are_those_of_the_allocators(made, stock, cell):
    pixels, boxes = cell.tokens_of(made[0], 0, 0)
    same = [(j, np.flatnonzero((box == views._BOXES).all(1))) for j, box in enumerate(boxes)]
    rows, numbers = zip(*((j, found[0]) for j, found in same if len(found)), strict=True)
    made_here = views._pixels(stock.images[:1], np.array([numbers]))[0].numpy()
    assert len(rows) > 20
    assert np.abs(255 * made_here - pixels[list(rows)]).max() <= 0.51  # stored ones are rounded


def test_labels_are_those_of_shown(made, stock):
    things = stock.things.astype(int)
    labels = views._shown(things, things[..., 4] >= 0, views._covered(things))
    for canvas, found in zip(made, labels, strict=True):
        assert np.array_equal(found, shown(views._BOXES, canvas.things))


def test_a_view_has_its_count_and_asks_what_is_on_the_canvas(made, stock):
    seen = view(stock, np.arange(4), 20, np.random.default_rng(1))
    assert seen.pixels.shape == (4, 20, 768) and seen.boxes.shape == (4, 20, 4) and seen.shown.shape == (4, 20, 3)
    assert seen.pixels.min() >= 0 and seen.pixels.max() <= 1
    assert seen.boxes.min() >= 0 and seen.boxes.max() <= SIDE
    for canvas, words, answers in zip(made, seen.words.tolist(), seen.answers.tolist(), strict=True):
        there = {thing.colour: thing.answer for thing in canvas.things}
        for question, answer in zip(words[:3], answers[:3], strict=True):
            assert answer in (there[WORDS[question[2]]], UNASKED)
        assert ANSWERS[answers[3]] == canvas.ground in COLOURS


def test_what_goes_over_the_edge_is_not_asked_for():
    canvas = next(canvases("train", 1))
    stock = Stock.of([canvas])
    moved = set()
    for seed in range(20):
        move = np.random.default_rng(seed).integers(-16, 17, 2)
        seen = view(stock, np.zeros(1, int), 5, np.random.default_rng(seed))
        for question, answer in zip(seen.words[0, :3].tolist(), seen.answers[0, :3].tolist(), strict=True):
            thing = next(t for t in canvas.things if t.ask().words == tuple(question))
            box = np.array(thing.box) + np.tile(move, 2)
            assert answer == (thing.answer if box.min() >= 0 and box.max() <= SIDE else UNASKED)
        moved.add(tuple(move))
    assert len(moved) > 10
