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


@pytest.mark.skipif(not can_embed(), reason="needs the extra vlm")
@pytest.mark.parametrize("half", ["\udcff", "\ud83d"], ids=["a byte that is not UTF-8", "half a pair of JSON"])
def test_a_question_with_half_a_character_is_read_by_its_words(half):
    assert same_meaning(f"how much money {half} was spent?", ["Cashier", "Total", "Date"]).argmax() == 1
