from __future__ import annotations

import numpy as np
import pytest

from hra.domains.tokens.text.labelled_values import labelled_values
from hra.domains.tokens.text.lines import TextLine
from hra.domains.tokens.text.matching import Entry, match_scores


def line(x: float, y: float, text: str, height: float = 20) -> TextLine:
    width = 10 * len(text)
    return TextLine(np.array([[x, y], [x + width, y], [x + width, y + height], [x, y + height]], float), text)


def test_lines_of_a_paragraph_are_no_labels_of_each_other():
    below = [line(0, 0, "we are glad to be of service to you"), line(0, 25, "the total effort was shared by all")]
    assert [entry.value for entry, _, _ in labelled_values(below)] == ["", ""]


def test_a_number_without_a_label_is_guessed_where_its_kind_is_asked_for():
    lonely = [line(0, 0, "Total"), line(300, 0, "12.50"), line(0, 90, "1 Feb 2026")]
    entries = [entry for entry, _, _ in labelled_values(lonely)]
    assert entries[-1] == Entry("", "1 Feb 2026") and len(entries) == 2
    scores = match_scores("on which day did this happen?", entries)
    assert scores.argmax() == 1 and scores[1] == pytest.approx(0.45)
