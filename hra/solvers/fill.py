"""Best-first completion: from any valid set, take the ready refinement of highest priority that still fits.

The frontier of a large hierarchy is huge and what is left of a budget usually small, so the heap is not given the whole
frontier: windows of falling priority are searched one after the other until nothing fits any more.

Keys tell refinements apart by the quantity that they open up, not by how they are numbered.

Greedy choices meet refinements of equal priority and equal gain. If such ties went to the smaller index, the same
hierarchy with its nodes numbered otherwise could be given another answer. On a forest two refinements with equal keys
open up equal trees (except for collisions of 64-bit hashes), so that it does not matter which one is taken first.
"""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.errors import ArrayError
from hra.model.arrays import to_numpy
from hra.model.problem import Problem, no_problem
from hra.model.sets import take_shrinking, total
from hra.model.solution import no_bools

# How far each window reaches down, as a share of the best priority that is left; the last one reaches the bottom.
_WINDOWS = (0.98, 0.8, 0.2, 0.0)
# Multipliers and shifts of SplitMix64's finaliser: G. Steele, D. Lea and C. Flood, OOPSLA 2014.
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@njit(inline="always")
def _mix(x):
    x = (x ^ (x >> np.uint64(30))) * _FIRST
    x = (x ^ (x >> np.uint64(27))) * _SECOND
    return x ^ (x >> np.uint64(31))


@njit(cache=True)
def structure_keys(offsets, successors, gain_bits, cost_bits):
    """Key of every refinement, from its own gain and cost and the keys of its successors in any order.

    Parameters
    ----------
    offsets [R + 1], successors [E] : the partial order from coarse to fine.
    gain_bits, cost_bits : uint64 [R], the bits of the float64 gains and costs.

    Returns
    -------
    key : uint64 [R].

    Notes
    -----
    The hashing of rooted trees by sums over children is that of A. Aho, J. Hopcroft and J. Ullman's isomorphism test
    (1974) with random numbers in place of ranks.
    """
    key = np.empty(gain_bits.size, np.uint64)
    for r in range(gain_bits.size - 1, -1, -1):
        # A sum, modulo 2**64: the order of the successors must not matter.
        opened = np.uint64(0)
        for k in range(offsets[r], offsets[r + 1]):
            opened += _mix(key[successors[k]])
        key[r] = _mix(_mix(gain_bits[r]) + _SECOND * _mix(cost_bits[r] + _FIRST) + opened)
    return key


def complete(
    problem: Problem, start: np.ndarray, priority: np.ndarray, *, spend_all: bool, among: np.ndarray | None = None
) -> np.ndarray:
    """``start`` [R] extended by the ready refinements of highest ``priority`` [R] until none fits any more.

    Refinements of priority 0 are taken only if ``spend_all``, those of negative priority or NaN never. Ties go to the
    larger gain, then to the smaller cost, then to what opens up nothing, then to the larger structure key: on forests
    the numbering does not matter. ``among`` (int32 [K]) is where to look first: all that are ready and not negative.

    Raises
    ------
    HraError : no problem, or a start that is not one bool per refinement.
    ArrayError : not one priority per refinement.

    Examples
    --------
    >>> import numpy as np, hra
    >>> problem = hra.solve(hra.Hierarchy.flat([3, 2, 2]), budget=5, gains=[6.0, 3.0, 2.0]).problem
    >>> hra.complete(problem, np.zeros(3, bool), problem.ratio, spend_all=False)
    array([ True,  True, False])
    """
    if not isinstance(problem, Problem):
        raise no_problem(problem)
    if type(start) is not np.ndarray or start.dtype != np.bool_ or start.shape != problem.gain.shape:
        raise no_bools(start, problem.gain.size, "start")
    if type(priority) is not np.ndarray or priority.dtype != np.float64:
        priority = to_numpy(priority)
    _check_priorities(priority, problem.gain.size)
    priority = np.ascontiguousarray(priority, np.float64)
    selected = _fill_up(problem, start, priority, spend_all, among)
    # What costs less than nothing makes room for others.
    while problem.hierarchy.shrinks and take_shrinking(*problem.hierarchy.predecessors, problem.cost, selected):
        selected = _fill_up(problem, selected, priority, spend_all, None)
    return selected


def _check_priorities(priority: np.ndarray, size: int) -> None:
    """Raise unless there is one number for each refinement: compiled code would read past the end of fewer."""
    if priority.shape != (size,) or priority.dtype.kind not in "iufb":
        what = f"priorities must be numbers [{size}], got {priority.dtype} {list(priority.shape)}"
        raise ArrayError(what, where="priority", fix="pass one for each refinement, such as problem.ratio")


def _fill_up(
    problem: Problem, start: np.ndarray, priority: np.ndarray, spend_all: bool, among: np.ndarray | None
) -> np.ndarray:
    hierarchy = problem.hierarchy
    left = problem.capacity - total(problem.cost, start)
    least = 0.0 if spend_all else np.nextafter(0.0, 1.0)
    among = np.arange(problem.gain.size, dtype=np.int32) if among is None else among
    order, selected = (hierarchy.predecessors, hierarchy.successors), start
    # Read-only, as costs are: compiled once for all.
    priority, gain = priority.view(), problem.gain.view()
    priority.flags.writeable = gain.flags.writeable = False
    # Keys cost a pass over everything, and ties that need them are rare: first without.
    for key in (_no_keys, _keys):
        selected = start.copy()
        ranks = (priority, gain, problem.cost, hierarchy.successors[0], key(problem))
        if _complete(among, *order, ranks, left, least, selected):
            break
    return selected


def _no_keys(problem: Problem) -> np.ndarray:
    return np.empty(0, np.uint64)


def _keys(problem: Problem) -> np.ndarray:
    return structure_keys(*problem.hierarchy.successors, problem.gain.view(np.uint64), problem.cost.view(np.uint64))


@njit(inline="always")
def _before(order, a, b):
    """Whether ``a`` comes first; ``order`` is priority, gain, cost, offsets of the successors, and keys."""
    priority, gain, cost, after, key = order
    if priority[a] != priority[b]:
        return priority[a] > priority[b]
    if gain[a] != gain[b]:
        return gain[a] > gain[b]
    if cost[a] != cost[b]:
        return cost[a] < cost[b]
    opens_a, opens_b = after[a + 1] > after[a], after[b + 1] > after[b]
    if opens_a != opens_b:
        return opens_b
    if key.size > 0 and key[a] != key[b]:
        return key[a] > key[b]
    return a < b


@njit(inline="always")
def _needs_keys(order, a, b):
    """Whether only what ``a`` and ``b`` open up can tell them apart."""
    priority, gain, cost, after, key = order
    tied = priority[a] == priority[b] and gain[a] == gain[b] and cost[a] == cost[b]
    return key.size == 0 and tied and after[a + 1] > after[a] and after[b + 1] > after[b]


@njit(cache=True)
def _push(heap, size, order, r):
    i = size
    while i > 0 and _before(order, r, heap[(i - 1) // 2]):
        heap[i] = heap[(i - 1) // 2]
        i = (i - 1) // 2
    heap[i] = r
    return size + 1


@njit(cache=True)
def _pop(heap, size, order):
    size -= 1
    r, i = heap[size], 0
    while 2 * i + 1 < size:
        j = 2 * i + 1
        if j + 1 < size and _before(order, heap[j + 1], heap[j]):
            j += 1
        if not _before(order, heap[j], r):
            break
        heap[i] = heap[j]
        i = j
    heap[i] = r
    return size


@njit(inline="always")
def is_ready(offsets, predecessors, selected, r):
    """Whether all predecessors of refinement ``r`` are selected."""
    for k in range(offsets[r], offsets[r + 1]):  # noqa: SIM110 (a generator does not compile)
        if not selected[predecessors[k]]:
            return False
    return True


@njit(cache=True)
def _best_left(among, cost, priority, offsets, predecessors, left, least, selected):
    """Highest priority >= ``least`` of a ready refinement that fits, or -1."""
    best = -1.0
    for r in among:
        better = not selected[r] and priority[r] > best and cost[r] <= left and priority[r] >= least
        if better and is_ready(offsets, predecessors, selected, r):
            best = priority[r]
    return best


@njit(cache=True)
def _complete(among, predecessors, successors, ranks, capacity, least, selected):
    """Extend ``selected`` [R] in place until no ready refinement of priority >= ``least`` fits.

    Returns False, with ``selected`` unfinished, at a tie that needs keys which are not there.

    A refinement that does not fit is skipped for good: what is left only shrinks.

    Parameters
    ----------
    among : refinements [K] that are searched for ready ones; what these open up is searched in any case.
    predecessors, successors : offsets [R + 1] and indices [E] of the partial order.
    ranks : priority, gain and cost, float64 [R], >= 0; the successors' offsets; and keys, uint64 [R], `structure_keys`,
        or empty.
    capacity : what remains after the refinements that are selected already.
    """
    (before, needed), (priority, _, cost, after, _) = predecessors, ranks
    # Room for all: within a window a refinement is pushed once, when it is ready from the start, or by its last
    # predecessor.
    heap, left = np.empty(cost.size, np.int32), capacity
    for reach in _WINDOWS:
        best = _best_left(among, cost, priority, before, needed, left, least, selected)
        if best < 0.0:
            break
        # What opens up later with a higher priority is above the floor too: a window misses nothing that would come
        # first.
        floor = max(least, best * reach)
        size = np.int64(0)  # a plain 0 would be a type of its own, for which the heap is compiled once more
        for r in among:
            wanted = not selected[r] and priority[r] >= floor and cost[r] <= left
            if wanted and is_ready(before, needed, selected, r):
                size = _push(heap, size, ranks, r)
        while size > 0:
            r = heap[0]
            size = _pop(heap, size, ranks)
            if cost[r] > left:
                continue
            if size > 0 and _needs_keys(ranks, r, heap[0]):
                return False
            selected[r] = True
            left -= cost[r]
            for k in range(after[r], after[r + 1]):
                s = successors[1][k]
                if cost[s] <= left and priority[s] >= floor and is_ready(before, needed, selected, s):
                    size = _push(heap, size, ranks, s)
    return True
