"""Signs beside lines that no detector found."""

from __future__ import annotations

import numpy as np
import pytest

from hra.domains.tokens.text.isolated import isolated
from hra.domains.tokens.text.lines import TextLine


def line(x0: float, y0: float, x1: float, y1: float) -> TextLine:
    return TextLine(np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]]))


def row(*signs: tuple[int, int, int, int]) -> np.ndarray:
    """Strokes of a page of one line, 20 pixels high, and of what else stands there (x0, y0, x1, y1)."""
    strokes = np.zeros((80, 400), np.float32)
    strokes[34:46, 20:100:4] = 0.9
    for x0, y0, x1, y1 in signs:
        strokes[y0:y1, x0:x1] = 0.9
    return strokes


LINE = line(16, 30, 104, 50)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_figure_in_the_row_of_a_line_is_a_line_dark_or_light(sign):
    (found,) = isolated(sign * row((300, 34, 306, 46)), [LINE], 0.9)
    x0, y0, x1, y1 = found.box
    assert 290 < x0 < 300 and 306 < x1 < 316 and 26 < y0 < 34 and 46 < y1 < 54
    assert found.text is None


def test_figures_of_one_number_are_one_line_and_others_are_not():
    number, other = (300, 34, 306, 46), (309, 34, 315, 46)
    assert len(isolated(row(number, other), [LINE], 0.9)) == 1
    assert len(isolated(row(number, (360, 34, 366, 46)), [LINE], 0.9)) == 2


@pytest.mark.parametrize(
    "sign",
    [
        pytest.param((300, 43, 303, 46), id="a leader"),
        pytest.param((300, 10, 306, 70), id="a rule"),
        pytest.param((200, 34, 380, 46), id="a bar"),
        pytest.param((300, 62, 306, 74), id="in another row"),
        pytest.param((96, 34, 108, 46), id="a letter of the line"),
    ],
)
def test_what_is_no_figure_or_has_no_line_beside_it_is_none(sign):
    assert isolated(row(sign), [LINE], 0.9) == []


def test_textures_and_pages_without_lines_have_none():
    spots = [(120 + 24 * i, 34, 126 + 24 * i, 46) for i in range(11)]
    strokes = np.concatenate([row(*spots)] * 4)
    lines = [line(16, 30 + 80 * i, 104, 50 + 80 * i) for i in range(4)]
    assert len(isolated(row(*spots), lines[:1], 0.9)) == 11
    assert isolated(strokes, lines, 0.9) == []
    assert isolated(row((300, 34, 306, 46)), [], 0.9) == []
    assert isolated(np.zeros((80, 400), np.float32), lines[:1], 0.0) == []
