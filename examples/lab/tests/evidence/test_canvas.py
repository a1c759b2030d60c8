"""Canvases: seeded, answerable, and patterns that are told apart."""

from __future__ import annotations

import numpy as np
import pytest

from hra_lab.evidence.canvas import KINDS, SIDE, SIZES, canvases
from hra_lab.evidence.questions import ANSWERS, LENGTH, WORDS
from hra_lab.evidence.sprites import PATTERNS, SPLITS, pattern


@pytest.fixture(scope="module")
def made():
    return list(canvases("train", 12))


def test_the_same_seed_makes_the_same_canvases_and_more_of_them_begin_alike(made):
    for canvas, again in zip(made, canvases("train", 5), strict=False):
        assert np.array_equal(canvas.image, again.image)
        assert canvas.questions == again.questions
    assert np.array_equal(next(canvases("train", 1, start=3)).image, made[3].image)


def test_things_do_not_overlap_and_colours_name_one_thing(made):
    for canvas in made:
        assert canvas.image.shape == (SIDE, SIDE, 3)
        drawn = np.zeros((SIDE, SIDE), int)
        for thing in canvas.things:
            x0, y0, x1, y1 = thing.box
            drawn[y0:y1, x0:x1] += 1
        assert drawn.max() == 1
        names = [thing.colour for thing in canvas.things]
        assert len(set(names)) == len(names)


def test_questions_ask_for_what_is_there_and_kinds_mean_what_they_say(made):
    for canvas in made:
        assert len(canvas.questions) == len(KINDS)
        target, near, far, whole = canvas.questions
        by_question = {thing.ask(): thing for thing in canvas.things}
        assert {target, near, far} <= set(by_question)
        away = [np.hypot(*(by_question[question].centre - by_question[target].centre)) for question in (near, far)]
        assert 0 < away[0] < 100 <= away[1]
        assert whole.box is None
        for question in canvas.questions:
            assert len(question.words) == LENGTH
            assert 0 <= question.answer < len(ANSWERS)
            assert all(0 <= word < len(WORDS) for word in question.words)


def test_the_ground_is_asked_for_last(made):
    for canvas in made:
        assert canvas.questions[-1].text == "which ground"
        assert ANSWERS[canvas.questions[-1].answer] == canvas.ground


def test_no_canvas_is_in_two_splits(made):
    others = [next(canvases(split, 1)).image for split in SPLITS[1:]]
    assert not any(np.array_equal(canvas.image, other) for canvas in made for other in others)


def test_things_of_every_size_are_targets(made):
    targets = [next(t for t in canvas.things if t.ask() == canvas.questions[0]) for canvas in made]
    assert {thing.size for thing in targets} == set(range(len(SIZES)))
    for thing in targets:
        assert thing.box[2] - thing.box[0] >= SIZES[thing.size][0]


@pytest.mark.parametrize("side", [16, 28, 56])
@pytest.mark.parametrize(("name", "axis"), [("level", 1), ("upright", 0)])
def test_stripes_run_as_their_name_says(side, name, axis):
    cover = pattern(PATTERNS.index(name), side, np.random.default_rng(side))
    assert cover.shape == (side, side) and 0 <= cover.min() < 0.1 and 0.6 < cover.max() <= 1
    along, across = (np.abs(np.diff(cover, axis=a)).mean() for a in (axis, 1 - axis))
    assert along < 0.5 * across


def test_rising_stripes_are_falling_ones_in_a_mirror():
    for name, other in (("rising", "falling"), ("falling", "rising")):
        cover = pattern(PATTERNS.index(name), 40, np.random.default_rng(1))
        shifted = {
            step: np.abs(cover[1:, 1:] - cover[:-1, :-1]).mean()
            if step > 0
            else np.abs(cover[1:, :-1] - cover[:-1, 1:]).mean()
            for step in (-1, 1)
        }
        # Rising ones keep to the diagonal that goes up to the right: one down and one to the left is the same ink.
        assert (shifted[-1] < shifted[1]) == (name == "rising"), other


def test_no_two_patterns_are_drawn_alike():
    random = np.random.default_rng(0)
    drawn = [pattern(4, 24, random) for _ in range(4)]
    assert all(np.abs(a - b).max() > 0.1 for i, a in enumerate(drawn) for b in drawn[:i])
