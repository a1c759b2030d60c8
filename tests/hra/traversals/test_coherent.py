"""Thresholds that hold: the promise stays, places change at once, and a slow sequence changes less."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hra
from hra.allocating.sequences import churn


def quadtree(rng: np.random.Generator) -> tuple[hra.Hierarchy, np.ndarray]:
    """A tree of four children each, and errors that fall to about a sixth from level to level."""
    parent, errors, level = [-1], [1.0], [0]
    for depth in range(1, 5):
        for node in [k for k, d in enumerate(level) if d == depth - 1]:
            for _ in range(4):
                parent.append(node)
                errors.append(errors[node] * rng.uniform(0.12, 0.25))
                level.append(depth)
    return hra.Hierarchy.tree(parent, [1] * len(parent), mode="replace"), np.array(errors)


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.floats(0, 3), st.floats(0.002, 1.2))
def test_the_promise_holds_and_what_is_there_stays(seed: int, hysteresis: float, tau: float) -> None:
    rng = np.random.default_rng(seed)
    tree, errors = quadtree(rng)
    traversal, last = hra.Coherent(hra.Threshold(tau), hysteresis=hysteresis), None
    for _ in range(4):
        seen = errors * rng.uniform(0.5, 2)
        plain = hra.solve(tree, np.inf, errors=seen, traversal=hra.Threshold(tau))
        before, last = last, hra.solve(tree, np.inf, errors=seen, traversal=traversal, previous=last)
        assert last.max_error <= tau
        assert (last.selected | ~plain.selected).all()
        peak = last.problem.peak
        # Nothing is refined below the lower error but what something needs that is not.
        assert not (last.selected & (peak * (1 + hysteresis) < tau * (1 - 1e-12))).any()
        if before is not None:
            assert last.selected[before.selected & (peak * (1 + hysteresis) > tau)].all()
        again = hra.solve(tree, np.inf, errors=seen, traversal=traversal, previous=last)
        assert again.churn == 0


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1))
def test_budgets_come_first(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree, errors = quadtree(rng)
    traversal, last = hra.Coherent(hra.Threshold(0.1), hysteresis=1.0), None
    for _ in range(5):
        seen, budget = errors * rng.uniform(0.5, 2), float(rng.integers(1, 256))
        plain = hra.solve(tree, budget, errors=seen, traversal=hra.Threshold(0.1))
        last = hra.solve(tree, budget, errors=seen, traversal=traversal, previous=last)
        assert last.cost <= budget
        assert last.max_error <= plain.max_error


@pytest.mark.parametrize("way", [1, -1])
def test_places_change_once_where_a_threshold_changes_them_step_by_step(way: int) -> None:
    tree, errors = quadtree(np.random.default_rng(0))
    zoom = np.geomspace(0.2, 20, 60)[::way]

    def frames(traversal: hra.Traversal) -> list[hra.Allocation]:
        found: list[hra.Allocation] = []
        for scale in zoom:
            last = found[-1] if found else None
            found.append(hra.solve(tree, np.inf, errors=scale * errors, traversal=traversal, previous=last))
        return found

    plain, held = (churn(frames(t)) for t in (hra.Threshold(0.1), hra.Coherent(hra.Threshold(0.1), hysteresis=1.5)))
    assert held.sum() <= plain.sum()
    # A camera that trembles changes nothing once both of its places were seen.
    counts = np.zeros(2, int)
    for base in zoom[::6]:
        for k, traversal in enumerate((hra.Threshold(0.1), hra.Coherent(hra.Threshold(0.1), hysteresis=1.5))):
            found = []
            for scale in base * np.where(np.arange(8) % 2, 1.3, 1.0):
                last = found[-1] if found else None
                found.append(hra.solve(tree, np.inf, errors=scale * errors, traversal=traversal, previous=last))
            counts[k] += churn(found)[1:].sum()
    assert counts[1] == 0 < counts[0]
