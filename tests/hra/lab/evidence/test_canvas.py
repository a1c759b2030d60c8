"""Canvases: seeded, answerable, and of disjoint parts in each split."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from hra.lab.evidence import sprites
from hra.lab.evidence.canvas import KINDS, SIDE, canvases
from hra.lab.evidence.questions import ANSWERS, LENGTH, SECOND, WORDS, say
from hra.lab.evidence.sprites import LETTERS, SPLITS


@pytest.fixture(scope="module")
def made():
    return list(canvases("train", 12))


def test_the_same_seed_makes_the_same_canvases_and_more_of_them_begin_alike(made):
    for canvas, again in zip(made, canvases("train", 5), strict=False):
        assert np.array_equal(canvas.image, again.image)
        assert canvas.questions == again.questions


def test_things_do_not_overlap_and_frames_name_one_thing_of_a_kind(made):
    for canvas in made:
        assert canvas.image.shape == (SIDE, SIDE, 3)
        drawn = np.zeros((SIDE, SIDE), int)
        for thing in canvas.things:
            x0, y0, x1, y1 = thing.box
            drawn[y0:y1, x0:x1] += 1
        assert drawn.max() == 1
        names = [(thing.kind, thing.shape, thing.colour) for thing in canvas.things]
        assert len(set(names)) == len(names)


def test_questions_ask_for_what_is_there_and_kinds_mean_what_they_say(made):
    for canvas in made:
        assert len(canvas.questions) == len(KINDS)
        target, near, far, whole = canvas.questions
        by_question = {thing.ask(): thing for thing in canvas.things}
        assert {target, near, far} <= set(by_question)
        away = [np.hypot(*(by_question[question].centre - by_question[target].centre)) for question in (near, far)]
        assert 0 < away[0] < 110 <= away[1]
        assert whole.box is None
        for question in canvas.questions:
            assert len(question.words) == LENGTH
            assert 0 <= question.answer < len(ANSWERS)
            assert -1 <= question.second < len(SECOND)
            assert all(0 <= word < len(WORDS) for word in question.words)


def test_counts_are_right(made):
    for canvas in made:
        question = canvas.questions[-1]
        if question.text.startswith("how many"):
            kind = question.text.split()[-1].removesuffix("s")
            assert question.right == str(sum(thing.kind == kind for thing in canvas.things))


def test_answers_in_words():
    letter = ANSWERS.index(f"letter {LETTERS[3]}")
    assert say(letter, 0) == LETTERS[3] + LETTERS[0]
    assert say(ANSWERS.index("boot"), -1) == "boot"
    assert say(ANSWERS.index("digit 7"), 2) == "7"


def test_no_two_splits_share_a_garment_a_digit_or_a_font():
    for ranges in (sprites._GARMENTS, sprites._DIGITS):
        ends = [ranges[split] for split in SPLITS]
        assert all(first[1] <= second[0] for first, second in pairwise(ends))
    fonts = [set(sprites._FONTS[split]) for split in SPLITS]
    assert sum(map(len, fonts)) == len(set.union(*fonts))


@pytest.mark.parametrize("height", [8, 9, 10])
def test_codes_fill_their_height_and_have_ink(height):
    random = np.random.default_rng(height)
    cover = sprites.code("test", "AX", height, random)
    assert cover.shape[0] == height
    assert cover.max() > 0.6 and cover.min() == 0
