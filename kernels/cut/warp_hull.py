"""Warp kernels of hull points, filled or not: one thread per member goes the whole way of `hra.Hull`, step by step.

The steps are those of the solvers for the host, in the same order and with the same ties, so that sets agree to the
bit: slopes by pooling blocks in pairing heaps, the price by weighted selection, and up to three fills from a heap.
"""

# Warp compiles this file itself, and its types are no Python types.
# pyright: reportInvalidTypeForm=false, reportOperatorIssue=false, reportAssignmentType=false
# pyright: reportGeneralTypeIssues=false, reportArgumentType=false, reportCallIssue=false, reportReturnType=false
# pyright: reportIndexIssue=false
# Warp wants an int that a loop changes to be made by a call, and evaluates both sides of `and`.
# ruff: noqa: UP018, RUF046, SIM102

from __future__ import annotations

from typing import Any

from hra.kernels.warp_arrays import compiled_for, wp

wp.set_module_options({"fuse_fp": False, "enable_backward": False})

_UNLINKED = wp.constant(-2)


@compiled_for(wp.float32, wp.float64)
@wp.kernel
def widen(gain: wp.array2d(dtype=Any), wide: wp.array2d(dtype=wp.float64)):
    """Gains as float64."""
    member, r = wp.tid()
    wide[member, r] = wp.float64(gain[member, r])


@wp.func
def _meld(
    slope: wp.array(dtype=wp.float64),
    first: wp.array(dtype=wp.int32),
    sibling: wp.array(dtype=wp.int32),
    x: int,
    y: int,
) -> int:
    """Join two pairing heaps; the root has the larger slope."""
    if x < 0:
        return y
    if y < 0:
        return x
    a = x
    b = y
    if slope[a] < slope[b]:
        a = y
        b = x
    sibling[b] = first[a]
    first[a] = b
    return a


@wp.func
def _without_root(
    slope: wp.array(dtype=wp.float64), first: wp.array(dtype=wp.int32), sibling: wp.array(dtype=wp.int32), root: int
) -> int:
    """The heap without its root: its children in pairs, then the pairs backwards."""
    x = int(first[root])
    pairs = int(-1)
    while x >= 0:
        y = sibling[x]
        if y < 0:
            sibling[x] = pairs
            pairs = x
            x = int(-1)
        else:
            rest = sibling[y]
            m = _meld(slope, first, sibling, x, y)
            sibling[m] = pairs
            pairs = m
            x = rest
    heap = int(pairs)
    if heap >= 0:
        pairs = sibling[heap]
    while pairs >= 0:
        rest = sibling[pairs]
        heap = _meld(slope, first, sibling, heap, pairs)
        pairs = rest
    return heap


@wp.func
def _best(slope: wp.array(dtype=wp.float64), low: int, high: int) -> int:
    best = int(low)
    for u in range(low + 1, high):
        if slope[u] > slope[best]:
            best = u
    return best


@wp.func
def _link(first: wp.array(dtype=wp.int32), sibling: wp.array(dtype=wp.int32), low: int, high: int, root: int):
    last = int(-1)
    for u in range(low, high):
        first[u] = -1
        sibling[u] = last
        if u != root:
            last = u
    first[root] = last


@wp.func
def _slopes(
    children: wp.array(dtype=wp.int32),
    gain: wp.array(dtype=wp.float64),
    cost: wp.array(dtype=wp.float64),
    slope: wp.array(dtype=wp.float64),
    first: wp.array(dtype=wp.int32),
    sibling: wp.array(dtype=wp.int32),
    heap: wp.array(dtype=wp.int32),
    block_gain: wp.array(dtype=wp.float64),
    block_cost: wp.array(dtype=wp.float64),
):
    """Slope of every refinement's block: see `hra.solvers.forest.pava`."""
    size = gain.shape[0]
    latest = int(-1)
    for r in range(size):
        slope[r] = gain[r] / cost[r]
    for i in range(size):
        v = size - 1 - i
        low = int(children[v])
        high = int(children[v + 1])
        if low < high:
            heap[v] = _UNLINKED
            h = _best(slope, low, high)
            if slope[h] > slope[v]:
                _link(first, sibling, low, high, h)
                gained = gain[v]
                spent = cost[v]
                steep = slope[v]
                h = int(h)
                while h >= 0 and slope[wp.max(h, 0)] > steep:
                    rest = _without_root(slope, first, sibling, h)
                    first[h] = v
                    sibling[h] = latest
                    latest = h
                    low = children[h]
                    high = children[h + 1]
                    below = int(-1)
                    if low < high and heap[h] != _UNLINKED:
                        gained += block_gain[h]
                        spent += block_cost[h]
                        below = heap[h]
                    else:
                        gained += gain[h]
                        spent += cost[h]
                        if low < high:
                            below = _best(slope, low, high)
                            _link(first, sibling, low, high, below)
                    steep = gained / spent
                    h = _meld(slope, first, sibling, rest, below)
                heap[v] = h
                slope[v] = steep
                block_gain[v] = gained
                block_cost[v] = spent
    while latest >= 0:
        slope[latest] = slope[first[latest]]
        latest = sibling[latest]


@wp.func
def _threshold(key: wp.array(dtype=wp.float64), weight: wp.array(dtype=wp.float64), capacity: wp.float64) -> wp.float64:
    """The smallest key above which the weights fit, -inf if all do; reorders its arguments (quickselect)."""
    low = int(0)
    high = int(key.shape[0])
    spent = wp.float64(0.0)
    fitting = wp.float64(wp.inf)
    everything = bool(True)
    found = bool(False)
    while low < high:
        a = key[low]
        b = key[(low + high) // 2]
        c = key[high - 1]
        pivot = wp.max(wp.min(a, b), wp.min(wp.max(a, b), c))
        i = int(low)
        j = int(low)
        k = int(high)
        above = wp.float64(0.0)
        equal = wp.float64(0.0)
        while j < k:
            x = key[j]
            w = weight[j]
            if x > pivot:
                above += w
                key[j] = key[i]
                weight[j] = weight[i]
                key[i] = x
                weight[i] = w
                i += 1
                j += 1
            elif x < pivot:
                k -= 1
                key[j] = key[k]
                weight[j] = weight[k]
                key[k] = x
                weight[k] = w
            else:
                equal += w
                j += 1
        if spent + above > capacity:
            high = i
            everything = False
        elif spent + above + equal > capacity:
            fitting = pivot
            found = True
            low = high
        else:
            spent += above + equal
            low = k
            fitting = pivot
    if everything and not found:
        return wp.float64(-wp.inf)
    return fitting


@wp.func
def _total(values: wp.array(dtype=wp.float64), selected: wp.array(dtype=wp.bool)) -> wp.float64:
    """Sum over the selected, in the order of `hra.model.sets.total`."""
    sums = wp.vec4d()
    whole = selected.shape[0] - selected.shape[0] % 4
    for r in range(selected.shape[0]):
        if selected[r]:
            if r < whole:
                sums[r % 4] += values[r]
            else:
                sums[0] += values[r]
    return sums[0] + sums[1] + sums[2] + sums[3]


@wp.func
def _mix(given: wp.uint64) -> wp.uint64:
    x = given
    x = (x ^ (x >> wp.uint64(30))) * wp.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> wp.uint64(27))) * wp.uint64(0x94D049BB133111EB)
    return x ^ (x >> wp.uint64(31))


@wp.func
def _keys(
    children: wp.array(dtype=wp.int32),
    gain_bits: wp.array(dtype=wp.uint64),
    cost_bits: wp.array(dtype=wp.uint64),
    key: wp.array(dtype=wp.uint64),
):
    """What tells refinements apart, by the refinements that they open up: see `hra.solvers.structure_keys`."""
    size = key.shape[0]
    for i in range(size):
        r = size - 1 - i
        opened = wp.uint64(0)
        for u in range(children[r], children[r + 1]):
            opened += _mix(key[u])
        cost_part = _mix(cost_bits[r] + wp.uint64(0xBF58476D1CE4E5B9))
        key[r] = _mix(_mix(gain_bits[r]) + wp.uint64(0x94D049BB133111EB) * cost_part + opened)


@wp.func
def _before(
    priority: wp.array(dtype=wp.float64),
    gain: wp.array(dtype=wp.float64),
    cost: wp.array(dtype=wp.float64),
    children: wp.array(dtype=wp.int32),
    key: wp.array(dtype=wp.uint64),
    a: int,
    b: int,
) -> bool:
    """Whether ``a`` comes first: see `hra.solvers.fill`."""
    if priority[a] != priority[b]:
        return priority[a] > priority[b]
    if gain[a] != gain[b]:
        return gain[a] > gain[b]
    if cost[a] != cost[b]:
        return cost[a] < cost[b]
    opens_a = children[a + 1] > children[a]
    opens_b = children[b + 1] > children[b]
    if opens_a != opens_b:
        return opens_b
    if key[a] != key[b]:
        return key[a] > key[b]
    return a < b


@wp.func
def _push(
    priority: wp.array(dtype=wp.float64),
    gain: wp.array(dtype=wp.float64),
    cost: wp.array(dtype=wp.float64),
    children: wp.array(dtype=wp.int32),
    key: wp.array(dtype=wp.uint64),
    heap: wp.array(dtype=wp.int32),
    size: int,
    r: int,
):
    i = int(size)
    rising = bool(True)
    while i > 0 and rising:
        up = heap[(i - 1) // 2]
        rising = _before(priority, gain, cost, children, key, r, up)
        if rising:
            heap[i] = up
            i = (i - 1) // 2
    heap[i] = r


@wp.func
def _sink(
    priority: wp.array(dtype=wp.float64),
    gain: wp.array(dtype=wp.float64),
    cost: wp.array(dtype=wp.float64),
    children: wp.array(dtype=wp.int32),
    key: wp.array(dtype=wp.uint64),
    heap: wp.array(dtype=wp.int32),
    size: int,
):
    """Put the last of ``size`` + 1 entries in the place of the first."""
    r = heap[size]
    i = int(0)
    sinking = bool(True)
    while 2 * i + 1 < size and sinking:
        j = int(2 * i + 1)
        if j + 1 < size:
            if _before(priority, gain, cost, children, key, heap[j + 1], heap[j]):
                j += 1
        sinking = _before(priority, gain, cost, children, key, heap[j], r)
        if sinking:
            heap[i] = heap[j]
            i = j
    heap[i] = r


@wp.func
def _fill(
    priority: wp.array(dtype=wp.float64),
    gain: wp.array(dtype=wp.float64),
    cost: wp.array(dtype=wp.float64),
    parent: wp.array(dtype=wp.int32),
    children: wp.array(dtype=wp.int32),
    key: wp.array(dtype=wp.uint64),
    heap: wp.array(dtype=wp.int32),
    capacity: wp.float64,
    spend_all: bool,
    selected: wp.array(dtype=wp.bool),
):
    """Extend ``selected`` by refinements that are ready and fit, first ones first, until nothing fits any more."""
    left = capacity - _total(cost, selected)
    size = int(0)
    for r in range(selected.shape[0]):
        if not selected[r] and cost[r] <= left and (spend_all or priority[r] > wp.float64(0.0)):
            ready = parent[r] < 0
            if not ready:
                ready = selected[parent[r]]
            if ready:
                _push(priority, gain, cost, children, key, heap, size, r)
                size += 1
    while size > 0:
        r = heap[0]
        size -= 1
        _sink(priority, gain, cost, children, key, heap, size)
        if cost[r] <= left:
            selected[r] = True
            left -= cost[r]
            for u in range(children[r], children[r + 1]):
                if cost[u] <= left and (spend_all or priority[u] > wp.float64(0.0)):
                    _push(priority, gain, cost, children, key, heap, size, u)
                    size += 1


@wp.kernel
def hull_points(
    gain: wp.array2d(dtype=wp.float64),
    gain_bits: wp.array2d(dtype=wp.uint64),
    cost: wp.array(dtype=wp.float64),
    cost_bits: wp.array(dtype=wp.uint64),
    slope_cost: wp.array(dtype=wp.float64),
    parent: wp.array(dtype=wp.int32),
    children: wp.array(dtype=wp.int32),
    capacity: wp.array(dtype=wp.float64),
    everything: wp.float64,
    fill: bool,
    spend_all: bool,
    close_enough: wp.float64,
    base_cost: wp.float64,
    slope: wp.array2d(dtype=wp.float64),
    first: wp.array2d(dtype=wp.int32),
    sibling: wp.array2d(dtype=wp.int32),
    heap: wp.array2d(dtype=wp.int32),
    some: wp.array2d(dtype=wp.float64),
    more: wp.array2d(dtype=wp.float64),
    key: wp.array2d(dtype=wp.uint64),
    trial: wp.array2d(dtype=wp.bool),
    selected: wp.array2d(dtype=wp.bool),
    spent: wp.array(dtype=wp.float64),
    gained: wp.array(dtype=wp.float64),
    price: wp.array(dtype=wp.float64),
):
    """The hull point of each member, filled or not; ``slope`` to ``trial`` are scratch memory [B, R]."""
    m = wp.tid()
    size = cost.shape[0]
    limit = capacity[m]
    at = wp.float64(0.0)
    if limit >= everything:
        for r in range(size):
            selected[m, r] = spend_all or gain[m, r] > wp.float64(0.0)
        for i in range(size):
            r = size - 1 - i
            if selected[m, r] and parent[r] >= 0:
                selected[m, parent[r]] = True
    else:
        _slopes(children, gain[m], slope_cost, slope[m], first[m], sibling[m], heap[m], some[m], more[m])
        for r in range(size):
            some[m, r] = slope[m, r]
            more[m, r] = cost[r]
        at = wp.max(_threshold(some[m], more[m], limit), wp.float64(0.0))
        for r in range(size):
            trial[m, r] = slope[m, r] > at
            some[m, r] = gain[m, r] / slope_cost[r]
            selected[m, r] = slope[m, r] > at
        bound = _total(gain[m], trial[m]) + at * (limit - _total(cost, trial[m]))
        best = wp.float64(-1.0)
        way = int(3)
        if fill:
            way = 0
            _keys(children, gain_bits[m], cost_bits, key[m])
        while way < 3:
            # By slope from the hull point, by each refinement's own ratio from there, by ratio from nothing.
            for r in range(size):
                trial[m, r] = way < 2 and slope[m, r] > at
            if way == 0:
                _fill(slope[m], gain[m], cost, parent, children, key[m], heap[m], limit, spend_all, trial[m])
            else:
                _fill(some[m], gain[m], cost, parent, children, key[m], heap[m], limit, spend_all, trial[m])
            total = _total(gain[m], trial[m])
            if total > best:
                best = total
                for r in range(size):
                    selected[m, r] = trial[m, r]
            way += 1
            if best >= bound * (wp.float64(1.0) - close_enough):
                way = 3
    spent[m] = base_cost + _total(cost, selected[m])
    gained[m] = _total(gain[m], selected[m])
    price[m] = at
