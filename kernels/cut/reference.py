"""The plain reference of the cuts: one member after the other, one level after the other.

Sums have a fixed order that all backends share: a refinement, then its children from left to right; roots in groups of
`GROUP`, and groups of groups. So backends agree to the bit.
"""

from __future__ import annotations

import math

import numpy as np

from hra.kernels.cut.chains import Chains
from hra.kernels.cut.forest import LevelForest
from hra.kernels.cut.hull_rows import hull_row

# Sums over roots that one step adds up, and how many prices are tried at most; ten to twenty are usual.
GROUP, MAX_STEPS = 32, 200
# What rounding takes off a bound at most, per refinement and relative to the sum of all gains G, and of numbers too
# small to be rounded relatively. A value V = gain - price * cost + sum of V over the children takes a product, a
# difference and a sum per child; where V > 0 counts, none of these results exceeds G, so that each is off by 2**-53 G.
# Sums over the roots take another one per root, price * capacity + V two that do not exceed G, or the bound would be G
# itself: 4 R + 4 steps in all, for which twice as much is allowed, since G is rounded, too.
ROUNDING, LEAST = 2.0**-49, 2.0**-1070

Result = tuple[np.ndarray, ...]


def tree_sweep(forest: LevelForest, gain: np.ndarray, price: np.ndarray) -> Result:
    """See :func:`hra.kernels.cut.tree_sweep`."""
    return _stack(forest, gain, [_at(forest, row, p) for row, p in zip(gain, price, strict=True)])


def price_search(forest: LevelForest, gain: np.ndarray, capacity: np.ndarray) -> Result:
    """See :func:`hra.kernels.cut.price_search`."""
    return _stack(forest, gain, [_search(forest, row, float(c)) for row, c in zip(gain, capacity, strict=True)])


def hull_points(
    forest: LevelForest, gain: np.ndarray, capacity: np.ndarray, slope_cost: np.ndarray, fill: bool, spend_all: bool
) -> Result:
    """See :func:`hra.kernels.cut.hull_points`."""
    rows = gain.astype(np.float64)
    pairs = zip(rows, capacity.tolist(), strict=True)
    found = [hull_row(forest, slope_cost, row, limit, fill, spend_all) for row, limit in pairs]
    selected = np.array([taken for taken, _ in found], np.bool_).reshape(rows.shape)
    spent, gained = ((selected * values).sum(axis=1) for values in (forest.cost, rows))
    return selected, forest.base_cost + spent, gained, np.array([price for _, price in found])


def all_valid(gain: np.ndarray, largest: float) -> bool:
    """See :func:`hra.kernels.cut.all_valid`."""
    return bool(((gain >= 0) & (gain <= np.float64(largest))).all())  # of float32, the largest of float64 would be inf


def _at(forest: LevelForest, gain: np.ndarray, price: float) -> tuple[np.ndarray, float, float, float, float]:
    best = _sweep(forest, gain, price)
    value, spent, gained = _totals(best, forest)
    return _select(forest, best[0]), spent, gained, value, price


def _search(forest: LevelForest, gain: np.ndarray, capacity: float) -> tuple[np.ndarray, float, float, float, float]:
    """The set at the least price met that fits; ``low`` and ``high`` are (price, spent, gained) around the capacity."""
    bound, spent, gained = _totals(_sweep(forest, gain, 0.0), forest)
    # At price 0 every gain counts, none being negative: the sum of all.
    everything = bound
    if spent <= capacity:
        selected, spent, gained, _, _ = _at(forest, gain, 0.0)
        return selected, spent, gained, _outward(max(bound, gained), everything, len(forest)), 0.0
    low = (0.0, spent, gained)
    # Only what is free is taken at an infinite price, which fits any capacity: the search always has a set to return.
    high = (math.inf, *_totals(_sweep(forest, gain, math.inf), forest)[1:])
    bound_price, price, is_chord = 0.0, _chord(low, high), True
    # ``low`` costs too much and ``high`` fits, which every step keeps while it moves one of them to a price between:
    # the search ends at the latest where no float is left there.
    for _ in range(MAX_STEPS):
        if not low[0] < price < high[0]:
            break
        value, spent, gained = _totals(_sweep(forest, gain, price), forest)
        # Weak duality: at any price >= 0 no set within the capacity gains more than this (Everett 1963).
        if value + price * capacity < bound:
            bound, bound_price = value + price * capacity, price
        settled = is_chord and not high[1] < spent < low[1]  # no hull point lies between
        width = low[1] - high[1]
        if spent <= capacity:
            high = (price, spent, gained)
        else:
            low = (price, spent, gained)
        if settled or spent == capacity:
            break
        is_chord = not (is_chord and _can_bisect(low, high) and low[1] - high[1] > 0.5 * width)
        price = _chord(low, high) if is_chord else _middle(low[0], high[0])
    selected, spent, gained, _, _ = _at(forest, gain, high[0])
    return selected, spent, gained, _outward(max(bound, gained), everything, len(forest)), bound_price


def _outward(bound: float, everything: float, size: int) -> float:
    return bound + float(size) * (ROUNDING * everything + LEAST)


def _chord(low: tuple[float, ...], high: tuple[float, ...]) -> float:
    # Not divided by 0: one cost is above the capacity, the other is not.
    return (low[2] - high[2]) / (low[1] - high[1])


def _can_bisect(low: tuple[float, ...], high: tuple[float, ...]) -> bool:
    return low[0] > 0.0 and high[0] < math.inf


def _middle(low: float, high: float) -> float:
    """Geometric where the bracket spans magnitudes."""
    return math.sqrt(low) * math.sqrt(high) if high > 4.0 * low else 0.5 * (low + high)


def _sweep(forest: LevelForest, gain: np.ndarray, price: float) -> np.ndarray:
    """Value, cost and gain [3, R] of the best set below and with each refinement; zero where it is not worth it."""
    paid = np.multiply(price, forest.cost, where=forest.cost > 0, out=np.zeros(len(forest)))  # inf * 0 is not a number
    best = np.stack([gain - paid, forest.cost, gain.astype(np.float64)])
    for begin, end in reversed(forest.levels):
        first, last = forest.first_child[begin:end], forest.first_child[begin + 1 : end + 1]
        level = best[:, begin:end]
        for k in range(int((last - first).max(initial=0))):
            has_child = first + k < last
            level[:, has_child] += best[:, (first + k)[has_child]]
        # Taken with the best of what is beneath, or left with all of it: 0, also where the value just comes to nothing,
        # so that the smallest of the best sets is found.
        level[:, ~(level[0] > 0)] = 0.0
    return best


def _totals(best: np.ndarray, forest: LevelForest) -> tuple[float, float, float]:
    """Value, cost and gain of all roots together."""
    sums = best[:, : forest.roots]
    while True:
        groups = max(1, -(-sums.shape[1] // GROUP))
        # Adding the zeros of the padding changes no sum, so that backends may leave them out.
        padded = np.zeros((3, groups * GROUP))
        padded[:, : sums.shape[1]] = sums
        # A cumulative sum adds from left to right; numpy.sum does not.
        sums = padded.reshape(3, groups, GROUP).cumsum(axis=2)[:, :, -1]
        if groups == 1:
            return float(sums[0, 0]), float(sums[1, 0]), float(sums[2, 0])


def _select(forest: LevelForest, value: np.ndarray) -> np.ndarray:
    selected = value > 0
    for begin, end in forest.levels[1:]:
        selected[begin:end] &= selected[forest.parent[begin:end]]
    return selected


def _stack(
    forest: LevelForest, gain: np.ndarray, members: list[tuple[np.ndarray, float, float, float, float]]
) -> Result:
    selected = np.zeros(gain.shape, np.bool_)
    numbers = np.zeros((4, len(members)))
    for i, (taken, spent, *others) in enumerate(members):
        selected[i] = taken
        numbers[:, i] = forest.base_cost + spent, *others
    return selected, *numbers


def chain_gains(chains: Chains, own: np.ndarray, inherited: np.ndarray) -> Result:
    """See :func:`hra.kernels.cut.chains.chain_gains`."""
    size = (len(own), len(chains.last))
    gain, node, repaired = np.zeros(size), np.zeros(size, np.int32), np.zeros(len(own), np.int32)
    for b, kept in enumerate(own.copy()):
        slot = np.arange(kept.size) - chains.first_root
        for v in (v for begin, end in chains.levels for v in range(begin, end)):
            p = chains.parent[v]
            siblings = chains.children[chains.offsets[p] : chains.offsets[p + 1]]
            r = slot[p] if p >= chains.first_root else chains.first_child[slot[p]] + (not chains.last[slot[p]])
            given = inherited[b, siblings]
            for _ in range(np.count_nonzero((given > inherited[b, v]) | ((given == inherited[b, v]) & (siblings < v)))):
                r = chains.first_child[r]
            total, before = sum(given.tolist()), inherited[b, v]
            if total > kept[p] * (1 + 1e-12):
                repaired[b] += total > kept[p] * (1 + 1e-6)
                before *= kept[p] / total
            if kept[v] > before:
                repaired[b] += kept[v] > before * (1 + 1e-6)
                kept[v] = before
            slot[v], gain[b, r], node[b, r] = r, before - kept[v], v
    return gain, node, repaired


def chain_cut(chains: Chains, node: np.ndarray, selected: np.ndarray) -> np.ndarray:
    """See :func:`hra.kernels.cut.chains.chain_cut`."""
    active = np.zeros((len(node), len(chains.parent)), np.bool_)
    active[:, chains.first_root :] = True
    b, r = np.nonzero(selected)
    active[b, node[b, r]] = True
    gone = chains.last[r]
    active[b[gone], chains.parent[node[b[gone], r[gone]]]] = False
    return active
