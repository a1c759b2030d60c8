"""Windows in which two images differ most, on both sides."""

from __future__ import annotations

import numpy as np

from hra.pages.demo.tokens import crops


def test_the_windows_are_where_each_is_ahead() -> None:
    rng = np.random.default_rng(0)
    image = rng.random((100, 200, 3))
    ours, other = image.copy(), image.copy()
    other[10:25, 20:35] += 0.5
    other[60:75, 150:165] += 0.4
    ours[70:85, 40:55] += 0.3
    panels = crops(image, ours, other, ("ours", "other")).axes
    assert [panel.get_title().split(":")[0] for panel in panels[:3]] == ["the image, enlarged", "ours", "other"]
    assert len(panels) == 9
    errors = [np.abs(np.asarray(panel.images[0].get_array()) - 0).mean() for panel in panels]
    assert errors[2] > errors[1] and errors[5] > errors[4] and errors[7] > errors[8]


def test_without_a_lead_of_the_other_there_is_no_third_window() -> None:
    image = np.random.default_rng(1).random((80, 80, 3))
    assert len(crops(image, image, image + 0.1, ("ours", "other")).axes) in (3, 6)
