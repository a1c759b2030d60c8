from __future__ import annotations

from hra.domains.tokens.text.concepts import concepts


def test_concepts_are_named_in_five_languages_and_a_subtotal_is_no_total():
    assert all("total" in concepts(word) for word in ("Total", "Gesamtbetrag", "Montant", "importe", "JUMLAH"))
    assert "total" not in concepts("Sub Total") and "subtotal" in concepts("SUBTOTAL")
