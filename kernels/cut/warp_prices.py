"""Warp kernels of the search for a price: one thread per member, which reads the totals of the last sweep."""

# Warp compiles this file itself, and its types are not Python types.
# pyright: reportInvalidTypeForm=false, reportOperatorIssue=false, reportAssignmentType=false
# pyright: reportGeneralTypeIssues=false, reportArgumentType=false, reportCallIssue=false, reportReturnType=false
# pyright: reportIndexIssue=false

from __future__ import annotations

from hra.kernels.warp_arrays import wp

wp.set_module_options({"fuse_fp": False, "enable_backward": False})


@wp.struct
class Bracket:
    """Two hull points around the capacity, the one that costs too much and the one that fits."""

    low_price: wp.float64
    low_spent: wp.float64
    low_gained: wp.float64
    high_price: wp.float64
    high_spent: wp.float64
    high_gained: wp.float64
    is_chord: wp.bool


@wp.func
def _chord(bracket: Bracket) -> wp.float64:
    # The one costs more than the capacity and the other does not: no division by 0.
    return (bracket.low_gained - bracket.high_gained) / (bracket.low_spent - bracket.high_spent)


@wp.func
def _middle(low: wp.float64, high: wp.float64) -> wp.float64:
    if high > wp.float64(4.0) * low:
        return wp.sqrt(low) * wp.sqrt(high)
    return wp.float64(0.5) * (low + high)


@wp.func
def _narrow(bracket: Bracket, price: wp.float64, spent: wp.float64, gained: wp.float64, fits: bool) -> Bracket:
    if fits:
        bracket.high_price = price
        bracket.high_spent = spent
        bracket.high_gained = gained
    else:
        bracket.low_price = price
        bracket.low_spent = spent
        bracket.low_gained = gained
    return bracket


@wp.kernel
def begin_search(
    totals: wp.array2d(dtype=wp.vec3d),
    capacity: wp.array(dtype=wp.float64),
    brackets: wp.array(dtype=Bracket),
    price: wp.array(dtype=wp.float64),
    bound: wp.array(dtype=wp.float64),
    is_done: wp.array(dtype=wp.bool),
):
    """Start from the sweep at price 0: done, or next the price at which only what is free is taken."""
    member = wp.tid()
    total = totals[member, 0]
    # All gains: the bound of price 0.
    bound[member] = total[0]
    is_done[member] = total[1] <= capacity[member]
    brackets[member] = _narrow(brackets[member], wp.float64(0.0), total[1], total[2], is_done[member])
    price[member] = wp.float64(wp.inf)


@wp.kernel
def first_chord(
    totals: wp.array2d(dtype=wp.vec3d),
    brackets: wp.array(dtype=Bracket),
    price: wp.array(dtype=wp.float64),
    is_done: wp.array(dtype=wp.bool),
    unfinished: wp.array(dtype=wp.int32),
):
    """Go on from the sweep at an infinite price by the slope between both ends."""
    member = wp.tid()
    if is_done[member]:
        return
    total = totals[member, 0]
    bracket = _narrow(brackets[member], price[member], total[1], total[2], True)
    bracket.is_chord = True
    price[member] = _chord(bracket)
    brackets[member] = bracket
    is_done[member] = not (price[member] > bracket.low_price)
    if not is_done[member]:
        wp.atomic_add(unfinished, 0, 1)


@wp.kernel
def next_price(
    totals: wp.array2d(dtype=wp.vec3d),
    capacity: wp.array(dtype=wp.float64),
    brackets: wp.array(dtype=Bracket),
    price: wp.array(dtype=wp.float64),
    bound: wp.array(dtype=wp.float64),
    bound_price: wp.array(dtype=wp.float64),
    is_done: wp.array(dtype=wp.bool),
    unfinished: wp.array(dtype=wp.int32),
):
    """One step of the search; counts the members that need another."""
    member = wp.tid()
    if is_done[member]:
        return
    total = totals[member, 0]
    tried = price[member]
    spent = total[1]
    # A bound at any price (Everett 1963).
    dual = total[0] + tried * capacity[member]
    if dual < bound[member]:
        bound[member] = dual
        bound_price[member] = tried
    before = brackets[member]
    width = before.low_spent - before.high_spent
    is_new = before.high_spent < spent and spent < before.low_spent
    # Where the slope between two hull points finds nothing between them, they are the ends of one edge of the hull.
    settled = (before.is_chord and not is_new) or spent == capacity[member]
    bracket = _narrow(before, tried, spent, total[2], spent <= capacity[member])
    can_bisect = bracket.low_price > wp.float64(0.0) and bracket.high_price < wp.float64(wp.inf)
    is_slow = bracket.low_spent - bracket.high_spent > wp.float64(0.5) * width
    # After a chord that did not halve what lies between the ends, the middle is tried once.
    bracket.is_chord = not (bracket.is_chord and can_bisect and is_slow)
    # Strictly between both prices, or the member is done: no float is tried twice.
    tried = _chord(bracket)
    if not bracket.is_chord:
        tried = _middle(bracket.low_price, bracket.high_price)
    brackets[member] = bracket
    price[member] = tried
    is_done[member] = settled or not (bracket.low_price < tried and tried < bracket.high_price)
    if not is_done[member]:
        wp.atomic_add(unfinished, 0, 1)


@wp.kernel
def end_search(brackets: wp.array(dtype=Bracket), price: wp.array(dtype=wp.float64), is_done: wp.array(dtype=wp.bool)):
    """Back to the least price that fits, for the last sweep."""
    member = wp.tid()
    price[member] = brackets[member].high_price
    is_done[member] = False


@wp.kernel
def round_outward(
    lowest: wp.array(dtype=wp.float64),
    everything: wp.array(dtype=wp.float64),
    size: int,
    rounding: wp.float64,
    least: wp.float64,
    bound: wp.array(dtype=wp.float64),
):
    """Bounds never below what exact sums would give: see `ROUNDING` in `hra.kernels.cut.reference`."""
    member = wp.tid()
    # The set's own gain is a sum of its own and may exceed a rounded bound.
    margin = wp.float64(size) * (rounding * everything[member] + least)
    bound[member] = wp.max(bound[member], lowest[member]) + margin
