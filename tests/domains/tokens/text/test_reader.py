"""Lines found and read on made pages, with RapidOCR and without."""

from __future__ import annotations

from difflib import SequenceMatcher

import numpy as np
import pytest

from hra.domains import tokens
from hra.domains.tokens.text.likeness_lines import likeness_lines
from hra.domains.tokens.text.lines import TextLine
from hra.domains.tokens.text.reader import can_read, found_lines, read_lines, reading_widths
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
def test_of_a_long_letter_the_first_lines_of_paragraphs_are_read_first():
    sheet = Sheet((1024, 1440), "DejaVuSans.ttf", 24)
    filler = "and please keep this copy of our terms for your own records"
    for number in range(7):
        sheet.text(60, 60 + 180 * number, "Please note the total of all these goods: 83.40" if number == 6 else filler)
        for below in (38, 76):
            sheet.text(60, 60 + 180 * number + below, filler)
    context = tokens.PyramidSampling(tokens.PhraseRelevance(read=True)).context(sheet.pixels(), "what is the total?")
    y, x = np.unravel_index(int(context.relevance.argmax()), context.relevance.shape)
    assert abs(16 * y - (60 + 180 * 6)) < 40 and 16 * x > 400
    assert context.counts["pixels of width read"] <= 9000


def test_lines_are_found_by_their_strokes():
    image, quads = page()
    boxes = np.array([one.box for one in likeness_lines(np.ascontiguousarray(image[::2, ::2]), 2.0)])
    for quad in quads:
        centre = quad.mean(axis=0)
        inside = (boxes[:, :2] <= centre).all(axis=1) & (boxes[:, 2:] >= centre).all(axis=1)
        near = (abs(boxes[:, [1, 3]].mean(axis=1) - centre[1]) < 12).any()
        assert inside.any() or near


@needs_reader
@pytest.mark.parametrize(("query", "number"), [("what is the total?", 2), ("what is the change?", 4)])
def test_the_answer_is_the_most_relevant_though_its_word_stands_elsewhere(query, number):
    image, quads = page()
    context = tokens.PyramidSampling(tokens.PhraseRelevance(read=True)).context(image, query)
    x, y = (quads[number].mean(axis=0) // 16).astype(int)
    assert context.relevance[y, x] > 0.99 * context.relevance.max()
    assert context.counts["lines read"] <= context.counts["lines found"] == 5
    assert context.query_matters


@needs_reader
def test_two_questions_on_one_image_give_different_tokens_and_lines_are_searched_once():
    image, _ = page()
    allocator = tokens.PyramidSampling(tokens.PhraseRelevance(read=True))
    one = allocator.context(image, "what is the total?")
    other = one.asking("what is the change?")
    cuts = [set(allocator.allocate(context, 30).cut.tolist()) for context in (one, other)]
    assert cuts[0] != cuts[1]
    assert "lines found" in one.counts and "lines found" not in other.counts


def test_by_layout_what_stands_to_the_right_counts_most():
    image, quads = page()
    scores = tokens.PhraseRelevance(read=False)(tokens.TokenContext.of(image, "what is the total?"))
    (label_x, y), (value_x, _) = ((quads[i].mean(axis=0) // 16).astype(int) for i in (1, 2))
    assert scores[y, value_x] > scores[y, label_x] > scores[0, 0]


def test_an_image_without_text_has_the_relevance_of_its_cues():
    image = np.full((96, 96, 3), 0.5, np.float32)
    image[30:50, 40:60] = (0.9, 0.1, 0.1)
    context = tokens.TokenContext.of(image, "what is on the left?")
    for read in (None, False):
        assert tokens.PhraseRelevance(read)(context) == pytest.approx(tokens.CueRelevance()(context))
