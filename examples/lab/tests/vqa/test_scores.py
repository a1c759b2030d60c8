"""Scores against the published evaluators, worked examples of their definitions, and counting all "but one"s."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.errors import HraError
from hra_lab.vqa.scores import anls, exact_match, normalise, vqa_score

# What published evaluators gave: `vqaEval.py` of VQA, `m4c_evaluators.py` of MMF for TextVQA, the script of
# InfographicVQA, which comes from the makers of DocVQA, and the package `anls` for the paper's formula.
RECORDED: list[dict[str, Any]] = json.loads(Path(__file__).with_name("official_scores.json").read_text("utf-8"))


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: repr(case["answer"])[:30])
def test_scores_are_those_of_the_published_evaluators(case: dict[str, Any]):
    answer, references = case["answer"], case["references"]
    people = [references[number] for number in case["people"]]
    found = {
        "vqa": vqa_score(answer, people),
        "textvqa": vqa_score(answer, people, "textvqa"),
        "evaluator": anls(answer, references),
        "paper": anls(answer, references, "paper"),
    }
    assert found == pytest.approx({name: case[name] for name in found}, abs=1e-8)


@pytest.mark.parametrize(("agreeing", "score"), [(0, 0), (1, 0.3), (2, 0.6), (3, 0.9), (4, 1), (10, 1)])
def test_ten_people_are_counted_as_ten_times_nine(agreeing, score):
    people = ["red"] * agreeing + [f"colour {i}" for i in range(10 - agreeing)]
    assert vqa_score("red", people) == pytest.approx(score)


@given(
    st.lists(st.sampled_from(["red", "blue", "a", "2", "two"]), min_size=1, max_size=10),
    st.sampled_from(["red", "two"]),
)
def test_the_score_is_the_mean_over_who_is_left_out(people, answer):
    names, said = people, answer
    if len(set(people)) > 1:
        names, said = [normalise(person) for person in people], normalise(answer)
    each = [min(1, sum(n == said for j, n in enumerate(names) if j != i) / 3) for i in range(len(names))]
    assert vqa_score(answer, people) == pytest.approx(sum(each) / len(each))


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("The dog.", "dog"),
        ("two", "2"),
        ("1,000", "1000"),
        ("3.5 m.", "3.5 m"),
        ("t-shirt", "t shirt"),
        ("red / blue", "red blue"),
        ("dont know", "don't know"),
        ("couldntve", "couldntve"),
        ("couldnt've", "couldn't've"),
        ("None", "0"),
        ("a", ""),
        ("what?", "what"),
        ("YES", "yes"),
    ],
)
def test_answers_are_normalised_as_the_official_evaluation_does(answer, expected):
    assert normalise(answer) == expected


def test_where_all_agree_nothing_is_normalised():
    assert vqa_score("two", ["two"] * 10) == 1
    assert vqa_score("2", ["two"] * 10) == 0
    assert vqa_score("2", ["two"] * 9 + ["three"]) == 1


@pytest.mark.parametrize(
    ("answer", "references", "score"),
    [
        ("coca cola", ["Coca Cola"], 1.0),
        ("cola", ["coca cola"], 0.0),  # 5 edits of 9 are more than half
        ("1abcd", ["2abcd", "x"], 0.8),
        ("ab", ["ac"], 0.5),  # just half
        ("abc", ["abd"], 2 / 3),
        ("", ["x"], 0.0),
        ("5kg", ["5 kg"], 0.75),  # a unit, and a list, are read as they stand
        ("plums, pears", ["pears, plums"], 0.5),
    ],
)
def test_anls_counts_edits_per_character_of_the_nearest_reference(answer, references, score):
    assert anls(answer, references) == pytest.approx(score)


def test_at_one_half_the_paper_gives_nothing():
    assert (anls("12", ["19"]), anls("12", ["19"], "paper")) == (0.5, 0.0)


@pytest.mark.parametrize("answer", ["somebody", "someone", "something"])
def test_contractions_of_somebody_gain_their_apostrophe_as_published(answer: str):
    assert normalise(f"{answer}ll") == f"{answer}'ll"
    assert normalise(f"{answer}d've") == f"{answer}'d've"
    assert normalise(f"{answer}'dve") == f"{answer}'d've"
    # The published table has "somebody'd" the other way round, and "somethings" not at all.
    assert normalise("somebody'd") == "somebodyd" and normalise("somethings") == "somethings"


def test_exact_match_ignores_case_and_space():
    assert exact_match("12  May", ["12 may"]) == 1
    assert exact_match("12 May", ["12 June", "May 12"]) == 0


@pytest.mark.parametrize("score", [anls, vqa_score, exact_match])
@pytest.mark.parametrize("references", [[], "yes"])
def test_a_score_needs_references(score, references):
    with pytest.raises(HraError, match="references"):
        score("yes", references)
