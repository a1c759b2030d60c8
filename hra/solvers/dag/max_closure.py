"""The maximum closure of a DAG by a maximum flow (Picard 1976), with shares that prove it.

Surplus flows from where it arises to where a deficit absorbs it, over predecessors only; what the largest flow cannot
place is the worth of the best down-closed set. The flow is SciPy's (Dinic 1970), in whole numbers of 31 bits: each
worth is rounded to about 2**-31 of all surplus, and the set may miss the best one by as much per refinement. Bounds do
not depend on that: any shares give a valid one (see `split_flow`).
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
from numba import njit

from hra.errors import MissingExtra
from hra.model.arrays import offsets_of

_LARGEST = 2**31 - 1


@cache
def available() -> bool:
    """Whether SciPy is installed."""
    return find_spec("scipy") is not None


def max_closure(
    offsets: np.ndarray, predecessors: np.ndarray, worth: np.ndarray, among: np.ndarray, share: np.ndarray
) -> np.ndarray:
    """The smallest down-closed set of most worth among some refinements; all others count as taken.

    Parameters
    ----------
    offsets, predecessors : int32 [R + 1] and [E], ascending for each refinement; a predecessor has the smaller index.
    worth : float64 [K], gain - price * cost.
    among : int [K], ascending.
    share : float64 [E], becomes the split of surplus of these K refinements that proves the set the best.

    Returns
    -------
    bool [K].

    Raises
    ------
    MissingExtra : SciPy is not installed.
    """
    try:
        from scipy.sparse.csgraph import breadth_first_order, maximum_flow
    except ImportError as error:
        raise MissingExtra.of("scipy", "graphs") from error
    size = among.size
    inner, before, edge = _subgraph(offsets, predecessors, among)
    network = _network(inner, before, worth)
    flow = maximum_flow(network, size, size + 1).flow
    _split(offsets, among, inner, edge, _sent(flow, size), share)
    residual = network - flow
    residual.eliminate_zeros()
    selected = np.zeros(size + 2, np.bool_)
    selected[breadth_first_order(residual, size, return_predecessors=False)] = True
    return selected[:size]


@njit(cache=True)
def _subgraph(offsets, predecessors, among):
    """Offsets [K + 1] and indices of predecessors within ``among`` [K], and the numbers of these edges."""
    number = np.full(offsets.size - 1, -1, np.int32)
    inner, before, edge = np.zeros(among.size + 1, np.int32), np.empty_like(predecessors), np.empty_like(predecessors)
    count = 0
    for i, r in enumerate(among):
        number[r] = i
        for k in range(offsets[r], offsets[r + 1]):
            if number[predecessors[k]] >= 0:
                before[count], edge[count] = number[predecessors[k]], k
                count += 1
        inner[i + 1] = count
    return inner, before[:count], edge[:count]


def _network(offsets: np.ndarray, predecessors: np.ndarray, worth: np.ndarray) -> Any:
    """Capacities as a sparse array: refinements, then the source of all surplus, then the sink of all deficits."""
    from scipy.sparse import csr_array

    size, up, down = worth.size, np.flatnonzero(worth > 0), np.flatnonzero(worth < 0)
    surplus = worth[up].sum()
    # What rounding adds must not carry the sum over the largest number; without surplus nothing flows in any unit.
    unit = surplus / (_LARGEST - size) or 1.0
    units = np.rint(np.minimum(np.abs(worth), surplus) / unit).astype(np.int32)
    degree = np.diff(offsets)
    degree[down] += 1
    last = offsets[1:][down]
    column = np.concatenate([np.insert(predecessors, last, size + 1), up.astype(np.int32)])
    capacity = np.concatenate([np.insert(np.full_like(predecessors, _LARGEST), last, units[down]), units[up]])
    rows = offsets_of(np.concatenate([degree, [up.size, 0]]))
    return csr_array((capacity, column, rows), shape=(size + 2, size + 2))


def _sent(flow: Any, size: int) -> np.ndarray:
    """The flow over each edge to a predecessor, in the order of the edges; the others lead to larger indices."""
    tail = np.repeat(np.arange(size + 2, dtype=np.int32), np.diff(flow.indptr))
    return flow.data[(flow.indices < tail) & (tail < size)]


@njit(cache=True)
def _split(offsets, among, inner, edge, sent, share):
    """Shares in proportion to what is ``sent``; even among the inner edges if that is nothing."""
    for i, r in enumerate(among):
        low, high = inner[i], inner[i + 1]
        flow, degree = sent[low:high].sum(), offsets[r + 1] - offsets[r]
        share[offsets[r] : offsets[r + 1]] = 0.0 if high > low else 1.0 / max(degree, 1)
        for k in range(low, high):
            share[edge[k]] = sent[k] / flow if flow > 0 else 1.0 / (high - low)
