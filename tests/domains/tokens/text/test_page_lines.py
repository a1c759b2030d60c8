"""Pages that lie on their side or stand on their head, and light print on dark ground."""

from __future__ import annotations

import numpy as np
import pytest

from hra.domains import tokens
from hra.domains.tokens.text.page_lines import page_lines
from hra.domains.tokens.text.reader import can_read
from hra_lab.inputs.documents.typeset import Sheet

pytestmark = pytest.mark.skipif(not can_read(), reason="needs the extra ocr")
_ROWS = [("Invoice number", "48213"), ("Issued on", "14.03.2019"), ("TOTAL AMOUNT", "319.10"), ("Change given", "4.64")]


def page() -> tuple[np.ndarray, np.ndarray]:
    """A page, and the corners of its total."""
    sheet = Sheet((640, 480), "DejaVuSans.ttf", 30)
    for i, (label, _) in enumerate(_ROWS):
        sheet.text(20, 60 + 90 * i, label)
    quads = [sheet.right(620, 60 + 90 * i, value) for i, (_, value) in enumerate(_ROWS)]
    return np.ascontiguousarray(sheet.pixels()), quads[2]


@pytest.mark.parametrize("turns", [0, 1, 2, 3])
@pytest.mark.parametrize("dark", [False, True])
def test_a_page_is_read_as_it_lies_and_its_total_is_found_there(turns, dark):
    image, quad = page()
    mark = np.zeros(image.shape[:2], bool)
    (x0, y0), (x1, y1) = quad.min(axis=0).astype(int), quad.max(axis=0).astype(int)
    mark[y0:y1, x0:x1] = True
    turned = np.ascontiguousarray(np.rot90(1 - image if dark else image, -turns))
    read = page_lines(turned)
    assert read.counts["quarter turns"] == turns
    assert {value for _, value in _ROWS} <= {line.text for line in read.lines}
    context = tokens.PyramidSampling(tokens.PhraseRelevance(read=True)).context(turned, "what is the total amount?")
    y, x = np.unravel_index(int(context.relevance.argmax()), context.relevance.shape)
    assert np.rot90(mark, -turns)[16 * y : 16 * y + 16, 16 * x : 16 * x + 16].any()
    assert context.served.used and context.served.by == "phrase" and 0.3 < (context.served.confidence or 0) <= 1
