"""A set that meets all needs, by trying all sets: where local search finds none, and there are few."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.model.problem import Problem
from hra.solvers.fill import is_ready
from hra.solvers.level_shares.needs import Needs

# Decisions after which the search is given up: some 30 ms, enough for all sets of 18 refinements.
_DECISIONS = 2**20


def first_found(problem: Problem, needs: Needs) -> tuple[np.ndarray | None, bool]:
    """A down-closed set [R] that meets all needs, or None; and whether that is the last word."""
    order = problem.hierarchy.predecessors
    selected = np.zeros(len(problem.hierarchy), np.bool_)
    # What all refinements from r on could add to each need, were those that help taken and no others.
    reach = np.cumsum(np.maximum(needs.change, 0.0)[::-1], axis=0)[::-1]
    reach = np.vstack([reach, np.zeros(needs.slack.size)])
    found, decisions = _enumerate(*order, needs.change, needs.slack, reach, selected)
    return (selected if found else None), decisions <= _DECISIONS


@njit(cache=True)
def _possible(left, reach):
    """Whether no need lacks more than what is still to be decided could bring."""
    for i in range(left.size):  # noqa: SIM110 (a generator does not compile)
        if left[i] + reach[i] < 0.0:
            return False
    return True


@njit(cache=True)
def _enumerate(before, predecessors, change, slack, reach, selected):
    """Decide from coarse to fine, depth first, to take before to leave; whether a set was found, after how much."""
    n = selected.size
    left = np.empty((n + 1, slack.size))
    left[0] = slack
    tried, r, decisions = np.zeros(n + 1, np.int8), 0, 0
    if not _possible(slack, reach[0]):
        r = -1
    while 0 <= r < n and decisions <= _DECISIONS:
        tried[r] += 1
        if tried[r] == 3:
            tried[r], selected[r] = 0, False
            r -= 1
            continue
        selected[r] = tried[r] == 1
        decisions += 1
        if selected[r] and not is_ready(before, predecessors, selected, r):
            continue
        # Predecessors have smaller numbers: what r needs is decided before r.
        left[r + 1] = left[r] + change[r] if selected[r] else left[r]
        if _possible(left[r + 1], reach[r + 1]):
            r += 1
    return r == n, decisions
