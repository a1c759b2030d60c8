from __future__ import annotations

import pytest

from hra.domains.tokens.text.meaning import can_embed, same_meaning


@pytest.mark.skipif(not can_embed(), reason="needs the extra vlm")
def test_a_paraphrase_finds_the_label_by_meaning():
    labels = ["Cashier", "Total", "Date", "Change"]
    for question, expected in (
        ("how much money was spent?", 1),
        ("which day was it?", 2),
        ("who was the employee at the till?", 0),
    ):
        assert same_meaning(question, labels).argmax() == expected, question
