"""Labels, values and questions: what is split, what fits, and which value a label has."""

from __future__ import annotations

import numpy as np
import pytest

from hra.domains.tokens.text.answer_kinds import answer_pattern
from hra.domains.tokens.text.glosses import gloss
from hra.domains.tokens.text.labelled_values import labelled_values
from hra.domains.tokens.text.lines import TextLine
from hra.domains.tokens.text.matching import Entry, match_scores, named_exactly, split_line
from hra.domains.tokens.text.meaning import can_embed
from hra.domains.tokens.text.rows import below_neighbour, patches_under, right_neighbour


def line(x: float, y: float, text: str, height: float = 20) -> TextLine:
    width = 10 * len(text)
    return TextLine(np.array([[x, y], [x + width, y], [x + width, y + height], [x, y + height]], float), text)


@pytest.mark.parametrize(
    ("text", "label", "value"),
    [
        ("Total: 12.50", "Total", "12.50"),
        ("Served by: Kim Tanaka", "Served by", "Kim Tanaka"),
        ("Net sum 33.21", "Net sum", "33.21"),
        ("Printed at:07:16", "Printed at", "07:16"),
        ("Please note the due date: 2023-08-14", "Please note the due date", "2023-08-14"),
        ("Grand total", "Grand total", ""),
        ("12.50", "12.50", ""),
        ("VAT 20%", "VAT 20%", ""),
    ],
)
def test_a_line_is_split_before_its_value(text, label, value):
    found = split_line(text)
    assert found[:2] == (label, value)
    assert found[2] == (pytest.approx(text.index(value) / len(text)) if value else 1)


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("how much did they pay?", "33.21", "2023-08-14"),
        ("when was it?", "14 Aug 2023", "33.21"),
        ("on which day did this happen?", "2023-08-14", "Kim Tanaka"),
        ("who ordered this?", "Kim Tanaka", "0886 432605"),
        ("which number should I ring?", "0886 432605", "33.21"),
        ("how heavy is it?", "2.5 kg", "33.21"),
        ("at what hour was it?", "07:16", "716"),
        ("when was it?", "202408-14", "20240814"),
        ("what is the issued on?", "14 Aug 2023", "33.21"),
    ],
)
def test_a_question_says_what_its_answer_looks_like(question, right, wrong):
    pattern = answer_pattern(question) or answer_pattern(gloss(question) or "")
    assert pattern is not None and pattern.search(right) and not pattern.search(wrong)


def test_most_questions_say_nothing_of_their_answers_look():
    assert answer_pattern("what is the total?") is None


def test_the_labels_own_words_beat_the_same_words_in_other_company_even_with_a_wrong_letter():
    entries = [Entry("TOTAI", "12.50"), Entry("Total satisfaction or your money back", ""), Entry("Subtotal", "9.00")]
    assert match_scores("what is the total?", entries).argmax() == 0


def test_a_name_without_a_value_is_no_exact_match():
    assert named_exactly("what is the total?", [Entry("Total", "12.50")])
    assert not named_exactly("what is the total?", [Entry("Total", ""), Entry("Total effort", "1"), Entry("Tax", "2")])


@pytest.mark.skipif(not can_embed(), reason="needs the extra vlm")
def test_a_paraphrase_finds_the_label_by_meaning():
    entries = [
        Entry("Cashier", "Kim Weber"),
        Entry("Total", "99.10"),
        Entry("Date", "2020-01-02"),
        Entry("Change", "1.00"),
    ]
    for question, expected in (
        ("how much money was spent?", 1),
        ("which day was it?", 2),
        ("who was the employee at the till?", 0),
    ):
        assert match_scores(question, entries).argmax() == expected, question


def test_glosses_are_of_whole_words():
    assert gloss("Grand total") == gloss("TOTAL DUE") and gloss("Subtotal") != gloss("Total")
    assert gloss("update") is None


def test_values_stand_to_the_right_or_below_and_a_page_keeps_to_one():
    beside = [line(0, 0, "Total"), line(300, 2, "12.50"), line(0, 30, "Change"), line(300, 31, "3.00")]
    assert right_neighbour(0, beside) == 1 and below_neighbour(0, beside) == 2
    best = [entry for entry, _, _ in labelled_values(beside) if not entry.doubt]
    assert [(entry.label, entry.value) for entry in best] == [("Total", "12.50"), ("Change", "3.00")]
    below = [line(0, 0, "Total"), line(300, 0, "Weight"), line(0, 25, "12.50"), line(300, 25, "3 kg")]
    best = [entry for entry, _, _ in labelled_values(below) if not entry.doubt]
    assert [(entry.label, entry.value) for entry in best] == [("Total", "12.50"), ("Weight", "3 kg")]


def test_lines_of_a_paragraph_are_no_labels_of_each_other():
    below = [line(0, 0, "we are glad to be of service to you"), line(0, 25, "the total effort was shared by all")]
    assert [entry.value for entry, _, _ in labelled_values(below)] == ["", ""]


def test_a_number_without_a_label_is_guessed_where_its_kind_is_asked_for():
    lonely = [line(0, 0, "Total"), line(300, 0, "12.50"), line(0, 90, "1 Feb 2026")]
    entries = [entry for entry, _, _ in labelled_values(lonely)]
    assert entries[-1] == Entry("", "1 Feb 2026") and len(entries) == 2
    scores = match_scores("on which day did this happen?", entries)
    assert scores.argmax() == 1 and scores[1] == pytest.approx(0.45)


def test_rows_follow_the_tilt_of_a_photograph():
    tilted = TextLine(np.array([[0, 0], [100, 10], [100, 30], [0, 20]], float), "Total")
    value = TextLine(np.array([[400, 40], [450, 45], [450, 65], [400, 60]], float), "12.50")
    level = TextLine(np.array([[400, 0], [450, 0], [450, 20], [400, 20]], float), "wrong")
    assert right_neighbour(0, [tilted, level, value]) == 2


def test_the_value_part_of_a_line_and_its_patches():
    found = line(0, 0, "Total: 12.50").part(7 / 12, 1)
    assert found[:, 0].min() == pytest.approx(70) and found[:, 0].max() == pytest.approx(120)
    assert np.argwhere(patches_under(found, (4, 10), 16)).tolist() == [[y, x] for y in (0, 1) for x in (4, 5, 6, 7)]
