"""Running text and the first lines of its paragraphs; lines found by their strokes."""

from __future__ import annotations

import numpy as np

from hra.domains.tokens.text.lines import TextLine, ends_early, likeness_lines, paragraph_heads, running
from tests.helpers.reader_cases import page


def line(x: float, y: float, width: float, height: float = 20) -> TextLine:
    return TextLine(np.array([[x, y], [x + width, y], [x + width, y + height], [x, y + height]], float))


def test_long_lines_and_rather_long_ones_across_the_text_are_running_text():
    lines = [line(0, 0, 400), line(0, 30, 180), line(300, 30, 100), line(0, 60, 260)]
    assert running(lines).tolist() == [True, False, False, True]
    assert running([]).tolist() == [] and paragraph_heads([], np.zeros(0, bool)).tolist() == []


def test_the_first_line_and_those_after_a_gap_begin_a_paragraph():
    lines = [line(0, y, 400) for y in (0, 30, 60, 120, 150, 180)]
    assert paragraph_heads(lines, running(lines)).tolist() == [True, False, False, True, False, False]


def test_what_stands_in_another_column_is_not_above():
    lines = [line(0, 0, 100), line(0, 30, 100), line(300, 20, 100), line(300, 50, 100)]
    assert paragraph_heads(lines, np.ones(4, bool)).tolist() == [True, False, True, False]


def test_what_ends_well_before_the_margin_of_running_text_ends_early():
    lines = [line(0, 0, 400), line(0, 30, 370), line(0, 60, 300), line(500, 90, 60)]
    assert ends_early(lines, running(lines)).tolist() == [False, False, True, False]
    assert ends_early(lines, np.zeros(4, bool)).tolist() == [False] * 4
    assert ends_early([], np.zeros(0, bool)).tolist() == []


def test_lines_are_found_by_their_strokes():
    image, quads = page()
    boxes = np.array([one.box for one in likeness_lines(np.ascontiguousarray(image[::2, ::2]), 2.0)])
    for quad in quads:
        centre = quad.mean(axis=0)
        inside = (boxes[:, :2] <= centre).all(axis=1) & (boxes[:, 2:] >= centre).all(axis=1)
        near = (abs(boxes[:, [1, 3]].mean(axis=1) - centre[1]) < 12).any()
        assert inside.any() or near
