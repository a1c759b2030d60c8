"""What a price proves of all copies together, lane by lane; see `hra.solvers.duals`."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from hra.compiling import njit
from hra.model.precise import ceiling
from hra.model.sets import attainable
from hra.solvers.copies.blocks import shares_of_copy
from hra.solvers.copies.copies import Copies
from hra.solvers.copies.solve import Shared
from hra.solvers.duals import distance, everything_else


def shortfall_of_copies(copies: Copies, gain: np.ndarray, shared: Shared, capacity: float) -> float:
    """The most by which any other choice within the capacity can exceed the gain of this one; never rounded down.

    At one price each copy has its own distance from the best that it could be worth; what of the capacity is unused
    counts once.

    Parameters
    ----------
    gain : float64, of all lanes.
    capacity : in units.
    """
    lost, spent, others = [], 0.0, []
    lanes = zip(copies.hierarchies, copies.parts(gain), copies.parts(shared.selected), strict=True)
    for kind, (hierarchy, gains, taken) in enumerate(lanes):
        given = (hierarchy.unit_cost, capacity, shared.price, copies.rows, shared.share, kind)
        own, paid, rest = _distances(hierarchy.predecessors, gains, *given, taken)
        lost += own.tolist()
        spent += float(paid.sum())
        others += rest.tolist()
    unused = Fraction(shared.price) * Fraction(capacity - spent) if 0.0 < shared.price < np.inf else None
    everything = ceiling(others)
    if unused is None or not np.isfinite(lost).all():
        return everything
    return min(ceiling((*lost, np.nextafter(float(unused), np.inf))), everything)


@njit(cache=True)
def _distances(order, gain, cost, capacity, price, rows, share, kind, selected):
    """The distance of each lane of ``selected`` [R, I] from its bound, its cost, and all that it does not gain.

    What ``capacity`` does not pay in one lane alone is in no choice: nothing saves.
    """
    offsets, predecessors = order
    lost, spent, rest = np.empty(gain.shape[1]), np.zeros(gain.shape[1]), np.empty(gain.shape[1])
    own, taken = np.empty(gain.shape[0]), np.empty(gain.shape[0], np.bool_)
    flow = np.empty(predecessors.size)
    for i in range(gain.shape[1]):
        split = shares_of_copy(rows, share, kind, i)
        for r in range(gain.shape[0]):
            own[r], taken[r] = gain[r, i], selected[r, i]
            spent[i] += cost[r] * taken[r]
        within = attainable(offsets, predecessors, own, cost, capacity)
        rest[i] = everything_else(within, taken)
        lost[i] = distance(offsets, predecessors, within, cost, price, split, taken, spent[i], flow)
    return lost, spent, rest
