from __future__ import annotations

import numpy as np

from hra.pages.explore.track import Track, budgets_between, changes
from tests.helpers.explorers import unpacked


def test_changes_lead_from_every_cut_to_the_next():
    steps = changes([np.array([1, 4]), np.array([1, 2, 3]), np.array([1, 2, 3])])
    assert [step.tolist() for step in steps] == [[1, 4], [2, 3, 4], []]


def test_budgets_are_whole_rising_and_hold_the_ends_and_what_was_asked_for():
    budgets = budgets_between(3.5, 900.2, 20, (273, 5000))
    assert budgets[0] == 4 and budgets[-1] == 900 and 273 in budgets
    assert (np.diff(budgets) > 0).all() and (budgets == np.rint(budgets)).all()


def test_a_track_without_nodes_is_a_method_without_a_hierarchy():
    one = np.ones(2)
    record = Track("down-sampled", one, one, one, np.full(2, np.nan)).record()
    assert unpacked(record["changed"]).size == unpacked(record["ends"]).size == 0
