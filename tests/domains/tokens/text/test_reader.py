"""Lines found and read on made pages, with RapidOCR and without."""

from __future__ import annotations

from difflib import SequenceMatcher
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from hra.domains.tokens.text import reader
from hra.domains.tokens.text.lines import TextLine
from hra.domains.tokens.text.reader import found_lines, read_lines, reading_widths, without_subnormals
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


@needs_reader
def test_the_last_figure_of_a_line_is_read_though_nothing_of_the_page_follows_it():
    sheet, text = Sheet((900, 120), "STIXGeneral.ttf", 26), "Tax Balance Delivered 106.55"
    line = TextLine(sheet.text(40, 40, text))
    (read,) = read_lines(sheet.pixels(), 1.0, [line], reading_widths(sheet.pixels(), 1.0, [line]))
    assert read.text == text


@needs_reader
@pytest.mark.parametrize("font", ["DejaVuSans.ttf", "STIXGeneral.ttf"])
@pytest.mark.parametrize("text", ["Tax 4.99", "Sum: 12.50"])
def test_the_end_of_a_short_line_stands_where_it_was_printed(font, text):
    """What the recogniser sees behind a line is no part of it: of short lines it would be a tenth."""
    sheet = Sheet((400, 120), font, 34)
    whole, begins = sheet.text(40, 40, text), 40 + sheet.length(text[:-1])
    (line,) = read_lines(sheet.pixels(), 1.0, [TextLine(whole)])
    x0, x1 = whole[0, 0], whole[1, 0]
    assert line.text == text and abs(x0 + line.share(len(text) - 1) * (x1 - x0) - begins) < 4


def _field(number: int, content: bytes | int) -> bytes:
    """One field of a protocol buffer: a number, or bytes."""
    if isinstance(content, int):
        return _number(number << 3) + _number(content)
    return _number(number << 3 | 2) + _number(len(content)) + content


def _number(value: int) -> bytes:
    low = value & 127
    return bytes([low | 128]) + _number(value >> 7) if value >> 7 else bytes([low])


def _model(weights: np.ndarray, kind: int) -> bytes:
    constant = _field(1, weights.size) + _field(2, kind) + _field(8, b"w") + _field(9, weights.tobytes())
    fixed = bytes([4 << 3 | 5]) + bytes(4) + bytes([10 << 3 | 1]) + bytes(8)  # of 4 and of 8 bytes, in newer files
    return _field(1, 300) + _field(7, _field(2, b"graph") + fixed + _field(5, constant) + _field(5, constant))


def test_subnormal_weights_are_zero_and_nothing_else_changes():
    weights = np.array([1.0, -1e-39, 1.2e-38, 1e-45, -0.0, np.inf] * 50, np.float32)
    kept = np.where(np.abs(weights) < np.finfo(np.float32).tiny, np.float32(0), weights)
    assert without_subnormals(_model(weights, 1)) == _model(kept, 1)
    assert without_subnormals(_model(weights, 6)) == _model(weights, 6)  # whole numbers of 32 bits


@needs_reader
def test_the_detector_says_the_same_without_its_subnormal_weights():
    onnx, rapid = import_module("onnxruntime"), import_module("rapidocr")
    slow = rapid.RapidOCR(params=reader._OPTIONS)._load_det_model().session.session
    weights = Path(slow._model_path).read_bytes()
    assert without_subnormals(weights) != weights
    fast = reader._detector().session.session
    assert isinstance(fast, onnx.InferenceSession) and fast._model_path is None
    image = np.ascontiguousarray(page()[0].transpose(2, 0, 1)[None])
    np.testing.assert_allclose(*(one.run(None, {"x": image})[0] for one in (slow, fast)), rtol=0, atol=1e-6)
