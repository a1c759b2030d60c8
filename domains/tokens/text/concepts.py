"""What labels are about, by their words in five languages: totals, taxes, dates and other things that pages name."""

from __future__ import annotations

import re
from functools import lru_cache

from hra.domains.tokens.text.words import likeness

# English, German, French, Spanish and Malay; a word of a label or of a question names each concept that lists it.
_WORDS = {
    "subtotal": "subtotal sub-total zwischensumme netto net sous-total nett subjumlah",
    "total": "total totals gesamt gesamtbetrag summe montant importe jumlah due balance altogether overall sum "
    "zahlbetrag amaun",
    "amount": "amount betrag montant importe amaun price preis prix precio harga cost costs kosten pay paid spend "
    "spent spending charged fee gebühr",
    "tax": "tax gst vat sst mwst ust tva iva cukai taxes steuer impuesto government state treasury",
    "change": "change wechselgeld rückgeld monnaie rendu cambio baki returned handed coins",
    "tendered": "cash tendered bar gegeben espèces efectivo tunai received card visa mastercard debit credit bayaran",
    "discount": "discount rabatt remise descuento diskaun savings saved saving sparen cheaper ersparnis rebate "
    "reduction reduced nachlass réduction rebaja",
    "rounding": "rounding rounded rundung arrondi redondeo pembundaran adj adjustment roundings",
    "quantity": "qty quantity menge quantité cantidad kuantiti pieces items stück count anzahl many",
    "date": "date datum fecha tarikh day tag jour día when issued bought",
    "time": "time uhrzeit zeit heure hora masa clock hour",
    "due": "due fällig fälligkeit échéance vencimiento deadline expires expiry until payable",
    "birth": "birth born geburtsdatum geburt naissance nacimiento lahir birthday",
    "name": "name nom nombre nama who",
    "address": "address adresse dirección alamat street straße anschrift rue calle jalan road avenue house lives "
    "residence wohnhaft domicile",
    "phone": "phone tel telephone telefon téléphone teléfono mobile call dial fax ring dialled dialed "
    "calling handy hotline",
    "number": "number no nr num numéro número nombor reference ref id identifies identify",
    "cashier": "cashier clerk kassierer bediener caissier cajero juruwang operator served employee staff checkout "
    "till seller salesperson waiter waitress verkäufer vendeur vendedor",
    "customer": "customer client kunde cliente pelanggan buyer käufer acheteur purchaser ordered besteller guest",
    "weight": "weight gewicht poids peso berat mass heavy weigh weighs kilogram kilograms kilo kilos pounds",
    "page": "page seite página pages halaman begin begins",
    "city": "city town stadt ort ville ciudad bandar village destination",
    "account": "account iban bic swift konto kontonummer bankverbindung compte cuenta akaun bank transfer transferred "
    "wire wired überweisung überweisen virement transferencia",
    "seat": "table seat tisch sitzplatz mesa meja sit sat sitting seated",
    "method": "payment card credit debit cash settle settled zahlungsart paiement règlement pago",
    "email": "email e-mail mail correo emel",
}
_WITH_TAX = r"\b[il1]ncl(?:usive|uding)?\b|\bTTC\b|\binkl"
_WITHOUT_TAX = r"\bexcl(?:uding|usive)?\b|\b(?:before|without|ohne|hors|sin)\b"
_BY_WHEN = r"\b(?:by|until|before) when\b|\bbis wann\b"
_BY_WORD: dict[str, set[str]] = {}
for _concept, _listed in _WORDS.items():
    for _word in _listed.split():
        _BY_WORD.setdefault(_word, set()).add(_concept)
_LONG = 6  # letters from which a misread word is taken for the known one
_LONG_WORDS = [_word for _word in _BY_WORD if len(_word) >= _LONG]
_JOINED, _INSIDE, _AT_END = 9, 5, 3  # letters of words read as one, and of a known word in it, or at its start or end


@lru_cache(maxsize=8192)
def concepts(text: str) -> frozenset[str]:
    """The concepts that the words of ``text`` name, misread letters of long words forgiven."""
    found: set[str] = set()
    for word in re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)?", text.lower()):
        found |= _of_word(word)
    with_tax, without = (re.search(rf"(?i){words}", text) for words in (_WITH_TAX, _WITHOUT_TAX))
    if "total" in found and with_tax:  # what it includes is not what it is
        found.discard("tax")
    if "tax" in found and without:
        found.discard("tax")
        found.add("subtotal")
    if "subtotal" in found or re.search(r"(?i)\bsub\b", text) or ("total" in found and without):
        found.discard("total")
        found.add("subtotal")
    if re.search(rf"(?i){_BY_WHEN}", text):
        found.add("due")
    return frozenset(found)


@lru_cache(maxsize=8192)
def _of_word(word: str) -> frozenset[str]:
    if word in _BY_WORD or len(word) < _LONG:
        return frozenset(_BY_WORD.get(word, ()))
    best = max(_LONG_WORDS, key=lambda known: likeness(word, known))
    if likeness(word, best):
        return frozenset(_BY_WORD[best])
    if len(word) < _JOINED:
        return frozenset()
    return frozenset().union(*(named for known, named in _BY_WORD.items() if _holds(word, known)))


def _holds(word: str, known: str) -> bool:
    """Whether ``word`` is several that were read as one, of which ``known`` is one."""
    if len(known) < _AT_END:
        return False
    return word.startswith(known) or word.endswith(known) or (len(known) >= _INSIDE and known in word)
