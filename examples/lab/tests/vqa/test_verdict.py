"""The decision rule flips exactly where it says: a table of made scores, and what is open, tied and missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hra_lab.bootstrap import Interval
from hra_lab.vqa.methods import BLANK, FULL
from hra_lab.vqa.report import Answered, page, verdict
from hra_lab.vqa.run import TARGET, Plan
from hra_lab.vqa.sets import QuestionSet, Sample
from hra_lab.vqa.verdict import Against, decide

D, P, W = "documents", "photos", "text in the wild"
METHODS = ("pyramid", "foveated", "log-polar", "gestalt-saccades")
FEW, MANY = 100, 273


def against(kind: str, method: str, gain: float, half: float, times: float, few: float | None) -> Against:
    """A method that gains ``gain`` +- ``half`` at 273 tokens, and ``few`` at 100, where it is ``times`` as fast."""
    points = {MANY: Interval(gain, gain - half, gain + half)}
    speeds = {MANY: Interval(1.0, 1.0, 1.0)}
    if few is not None:
        points[FEW], speeds[FEW] = Interval(few, few - half, few + half), Interval(times, times, times)
    return Against(f"a set of {kind}", kind, method, points, speeds, 1000)


def made(gains: Mapping[str, Mapping[str, float]], half: float = 0.0, **fast: tuple[float, float]) -> list[Against]:
    """Methods by kind of set and gain; ``fast``: by method ("_" for other signs) times as fast and points at 100."""
    speeds = {name.replace("_", "-"): value for name, value in fast.items()}
    return [
        against(kind, method, gain, half, *speeds.get(method, (1.0, None)))
        for method, by_kind in gains.items()
        for kind, gain in by_kind.items()
    ]


def flat(**gains: float) -> dict[str, dict[str, float]]:
    """The same gain on all three sets; 0 of all others."""
    named = {name.replace("_", "-"): gain for name, gain in gains.items()}
    return {method: dict.fromkeys((D, P, W), named.get(method, 0.0)) for method in METHODS}


E = 1e-6
TABLE: list[tuple[str, list[Against], tuple[Any, Any, Any], str | None]] = [
    # what is given; whether tiers 1, 2, 3 are reached, None where a method or a set is missing; what to use
    ("nothing differs", made(flat()), (False, False, False), "grid"),
    ("T2 gains just 3", made(flat(pyramid=3)), (True, False, False), "pyramid"),
    ("T2 gains a little less than 3", made(flat(pyramid=3 - E)), (False, False, False), None),
    ("T6 gains 3 on one set", made({**flat(), "log-polar": {D: -9, P: 3, W: 0}}), (True, False, False), "log-polar"),
    ("T2.5 gains 3: not its tier", made(flat(foveated=3)), (False, False, False), None),
    ("T2 gains 4 +- 1", made(flat(pyramid=4), 1), (True, False, False), "pyramid"),
    ("T2 gains 4 +- 1.1", made(flat(pyramid=4), 1.1), (False, False, False), None),
    ("T2 is 2 times as fast, 1.9 lost", made(flat(), pyramid=(2, -1.9)), (True, False, False), "pyramid"),
    ("T2 is 2 times as fast, just 2 lost", made(flat(), pyramid=(2, -2)), (False, False, False), "grid"),
    ("T2 is not 2 times as fast", made(flat(), pyramid=(2 - E, 0)), (False, False, False), "grid"),
    ("T2.5 gains 5, 3, 0", made({**flat(), "foveated": {D: 5, P: 3, W: 0}}), (False, True, False), "foveated"),
    ("T2.5 gains 5, a little less than 3", made({**flat(), "foveated": {D: 5, P: 3 - E}}), (False, False, False), None),
    ("T2.5 gains a little less than 5", made({**flat(), "foveated": {D: 5 - E, P: 9}}), (False, False, False), None),
    ("T2.5 is 3 times as fast, .9 lost", made(flat(), foveated=(3, -0.9)), (False, True, False), "foveated"),
    ("T2.5 is 3 times as fast, just 1 lost", made(flat(), foveated=(3, -1)), (False, False, False), "grid"),
    ("T2 reaches tier 1 and T2.5 tier 2",
     made({**flat(pyramid=3), "foveated": {D: 5, P: 3}}), (True, True, False), "foveated"),
    ("T11 gains 7, 5, 5 and is 2 times as fast",
     made({**flat(), "gestalt-saccades": {D: 7, P: 5, W: 5}}, gestalt_saccades=(2, 7)), (False, False, True),
     "gestalt-saccades"),
    ("T11 gains 7, 5, 5 where it is not fast",
     made({**flat(), "gestalt-saccades": {D: 7, P: 5, W: 5}}, gestalt_saccades=(2, 6)), (False, False, False), None),
    ("T11 gains 7, 5, a little less than 5, fast",
     [one if one.kind != W else against(W, "gestalt-saccades", 7, 0, 2, 5 - E)
      for one in made(flat(gestalt_saccades=7), gestalt_saccades=(2, 7))
      if one.method == "gestalt-saccades"], (None, None, False), None),
    ("T2 within 2", made(flat(pyramid=2)), (False, False, False), "grid"),
    ("T2 a little beyond 2", made(flat(pyramid=2 + E)), (False, False, False), None),
    ("T2 much worse", made(flat(pyramid=-12)), (False, False, False), "grid"),
    ("T2 within 2 by its middle alone", made(flat(pyramid=1.5), 0.6), (False, False, False), None),
    ("no photos: tier 2 is open", made({"foveated": {D: 5}}), (None, None, False), None),
    ("no photos, and documents fail", made({"foveated": {D: 4}}), (None, False, False), None),
    ("own questions alone", made({"pyramid": {"own": 3}}), (True, None, False), "pyramid"),
    ("no photos, but fast", made({"foveated": {D: 7}}, foveated=(2, 7)), (None, None, None), None),
]  # fmt: skip


@pytest.mark.parametrize(("found", "tiers", "use"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_the_verdict_flips_where_the_rule_says(found: list[Against], tiers: tuple[Any, ...], use: str | None) -> None:
    given = decide(found)
    assert (tuple(tier.reached for tier in given.tiers), given.use) == (tiers, use), given


def test_words_say_tier_method_and_interval() -> None:
    assert "Tier 1 is reached: use T2 pyramid" in decide(made(flat(pyramid=4), 1)).sentence
    assert "+4.0 points (+3.0 to +5.0)" in decide(made(flat(pyramid=4), 1)).sentence
    assert decide(made(flat())).sentence == "All within 2 points: use T1 (T1 grid top-K)."
    undecided = decide(made(flat(pyramid=2.5), 2)).sentence
    assert "leaves open" in undecided and "images or more" in undecided
    assert "none is more than 2 points better" in decide(made(flat(pyramid=-12))).sentence
    assert "nothing was compared" in decide([]).sentence


def test_atlases_and_the_pyramid_say_what_stops() -> None:
    near, far = decide(made(flat(pyramid=1))), decide(made(flat(pyramid=1 + E)))
    assert any("stops T4 and T5" in note for note in near.notes)
    assert any("T4 and T5 stay" in note for note in far.notes)
    atlas = decide([*made(flat()), against(D, "hybrid-atlas", 5, 0, 1, None)])
    assert any("T3h hybrid atlas brings 5 points" in note for note in atlas.notes)


def answers(scores: Mapping[tuple[str, int], Sequence[float]], kind: str = D) -> Answered:
    """A set of which every method has these scores and answers in a second."""
    count = len(next(iter(scores.values())))
    samples = tuple(Sample(str(i), Path(f"{i}.png"), "how many?", ("two",)) for i in range(count))
    rows: list[list[Any]] = [
        [
            {
                "method": method, "budget": budget, "region": TARGET, "score": values[i], "text": "", "tokens": budget,
                "covered": 1.0, "selection_s": 0.0, "first_s": None, "answer_s": 1.0, "length": None,
                "peak_bytes": None,
            }
            for (method, budget), values in scores.items()
        ]
        for i in range(count)
    ]  # fmt: skip
    return Answered(QuestionSet("made", kind, "exact match", lambda a, b: 0.0, samples), rows)  # pyright: ignore[reportArgumentType]


PLAN = Plan(("grid", "pyramid", "downsample"), (64,), "uniform")


@pytest.mark.parametrize(("gain", "use"), [(0.03, "pyramid"), (0.0299, None), (0.0, "grid"), (-0.1, "grid")])
def test_scores_of_questions_become_the_verdict(gain: float, use: str | None) -> None:
    base = [0.4, 0.8] * 60
    one = answers({(FULL, 0): [0.9] * 120, (BLANK, 0): [0.1] * 120, ("grid", 64): base,
                   ("pyramid", 64): [score + gain for score in base], ("downsample", 64): base})  # fmt: skip
    given = verdict([one], PLAN)
    assert given.use == use
    text = page([one], PLAN, "a model", given)
    assert given.sentence in text and f"{100 * gain:+.1f} ({100 * gain:+.1f} to {100 * gain:+.1f})" in text


def of_images(count: int) -> Answered:
    """120 questions to so many images, of which a half is answered 10 points better by the pyramid's tokens."""
    base = [0.4, 0.8] * 60
    one = answers({(FULL, 0): [0.9] * 120, (BLANK, 0): [0.1] * 120, ("grid", 64): base, ("downsample", 64): base,
                   ("pyramid", 64): [score + 0.2 * (i % 2) for i, score in enumerate(base)]})  # fmt: skip
    samples = tuple(replace(sample, image=Path(f"{i % count}.png")) for i, sample in enumerate(one.set.samples))
    return replace(one, set=replace(one.set, samples=samples))


def test_questions_to_one_image_decide_nothing() -> None:
    given = verdict([of_images(1)], PLAN)
    assert given.use is None and "all questions are to one image" in given.sentence


def test_few_images_are_told_however_many_questions_they_have() -> None:
    notes = verdict([of_images(15)], PLAN).notes
    assert "made has 15 images only: intervals of fewer than 100 are too narrow to decide by." in notes


def test_a_model_that_does_not_read_the_image_gets_no_verdict() -> None:
    same = [0.0, 1.0] * 60
    cells = {(FULL, 0): same, (BLANK, 0): same, ("grid", 64): same, ("pyramid", 64): same, ("downsample", 64): same}
    given = verdict([answers(cells)], PLAN)
    assert given.use is None and given.sentence.startswith("No verdict: on made the image helps the model by +0.0")
    reading = {**cells, (FULL, 0): [1.0] * 120, (BLANK, 0): [0.0] * 120}
    both = verdict([answers(cells), answers(reading, P)], PLAN)
    assert both.use == "grid" and any("Left out" in note for note in both.notes)
