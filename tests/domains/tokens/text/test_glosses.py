from __future__ import annotations

from hra.domains.tokens.text.glosses import gloss


def test_glosses_are_of_whole_words():
    assert gloss("Grand total") == gloss("TOTAL DUE") and gloss("Subtotal") != gloss("Total")
    assert gloss("update") is None
