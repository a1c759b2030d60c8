"""Letters: running text, some lines of which state a value; the same words stand in other lines."""

from __future__ import annotations

from hra_lab.inputs.documents.document import Document, Field
from hra_lab.inputs.documents.fields import FIELDS, Random
from hra_lab.inputs.documents.typeset import FONTS, Sheet

_SENTENCES = (
    "please keep this copy for your own records", "we are glad to be of service to you",
    "our offices are closed during public holidays", "the total effort was shared by many hands",
    "a date that suits everybody is hard to find", "payment terms are described in our handbook",
    "the customer is always welcome in our house", "the address book was moved to a new table",
    "weight and colour of the goods may vary", "an account of the journey follows below",
    "prices are quoted without any obligation", "the phone rang while the kettle boiled",
)  # fmt: skip
_KINDS = ("total", "date", "customer", "phone", "due", "account", "town", "weight", "number")
_SIZE = (1024, 1440)


def letter(number: int, random: Random) -> Document:
    """One letter of paragraphs, each with one line that states a value."""
    size = int(random.integers(22, 28))
    sheet = Sheet(_SIZE, str(random.choice(FONTS[:4])), size, paper=int(random.integers(238, 256)))
    margin = int(random.integers(60, 110))
    y = paragraph(sheet, margin, 90, lines=2, random=random) + size
    fields = []
    for kind in random.permutation(_KINDS)[: int(random.integers(4, 7))]:
        fields.append(_state(sheet, margin, y, str(kind), random))
        y = paragraph(sheet, margin, y + 1.6 * size, lines=int(random.integers(2, 4)), random=random) + size
    return Document(f"letter {number}", sheet.pixels(), tuple(fields), tuple(sheet.texts), tuple(sheet.quads))


def paragraph(sheet: Sheet, margin: int, y: float, *, lines: int, random: Random, scale: float = 1.0) -> float:
    """Lines of text that state nothing; returns where the next line would begin."""
    for _ in range(lines):
        text = "" if random.random() < 0.5 else "and "
        text += str(random.choice(_SENTENCES))
        sheet.text(margin, y, text, scale=min(scale, 0.97 * (sheet.width - 2 * margin) / sheet.length(text)))
        y += 1.6 * sheet.font_size * scale
    return y


def _state(sheet: Sheet, margin: int, y: float, kind: str, random: Random) -> Field:
    label, value = str(random.choice(FIELDS[kind].labels)), FIELDS[kind].value(random)
    before = f"Please note the {label.lower().rstrip('.')}: "
    corners = sheet.text(margin, y, before)
    return Field(kind, label, value, sheet.text(float(corners[1, 0]) + sheet.length(" ") / 2, y, value))
