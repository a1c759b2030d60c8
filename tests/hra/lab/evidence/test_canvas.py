"""Canvases: seeded, answerable, and of disjoint parts in each split."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from hra.lab.evidence import sprites
from hra.lab.evidence.canvas import KINDS, SIDE, SIZES, canvases
from hra.lab.evidence.questions import ANSWERS, LENGTH, WORDS, say
from hra.lab.evidence.sprites import LETTERS, SPLITS


@pytest.fixture(scope="module")
def made():
    return list(canvases("train", 12))


def test_the_same_seed_makes_the_same_canvases_and_more_of_them_begin_alike(made):
    for canvas, again in zip(made, canvases("train", 5), strict=False):
        assert np.array_equal(canvas.image, again.image)
        assert canvas.questions == again.questions
    assert np.array_equal(next(canvases("train", 1, start=3)).image, made[3].image)


def test_things_do_not_overlap_and_colours_name_one_thing_of_a_kind(made):
    for canvas in made:
        assert canvas.image.shape == (SIDE, SIDE, 3)
        drawn = np.zeros((SIDE, SIDE), int)
        for thing in canvas.things:
            x0, y0, x1, y1 = thing.box
            drawn[y0:y1, x0:x1] += 1
        assert drawn.max() == 1
        names = [(thing.kind, thing.colour) for thing in canvas.things]
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


def test_counts_are_right(made):
    for canvas in made:
        question = canvas.questions[-1]
        if question.text.startswith("how many"):
            kind = question.text.split()[-1].removesuffix("s")
            assert say(question.answer) == str(sum(thing.kind == kind for thing in canvas.things))
        else:
            assert say(question.answer) == canvas.ground


def test_things_of_every_size_are_targets(made):
    targets = [next(t for t in canvas.things if t.ask() == canvas.questions[0]) for canvas in made]
    assert {thing.size for thing in targets} == set(range(len(SIZES)))
    for thing in targets:
        assert thing.box[2] - thing.box[0] >= SIZES[thing.size][0]


def test_answers_in_words():
    assert say(ANSWERS.index(f"letter {LETTERS[3]}")) == LETTERS[3]
    assert say(ANSWERS.index("boot")) == "boot"
    assert say(ANSWERS.index("count 6")) == "6"


def test_no_two_splits_share_a_garment_or_a_font():
    ends = [sprites._GARMENTS[split] for split in SPLITS]
    assert all(first[1] <= second[0] for first, second in pairwise(ends))
    fonts = [set(sprites._FONTS[split]) for split in SPLITS]
    assert sum(map(len, fonts)) == len(set.union(*fonts))


@pytest.mark.parametrize("make", [sprites.letter, sprites.garment])
@pytest.mark.parametrize("side", [14, 28, 48])
def test_sprites_fill_their_side_and_have_ink(make, side):
    cover = make("test", 1, side, np.random.default_rng(side))
    assert cover.shape == (side, side)
    assert 0 <= cover.min() < 0.05 and 0.5 < cover.max() <= 1
    assert max(np.ptp(np.nonzero(cover > 0.2), axis=1)) >= side // 2


def test_no_two_letters_are_drawn_alike():
    random = np.random.default_rng(0)
    drawn = [sprites.letter("train", 0, 24, random) for _ in range(4)]
    assert all(np.abs(a - b).max() > 0.1 for a, b in pairwise(drawn))
