from __future__ import annotations

import pytest

from hra.domains.tokens.text.matching import Entry, match_scores
from hra.domains.tokens.text.meaning import can_embed


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
