"""Labels, values and questions: what is split, what fits, and which value a label has."""

from __future__ import annotations

import pytest

from hra.domains.tokens.text.matching import Entry, match_scores, named_exactly, split_line


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


def test_the_labels_own_words_beat_the_same_words_in_other_company_even_with_a_wrong_letter():
    entries = [Entry("TOTAI", "12.50"), Entry("Total satisfaction or your money back", ""), Entry("Subtotal", "9.00")]
    assert match_scores("what is the total?", entries).argmax() == 0


def test_a_number_without_a_label_is_guessed_where_its_kind_is_asked_for():
    scores = match_scores("on which day did this happen?", [Entry("Total", "12.50"), Entry("", "1 Feb 2026")])
    assert scores.argmax() == 1 and scores[1] == pytest.approx(0.45)


def test_a_name_without_a_value_is_no_exact_match():
    assert named_exactly("what is the total?", [Entry("Total", "12.50")])
    assert not named_exactly("what is the total?", [Entry("Total", ""), Entry("Total effort", "1"), Entry("Tax", "2")])
