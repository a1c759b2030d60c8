"""Words that mean something, and how alike texts are by them."""

from __future__ import annotations

import pytest

from hra.domains.tokens.text.glosses import gloss
from hra.domains.tokens.text.words import content_words, likeness, unicode_text


def test_words_of_questions_are_left_out_unless_there_are_no_others():
    assert content_words("What is the due date?") == ["due", "date"]
    assert content_words("who is it") == ["who", "is", "it"]
    assert content_words("12.50") == []
    assert content_words("Größe, Société ОБЩИЕ") == ["große", "societe", "общие"]


def test_one_misread_letter_is_forgiven():
    assert likeness("total", "tota") == pytest.approx(8 / 9) and likeness("date", "gate") == 0


def test_a_label_is_explained_though_a_letter_was_misread_but_a_sentence_is_not():
    assert gloss("BAN") == gloss("IBAN") and gloss("Cashler") == gloss("Cashier")
    assert gloss("weight and colour of the goods may vary") is None
    assert gloss("update") is None and gloss("Order form") is None


def test_halves_of_surrogate_pairs_are_joined_or_marked():
    assert unicode_text("caf\udce9 \ud83d\ude00 ok \ud83d") == "caf\ufffd \U0001f600 ok \ufffd"
    assert unicode_text("Größe 中文") == "Größe 中文"
