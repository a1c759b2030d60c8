"""Sums and checks over sets of refinements, each in one pass."""

from __future__ import annotations

from numba import njit


@njit(cache=True)
def total(values, selected):
    """Sum of ``values`` [R] over the ``selected`` [R], from coarse to fine."""
    result = 0.0
    for r in range(selected.size):
        if selected[r]:
            result += values[r]
    return result


@njit(cache=True)
def is_down_closed(edges, selected):
    """Whether every selected refinement's predecessors are selected; ``edges`` [E, 2]."""
    for e in range(edges.shape[0]):  # noqa: SIM110 (a generator does not compile)
        if selected[edges[e, 1]] and not selected[edges[e, 0]]:
            return False
    return True


@njit(cache=True)
def take_with_predecessors(offsets, predecessors, selected):
    """Add the predecessors of all selected refinements, from fine to coarse, in place."""
    for r in range(selected.size - 1, -1, -1):
        if selected[r]:
            for k in range(offsets[r], offsets[r + 1]):
                selected[predecessors[k]] = True
