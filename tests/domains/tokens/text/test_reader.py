"""Lines found and read on made pages, with RapidOCR and without."""

from __future__ import annotations

from difflib import SequenceMatcher

import numpy as np

from hra.domains.tokens.text.lines import TextLine
from hra.domains.tokens.text.reader import found_lines, read_lines, reading_widths
from hra_lab.inputs.documents.typeset import Sheet
from tests.helpers.reader_cases import needs_reader, page


@needs_reader
def test_what_is_printed_is_found_on_a_small_copy_and_read():
    image, quads = page()
    lines = found_lines(np.ascontiguousarray(image[::2, ::2]), 2.0)
    assert len(lines) == len(quads)
    read = read_lines(image, 1.0, lines)
    assert [one.text for one in read][1:] == ["TOTAL", "319.10", "Change", "4.64"]


@needs_reader
def test_a_line_is_read_as_narrow_as_its_letters_allow_however_loose_its_box():
    sheet = Sheet((1024, 200), "STIXGeneral.ttf", 24)
    text = "an account of the journey follows below"
    quad = sheet.text(40, 80, text)
    loose = quad + np.array([[-6, -14], [6, -14], [6, 14], [-6, 14]])
    tight, wide = (TextLine(corners) for corners in (quad, loose))
    widths = reading_widths(sheet.pixels(), 1.0, [tight, wide])
    assert all(9 * len(text) < width < 14 * len(text) for width in widths)
    read = [
        read_lines(sheet.pixels(), 1.0, [one], [width])[0].text
        for one, width in zip((tight, wide), widths, strict=True)
    ]
    assert all(SequenceMatcher(None, one or "", text).ratio() > 0.9 for one in read)


@needs_reader
def test_letters_stand_where_they_were_printed_however_wide_they_are():
    """A label of narrow letters before a value of wide ones, which by counting letters would begin farther right."""
    for font in ("DejaVuSans.ttf", "STIXGeneral.ttf"):
        sheet, label, value = Sheet((900, 120), font, 34), "still filling it till: ", "WOMBAT 604"
        whole = sheet.text(40, 40, label + value)
        begins = 40 + sheet.length(label)
        (line,) = read_lines(sheet.pixels(), 1.0, [TextLine(whole)])
        text = line.text or ""
        x0, x1 = whole[0, 0], whole[1, 0]
        number = text.index("W")
        found, counted = (x0 + share * (x1 - x0) for share in (line.share(number), number / len(text)))
        assert abs(found - begins) < 14 < counted - begins - 30
        assert (line.share(0), line.share(len(text))) == (0, 1)
        assert line.edges is not None and (np.diff(line.edges) >= 0).all() and len(line.edges) == len(text) + 1
