"""Invoices and forms on a large page: blocks of labels with values beside or below them, between lines of text."""

from __future__ import annotations

from hra_lab.inputs.documents.document import Document, Field
from hra_lab.inputs.documents.fields import FIELDS, Random
from hra_lab.inputs.documents.letters import paragraph
from hra_lab.inputs.documents.typeset import FONTS, Sheet

_TITLES = ("INVOICE", "Delivery note", "Order form", "Statement of account")
_KINDS = (
    "number",
    "date",
    "customer",
    "address",
    "town",
    "phone",
    "due",
    "account",
    "weight",
    "subtotal",
    "tax",
    "total",
)
_SIZE = (1024, 1440)


def form(number: int, random: Random) -> Document:
    """One form of two columns of fields, the values below or beside their labels."""
    size = int(random.integers(22, 29))
    sheet = Sheet(_SIZE, str(random.choice(FONTS)), size, paper=int(random.integers(235, 256)))
    margin, below = int(random.integers(50, 90)), bool(random.random() < 0.5)
    sheet.text(margin, margin, str(random.choice(_TITLES)), scale=1.8, bold=True)
    y = paragraph(sheet, margin, margin + 3.2 * size, lines=3, random=random, scale=0.8)
    kinds = [str(kind) for kind in random.permutation(_KINDS)[: int(random.integers(6, 11))]]
    step = size * float(random.uniform(3.6, 4.6) if below else random.uniform(2.0, 2.8))
    fields, top = [], y + 1.5 * size
    for i, kind in enumerate(kinds):
        x = margin + (i % 2) * (sheet.width - 2 * margin) / 2
        fields.append(_field(sheet, x, top + (i // 2) * step, kind, below, random))
    y = top + -(-len(kinds) // 2) * step + size
    sheet.rule(y, margin)
    paragraph(sheet, margin, y + size, lines=int(random.integers(6, 14)), random=random, scale=0.8)
    return Document(f"form {number}", sheet.pixels(), tuple(fields), tuple(sheet.texts), tuple(sheet.quads))


def _field(sheet: Sheet, x: float, y: float, kind: str, below: bool, random: Random) -> Field:
    label, value = str(random.choice(FIELDS[kind].labels)), FIELDS[kind].value(random)
    if below:
        sheet.text(x, y, label, scale=0.8, ink=70)
        return Field(kind, label, value, sheet.text(x, y + 1.2 * sheet.font_size, value))
    printed = label.rstrip(".") + ":"
    scale = min(1.0, 0.42 * sheet.width / sheet.length(f"{printed}    {value}"))  # columns must not meet
    corners = sheet.text(x, y, printed, scale=scale, bold=True)
    start = float(corners[1, 0]) + sheet.length("  ", scale)
    return Field(kind, label, value, sheet.text(start, y, value, scale=scale))
