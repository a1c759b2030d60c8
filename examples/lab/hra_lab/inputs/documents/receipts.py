"""Till receipts: a head, articles with prices, sums, and a foot; words of the sums occur elsewhere, too."""

from __future__ import annotations

import numpy as np

from hra_lab.inputs.documents.document import Document, Field
from hra_lab.inputs.documents.fields import FIELDS, Random, amount
from hra_lab.inputs.documents.typeset import FONTS, MONOSPACED, Sheet

_SHOPS = ("CORNER MARKET", "The Green Grocer", "BOOK NOOK", "Cafe Lumen", "HARBOUR HARDWARE", "Petit Bistro")
_ARTICLES = (
    "Apples 1kg", "Brown bread", "Butter 250g", "Cheddar", "Coffee beans", "Eggs x12", "Flour", "Green tea",
    "Honey", "Lemonade", "Milk 1l", "Olive oil", "Pasta", "Rice", "Soap", "Tomatoes", "Wine red", "Yoghurt",
)  # fmt: skip
# Words of labels where no value stands.
_SLOGANS = (
    "Total satisfaction or your money back", "Thank you - bring this receipt to change goods",
    "Save the date: sale on every table", "Tell the cashier about your customer card", "No discount on sales items",
)  # fmt: skip
_HEAD = ("date", "time", "number", "cashier", "table", "phone")
_SUMS = ("subtotal", "tax", "discount", "total", "payment", "change")


def receipt(number: int, random: Random) -> Document:
    """One receipt.

    Parameters
    ----------
    number : in its name.
    """
    width, size = int(random.integers(600, 821)), int(random.integers(26, 37))
    name = MONOSPACED if random.random() < 0.6 else str(random.choice(FONTS))
    articles, pitch = int(random.integers(5, 14)), size * float(random.uniform(1.3, 1.7))
    head = [kind for kind in _HEAD if random.random() < 0.65] or ["date"]
    sums = [kind for kind in _SUMS if kind == "total" or random.random() < 0.7]
    lines = 9 + len(head) + articles + len(sums)
    sheet = Sheet((width, round(pitch * lines)), name, size, paper=int(random.integers(225, 256)))
    margin = int(random.integers(24, 60))
    y = pitch
    sheet.centred(y, str(random.choice(_SHOPS)), scale=1.2, bold=True)
    y = _slogan(sheet, y + 1.6 * pitch, random)
    fields, y = _rows(sheet, margin, y + pitch, pitch, head, random, spread=random.random() < 0.5)
    sheet.rule(y + pitch / 2, margin)
    y = _articles(sheet, margin, y + pitch, pitch, articles, random)
    sheet.rule(y + pitch / 2, margin)
    more, y = _rows(sheet, margin, y + pitch, pitch, sums, random, spread=True)
    _slogan(sheet, y + pitch, random)
    return Document(f"receipt {number}", sheet.pixels(), (*fields, *more), tuple(sheet.texts), tuple(sheet.quads))


def _articles(sheet: Sheet, margin: int, y: float, pitch: float, count: int, random: Random) -> float:
    for article in random.permutation(_ARTICLES)[:count]:
        sheet.text(margin, y, str(article))
        sheet.right(sheet.width - margin, y, amount(random, 1, 30))
        y += pitch
    return y


def _rows(
    sheet: Sheet, margin: int, y: float, pitch: float, kinds: list[str], random: Random, spread: bool
) -> tuple[list[Field], float]:
    """Label and value in rows, the value at the right edge or behind the label."""
    fields = []
    for kind in kinds:
        label, value = str(random.choice(FIELDS[kind].labels)), FIELDS[kind].value(random)
        printed = label if spread else label.rstrip(".") + ":"
        corners = sheet.text(margin, y, printed, bold=kind == "total")
        if spread:
            quad = sheet.right(sheet.width - margin, y, value, bold=kind == "total")
        else:
            quad = sheet.text(float(corners[1, 0]) + sheet.length("  "), y, value)
        fields.append(Field(kind, label, value, quad))
        y += pitch
    return fields, y


def _slogan(sheet: Sheet, y: float, random: Random) -> float:
    text = str(random.choice(_SLOGANS))
    scale = min(0.8, 0.9 * sheet.width / sheet.length(text))
    return float(np.max(sheet.centred(y, text, scale=scale)[:, 1]))
