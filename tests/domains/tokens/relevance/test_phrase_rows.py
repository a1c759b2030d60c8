from __future__ import annotations

import numpy as np
import pytest

from hra.domains.tokens.relevance.phrase import patches_under, right_neighbour
from hra.domains.tokens.text.lines import TextLine


def line(x: float, y: float, text: str, height: float = 20) -> TextLine:
    width = 10 * len(text)
    return TextLine(np.array([[x, y], [x + width, y], [x + width, y + height], [x, y + height]], float), text)


def test_values_stand_to_the_right_in_the_same_row():
    beside = [line(0, 0, "Total"), line(300, 2, "12.50"), line(0, 30, "Change"), line(300, 31, "3.00")]
    assert [right_neighbour(number, beside) for number in range(4)] == [1, None, 3, None]


def test_rows_follow_the_tilt_of_a_photograph():
    tilted = TextLine(np.array([[0, 0], [100, 10], [100, 30], [0, 20]], float), "Total")
    value = TextLine(np.array([[400, 40], [450, 45], [450, 65], [400, 60]], float), "12.50")
    level = TextLine(np.array([[400, 0], [450, 0], [450, 20], [400, 20]], float), "wrong")
    assert right_neighbour(0, [tilted, level, value]) == 2


def test_the_value_part_of_a_line_and_its_patches():
    found = line(0, 0, "Total: 12.50").part(7 / 12, 1)
    assert found[:, 0].min() == pytest.approx(70) and found[:, 0].max() == pytest.approx(120)
    assert np.argwhere(patches_under(found, (4, 10), 16)).tolist() == [[y, x] for y in (0, 1) for x in (4, 5, 6, 7)]
