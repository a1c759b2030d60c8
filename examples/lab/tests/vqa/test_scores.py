"""Scores against worked examples of their definitions, and against counting all "but one"s."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.errors import HraError
from hra_lab.vqa.normalisation import normalise
from hra_lab.vqa.scores import anls, exact_match, vqa_score


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
        ("ab", ["ac"], 0.0),  # just half
        ("abc", ["abd"], 2 / 3),
        ("", ["x"], 0.0),
    ],
)
def test_anls_counts_edits_per_character_of_the_nearest_reference(answer, references, score):
    assert anls(answer, references) == pytest.approx(score)


def test_exact_match_ignores_case_and_space():
    assert exact_match("12  May", ["12 may"]) == 1
    assert exact_match("12 May", ["12 June", "May 12"]) == 0


@pytest.mark.parametrize("score", [anls, vqa_score, exact_match])
@pytest.mark.parametrize("references", [[], "yes"])
def test_a_score_needs_references(score, references):
    with pytest.raises(HraError, match="references"):
        score("yes", references)
