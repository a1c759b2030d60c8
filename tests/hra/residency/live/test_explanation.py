from __future__ import annotations

from dataclasses import replace

import pytest

from hra.residency.live.explanation import Explanation

WANTED = Explanation(7, False, False, 5, 100, 50.0, 2, None, 0, 5, None, None, None)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, "item 7 is queued: 2 items are loaded before it, 0.5 gain per byte"),
        (
            {"missing_parent": 3},
            "item 7 is queued: 2 items are loaded before it, 0.5 gain per byte, after its parent 3",
        ),
        ({"resident": True, "pinned": True}, "item 7 is resident: the coarsest items always are"),
        ({"resident": True}, "item 7 is resident: this frame wants it, gain 50 for 100 bytes"),
        ({"resident": True, "wanted_at": 2, "next_wanted_at": 9}, "item 7 is resident: frame 9 will want it"),
        ({"resident": True, "wanted_at": 2, "resident_children": 4}, "item 7 is resident: 4 finer items need it"),
        (
            {"queue_position": None, "evicted_at": 4, "wanted_at": 3},
            "item 7 is not resident: evicted in frame 4, last wanted by frame 3",
        ),
        ({"queue_position": None, "wanted_at": None}, "item 7 is not resident: no frame has wanted it"),
    ],
)
def test_each_state_says_why(changes: dict, text: str):
    assert str(replace(WANTED, **changes)) == text
