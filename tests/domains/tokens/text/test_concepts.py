from __future__ import annotations

from hra.domains.tokens.text.concepts import concepts


def test_concepts_are_named_in_five_languages_and_a_subtotal_is_no_total():
    assert all("total" in concepts(word) for word in ("Total", "Gesamtbetrag", "Montant", "importe", "JUMLAH"))
    assert "total" not in concepts("Sub Total") and "subtotal" in concepts("SUBTOTAL")


def test_words_that_were_read_as_one_name_the_concepts_of_each():
    assert {"total", "amount", "tax"} <= concepts("TOTALAMOUNTWITHGST")
    assert "subtotal" in concepts("SUBTOTALAMOUNT") and "total" not in concepts("SUBTOTALAMOUNT")
    assert concepts("restaurants") == frozenset() and concepts("barcode") == frozenset()


def test_a_total_that_includes_tax_is_no_tax_and_one_before_tax_is_no_total():
    assert "tax" not in concepts("Total Sales (Inclusive of GST)") and "total" in concepts("TOTAL INCL. GST")
    assert "tax" in concepts("Total includes 6% GST") and "tax" in concepts("GST included in total")
    assert "subtotal" in concepts("Total excl. GST") and "total" not in concepts("Total before tax")


def test_what_something_is_without_tax_is_a_subtotal():
    assert concepts("what would it be without tax?") & {"subtotal", "tax", "total"} == {"subtotal"}
    assert "tax" in concepts("what is the tax?")
