"""Words that mean something, and how alike texts are by them."""

from __future__ import annotations

import pytest

from hra.domains.tokens.text.glosses import gloss
from hra.domains.tokens.text.words import content_words, likeness, same_words


def test_words_of_questions_are_left_out_unless_there_are_no_others():
    assert content_words("What is the due date?") == ["due", "date"]
    assert content_words("who is it") == ["who", "is", "it"]
    assert content_words("12.50") == []
    assert content_words("Größe, Société ОБЩИЕ") == ["große", "societe", "общие"]


def test_texts_are_alike_by_what_each_has_of_the_other():
    assert same_words("what is the total?", "TOTAL") == 1
    assert same_words("what is the total?", "Total satisfaction or your money back") < 0.5
    assert same_words("what is the total?", "Date") == 0 == same_words("what is the total?", "12.50")


def test_one_misread_letter_is_forgiven():
    assert likeness("total", "tota") == pytest.approx(8 / 9) and likeness("date", "gate") == 0


def test_a_label_is_explained_though_a_letter_was_misread_but_a_sentence_is_not():
    assert gloss("BAN") == gloss("IBAN") and gloss("Cashler") == gloss("Cashier")
    assert gloss("weight and colour of the goods may vary") is None
    assert gloss("update") is None and gloss("Order form") is None
