"""What the labels of forms and receipts mean, in other words: a small thesaurus for questions that paraphrase them."""

from __future__ import annotations

import re

from hra.domains.tokens.text.words import content_words, likeness

# Labels (whole words, the first that is found counts), and what is asked where they are meant.
_GLOSSES = (
    (r"sub ?total|net", "the price of the goods without tax, before tax is added"),
    (r"due date|payable until|pay by|expires?|valid until", "the deadline, by when the money must be paid or arrive"),
    (r"total|amount due|balance|sum", "how much was paid altogether, the final cost, the money spent"),
    (r"vat|tax|gst|mwst", "the money that the state or the government receives"),
    (r"change|cash ?back", "the coins and money that were handed back, returned to the buyer"),
    (r"discount|saved|savings|rebate", "how much cheaper it was made, the price reduction"),
    (r"tip|gratuity|service", "what the waiter was given"),
    (r"date|issued", "when it was written or printed, the day on which it happened"),
    (r"time|printed at", "the hour that the clock showed, how late it was"),
    (r"cashier|clerk|served|server|operator", "the employee who worked at the checkout or till and helped"),
    (r"customer|client|bill to|buyer|sold to", "the person who bought or ordered the goods, the buyer"),
    (r"iban|account|bank|swift|bic", "where money should be transferred or wired to"),
    (r"phone|tel|telephone|mobile", "the number that one can call, ring or dial"),
    (r"paid|payment|card|method", "cash or credit card, how it was settled"),
    (r"invoice no|receipt no|document no|order no|no|number|reference|ref", "the number that identifies this bill"),
    (r"table|seat", "the place where the guests were sitting in the restaurant"),
    (r"city|town|delivery|ship to|destination", "the town that the goods are delivered or shipped to"),
    (r"address|street", "the house and road where they live"),
    (r"weight|mass", "how heavy it is, in kilograms"),
    (r"e-?mail", "where one can write to them"),
    (r"qty|quantity|pieces", "how many there are"),
    (r"born|birth", "the birthday, how old they are"),
    (r"opening|hours|open", "when one can come"),
    (r"gate|platform|room", "where one has to go"),
)


_LEAST, _MISREAD = 3, 0.85  # letters of a word that may be misread, and the share of them that must be right
# Known labels of one plain word.
_SINGLE = [
    (word, meaning) for words, meaning in _GLOSSES for word in words.split("|") if word.isalpha() and len(word) > _LEAST
]
_WORDS = 3  # that mean something; a text of more is a sentence, whatever words are in it


def gloss(label: str) -> str | None:
    """Other words for what ``label`` means, misread letters forgiven; None for a label that is not known."""
    if len(content_words(label)) > _WORDS:
        return None
    said = label.lower()
    exact = (meaning for words, meaning in _GLOSSES if re.search(rf"\b(?:{words})\b", said))
    return next(exact, None) or _misread(said)


def _misread(label: str) -> str | None:
    """The meaning of the known word that a word of the label is most like."""
    words = [word for word in content_words(label) if len(word) >= _LEAST]
    alike = [(likeness(word, other), meaning) for word in words for other, meaning in _SINGLE]
    best = max(alike, key=lambda one: one[0], default=(0.0, None))
    return best[1] if best[0] >= _MISREAD else None
