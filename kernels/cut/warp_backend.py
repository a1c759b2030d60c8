"""The cuts in Warp: one launch per level over all members and refinements, on the CPU (one thread) and on CUDA.

On CUDA arrays nothing is copied to the host but how many members still search, one number per step.

One thread per member and refinement pulls from its children or its parent. The triple of a refinement is value, cost
and gain of the best set below and with it. Products and sums are not fused, so that the CPU, CUDA and the reference
agree to the bit.
"""

# Warp compiles this file itself, and its types are not Python types.
# pyright: reportInvalidTypeForm=false, reportOperatorIssue=false, reportAssignmentType=false
# pyright: reportGeneralTypeIssues=false, reportArgumentType=false, reportCallIssue=false, reportReturnType=false
# pyright: reportIndexIssue=false

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from hra.errors import ArrayError
from hra.kernels.backends import fetch, on_host
from hra.kernels.cut import warp_hull, warp_prices
from hra.kernels.cut.forest import LevelForest
from hra.kernels.cut.hull_rows import CLOSE_ENOUGH
from hra.kernels.cut.reference import GROUP, LEAST, MAX_STEPS, ROUNDING
from hra.kernels.cut.warp_chains import chain_cut, chain_gains
from hra.kernels.warp_arrays import compiled_for, new, view, wp  # there Warp is told to be silent

__all__ = ["all_valid", "chain_cut", "chain_gains", "hull_points", "price_search", "tree_sweep"]
Result = tuple[Any, ...]


wp.set_module_options({"fuse_fp": False, "enable_backward": False})


@compiled_for(wp.float32, wp.float64)
@wp.kernel
def sweep_level(
    begin: int,
    first_child: wp.array(dtype=wp.int32),
    cost: wp.array(dtype=wp.float64),
    gain: wp.array2d(dtype=Any),
    price: wp.array(dtype=wp.float64),
    is_done: wp.array(dtype=wp.bool),
    best: wp.array2d(dtype=wp.vec3d),
):
    """Triples of one level from those of the next."""
    member, i = wp.tid()
    if is_done[member]:
        return
    r = begin + i
    own = wp.float64(gain[member, r])
    paid = wp.float64(0.0)
    if cost[r] > wp.float64(0.0):  # inf * 0 is not a number
        paid = price[member] * cost[r]
    total = wp.vec3d(own - paid, cost[r], own)
    # From left to right, as the reference adds.
    for child in range(first_child[r], first_child[r + 1]):
        total += best[member, child]
    # Taken with the best of what is beneath, or left with all of it.
    if not total[0] > wp.float64(0.0):
        total = wp.vec3d()
    best[member, r] = total


@wp.kernel
def sum_groups(
    source: wp.array2d(dtype=wp.vec3d),
    count: int,
    group: int,
    is_done: wp.array(dtype=wp.bool),
    target: wp.array2d(dtype=wp.vec3d),
):
    """Sums of each ``group`` of the first ``count`` triples."""
    member, i = wp.tid()
    if is_done[member]:
        return
    total = wp.vec3d()
    for j in range(i * group, wp.min(count, (i + 1) * group)):
        total += source[member, j]
    target[member, i] = total


@wp.kernel
def select_level(
    begin: int,
    parent: wp.array(dtype=wp.int32),
    best: wp.array2d(dtype=wp.vec3d),
    selected: wp.array2d(dtype=wp.bool),
):
    """What is worth it and whose parent was taken."""
    member, i = wp.tid()
    r = begin + i
    taken = best[member, r][0] > wp.float64(0.0)
    if taken and parent[r] >= 0:
        taken = selected[member, parent[r]]
    selected[member, r] = taken


@wp.kernel
def report(
    totals: wp.array2d(dtype=wp.vec3d),
    base_cost: wp.float64,
    cost: wp.array(dtype=wp.float64),
    gain: wp.array(dtype=wp.float64),
    value: wp.array(dtype=wp.float64),
):
    """The triples of all members as three arrays."""
    member = wp.tid()
    total = totals[member, 0]
    value[member] = total[0]
    cost[member] = base_cost + total[1]
    gain[member] = total[2]


@compiled_for(wp.float32, wp.float64)
@wp.kernel
def find_invalid(gain: wp.array2d(dtype=Any), largest: wp.float64, found: wp.array(dtype=wp.int32)):
    """Set ``found`` if a gain is negative, larger or NaN."""
    member, r = wp.tid()
    value = wp.float64(gain[member, r])
    if not (value >= wp.float64(0.0) and value <= largest):
        found[0] = 1


def tree_sweep(forest: LevelForest, gain: Any, price: Any) -> Result:
    """See :func:`hra.kernels.cut.tree_sweep`."""
    sweep = _Sweep.of(forest, gain)
    wp.copy(sweep.price, _send(price, sweep.gain.device))
    cost, gained, value = sweep.at_prices()
    return _results(gain, sweep.select(), cost, gained, value, sweep.price)


def price_search(forest: LevelForest, gain: Any, capacity: Any) -> Result:
    """See :func:`hra.kernels.cut.price_search`."""
    sweep = _Sweep.of(forest, gain)
    members, device = sweep.gain.shape[0], sweep.gain.device
    limits = _send(capacity, device)
    bracket: Any = warp_prices.Bracket
    brackets = wp.zeros(members, dtype=bracket, device=device)
    bound, bound_price = (wp.zeros(members, dtype=wp.float64, device=device) for _ in range(2))
    unfinished = wp.zeros(1, dtype=wp.int32, device=device)
    state = [sweep.price, bound, bound_price, sweep.is_done, unfinished]

    # The first sweep is at price 0, the second at the infinite price that the first kernel sets.
    start = [sweep.totals(), limits, brackets, sweep.price, bound, sweep.is_done]
    wp.launch(warp_prices.begin_search, members, start, device=device)
    everything = wp.clone(bound)
    opening = [sweep.totals(), brackets, sweep.price, sweep.is_done, unfinished]
    wp.launch(warp_prices.first_chord, members, opening, device=device)
    for _ in range(MAX_STEPS):
        if not fetch(unfinished)[0]:
            break
        unfinished.zero_()
        wp.launch(warp_prices.next_price, members, [sweep.totals(), limits, brackets, *state], device=device)
    wp.launch(warp_prices.end_search, members, [brackets, sweep.price, sweep.is_done], device=device)
    cost, gained, _ = sweep.at_prices()
    margins = [len(forest), ROUNDING, LEAST]
    wp.launch(warp_prices.round_outward, members, [gained, everything, *margins, bound], device=device)
    return _results(gain, sweep.select(), cost, gained, bound, bound_price)


def hull_points(forest: LevelForest, gain: Any, capacity: Any, slope_cost: Any, fill: bool, spend_all: bool) -> Result:
    """See :func:`hra.kernels.cut.hull_points`."""
    rows = view(gain)
    shape, device = rows.shape, rows.device
    resident = _on_device(forest, device)
    wide = new(shape, wp.float64, device)
    wp.launch(warp_hull.widen, shape, [rows, wide], device=device)
    # Neither of the two is read where there are none: a view of nothing cannot be taken.
    cost = resident.cost
    bits = [array.view(wp.uint64) if array.size else new(array.shape, wp.uint64, device) for array in (wide, cost)]
    slope, some, more = (new(shape, wp.float64, device) for _ in range(3))
    ints = [new(shape, wp.int32, device) for _ in range(3)]
    selected, trial = new(shape, wp.bool, device), new(shape, wp.bool, device)
    spent, gained, price = (new(shape[0], wp.float64, device) for _ in range(3))
    numbers = [forest.total_cost, fill, spend_all, CLOSE_ENOUGH, forest.base_cost]
    order = [resident.parent, resident.first_child]
    scratch = [slope, *ints, some, more, new(shape, wp.uint64, device), trial]
    inputs = [wide, bits[0], cost, bits[1], _send(slope_cost, device), *order, _send(capacity, device), *numbers]
    wp.launch(warp_hull.hull_points, shape[0], [*inputs, *scratch, selected, spent, gained, price], device=device)
    return _results(gain, selected, spent, gained, price)


def all_valid(gain: Any, largest: float) -> bool:
    """See :func:`hra.kernels.cut.all_valid`."""
    rows = view(gain)
    found = wp.zeros(1, dtype=wp.int32, device=rows.device)
    wp.launch(find_invalid, rows.shape, [rows, wp.float64(largest), found], device=rows.device)
    return not fetch(found)[0]


@dataclass(frozen=True, eq=False)
class _Sweep:
    """The sweeps of one batch, again and again in the same memory.

    Parameters
    ----------
    price : float64 [B], what the next sweep uses; is_done : bool [B], members that it passes over.
    best : vec3d [B, R], value, cost and gain; sums : vec3d [B, groups], those of the roots, groups of groups ...
    """

    forest: LevelForest
    gain: Any
    price: Any
    is_done: Any
    best: Any
    sums: list[Any]

    @classmethod
    def of(cls, forest: LevelForest, gain: Any) -> _Sweep:
        rows = view(gain)
        members, device = rows.shape[0], rows.device
        resident = _on_device(forest, device)
        price = wp.zeros(members, dtype=wp.float64, device=device)
        is_done = wp.zeros(members, dtype=wp.bool, device=device)
        sums = [new((members, size), wp.vec3d, device) for size in _group_counts(forest.roots)]
        return cls(resident, rows, price, is_done, new(rows.shape, wp.vec3d, device), sums)

    def totals(self) -> Any:
        """Value, cost and gain of the best set of each member that is not done, [B, 1]."""
        forest, device, members = self.forest, self.gain.device, self.gain.shape[0]
        # A launch is done before the next one reads: the triples of the level below are complete.
        for begin, end in reversed(forest.levels):
            inputs = [begin, forest.first_child, forest.cost, self.gain, self.price, self.is_done, self.best]
            wp.launch(sweep_level, (members, end - begin), inputs, device=device)
        source, count = self.best, forest.roots
        for target in self.sums:
            inputs = [source, count, GROUP, self.is_done, target]
            wp.launch(sum_groups, target.shape, inputs, device=device)
            source, count = target, target.shape[1]
        return source

    def at_prices(self) -> tuple[Any, Any, Any]:
        """Cost, gain and value [B] of the best sets."""
        members, device = self.gain.shape[0], self.gain.device
        cost, gain, value = (new(members, wp.float64, device) for _ in range(3))
        inputs = [self.totals(), self.forest.base_cost, cost, gain, value]
        wp.launch(report, members, inputs, device=device)
        return cost, gain, value

    def select(self) -> Any:
        """The sets of the last sweep, bool [B, R]."""
        selected = new(self.gain.shape, wp.bool, self.gain.device)
        # Coarse to fine: the level above has been decided.
        for begin, end in self.forest.levels:
            inputs = [begin, self.forest.parent, self.best, selected]
            wp.launch(select_level, (selected.shape[0], end - begin), inputs, device=selected.device)
        return selected


def _group_counts(roots: int) -> list[int]:
    counts = [max(1, -(-roots // GROUP))]
    while counts[-1] > 1:
        counts.append(-(-counts[-1] // GROUP))
    return counts


def _on_device(forest: LevelForest, device: Any) -> LevelForest:
    if on_host(forest.cost) and device.is_cpu:
        views = {name: view(getattr(forest, name)) for name in ("parent", "first_child", "cost")}
        return replace(forest, **views)
    if on_host(forest.cost) or forest.cost.device != device:
        fix = f"send it there once with forest.to({str(device)!r})"
        raise ArrayError(f"the forest is not on {device}, where the gains are", where="argument forest", fix=fix)
    return forest


def _results(gain: Any, *results: Any) -> Result:
    """NumPy arrays over the same memory if the gains were one."""
    return tuple(array.numpy() for array in results) if on_host(gain) else results


def _send(array: Any, device: Any) -> Any:
    return wp.array(array, device=device) if on_host(array) else array
