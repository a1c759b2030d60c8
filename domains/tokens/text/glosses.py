"""What the labels of forms and receipts mean, in other words: a small thesaurus for questions that paraphrase them."""

from __future__ import annotations

import re

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


def gloss(label: str) -> str | None:
    """Other words for what ``label`` means; None for a label that is not known."""
    said = label.lower()
    return next((meaning for words, meaning in _GLOSSES if re.search(rf"\b(?:{words})\b", said)), None)
