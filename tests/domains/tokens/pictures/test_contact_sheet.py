"""The contact sheet: everything is there, at its place and of its size."""

from __future__ import annotations

import numpy as np
import pytest

from hra.domains import tokens
from hra.errors import ArrayError


def panel(value: float, lines: tuple[str, ...] = ("one line",)) -> tokens.Panel:
    picture = np.full((30, 60, 3), value, np.float32)
    return tokens.Panel((picture, np.full((30, 60, 3), 255 * value, np.uint8)), lines)


def test_pictures_lie_in_rows_and_keep_their_colour():
    sheet = tokens.contact_sheet([panel(0.2), panel(0.4), panel(0.6)], columns=2, width=60)
    cell = 2 * (8 + 60)
    assert sheet.dtype == np.uint8 and sheet.shape[1] == 2 * cell
    height = sheet.shape[0] // 2
    for number, value in enumerate((0.2, 0.4, 0.6)):
        top, left = number // 2 * height + 8, number % 2 * cell + 8
        for x in (left, left + 68):
            assert np.abs(sheet[top : top + 30, x : x + 60] - 255 * value).max() <= 1
    assert (sheet[height:, cell:] == 255).all()


def test_longer_text_makes_all_cells_higher_and_is_written():
    short, long = (tokens.contact_sheet([panel(0.5, lines)], width=60) for lines in (("a",), ("a", "b", "c")))
    assert long.shape[0] > short.shape[0]
    assert (long[-20:] < 128).any()


def test_pictures_are_scaled_to_the_width():
    sheet = tokens.contact_sheet([panel(0.5)], columns=1, width=120)
    assert sheet.shape[1] == 2 * 128
    assert (np.abs(sheet[8:68, 8:128].astype(int) - 128) <= 1).all()


def test_panels_must_be_alike():
    with pytest.raises(ArrayError, match="equal pictures"):
        tokens.contact_sheet([])
    with pytest.raises(ArrayError, match="equal pictures"):
        tokens.contact_sheet([panel(0.5), tokens.Panel((np.zeros((9, 9, 3)),), ("x",))])
