from __future__ import annotations

import numpy as np
import pytest

from hra.domains.tokens import Panel, contact_sheet
from hra.domains.tokens.quality.compare import _layout, compare


@pytest.mark.parametrize("ratio", [0.1, 0.5625, 1.0, 1.414])
@pytest.mark.parametrize("panels", [1, 2, 3, 23])
def test_sheets_fit_a_screen(panels: int, ratio: float):
    picture = np.zeros((round(100 * ratio), 100, 3), np.float32)
    columns, width = _layout(panels, ratio)
    sheet = contact_sheet([Panel((picture, picture), ("a", "b", "c"))] * panels, columns, width)
    assert sheet.shape[0] <= 1080 and sheet.shape[1] <= 1920


def test_pictures_too_high_for_a_screen_stay_readable():
    assert _layout(23, 20.0)[1] >= 100


def test_it_says_which_of_how_many_methods_runs():
    said = []
    image = np.random.default_rng(0).random((96, 96, 3), dtype=np.float32)
    compare(image, "", 12, ["grid", "downsample"], said.append)
    assert said == ["grid, 1 of 2", "downsample, 2 of 2"]
