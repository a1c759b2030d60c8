"""What several tests of reader share."""

from __future__ import annotations

import pytest

from hra.domains.tokens.text.reader import can_read
from hra_lab.inputs.documents.typeset import Sheet

needs_reader = pytest.mark.skipif(not can_read(), reason="needs the extra ocr")


def page():
    """A page of three rows; the quads of what was printed, too."""
    sheet = Sheet((640, 480), "DejaVuSans.ttf", 30)
    rows = [("Total satisfaction or your money back", None), ("TOTAL", "319.10"), ("Change", "4.64")]
    quads = []
    for i, (label, value) in enumerate(rows):
        quads.append(sheet.text(20, 60 + 120 * i, label))
        if value:
            quads.append(sheet.right(620, 60 + 120 * i, value))
    return sheet.pixels(), quads
