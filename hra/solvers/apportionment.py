"""Whole numbers from shares: apportionment rules, whose counts always add up to the total.

Every rule is called as ``rule(importance, total, capacity)`` and returns counts, int64 [n], with
``0 <= counts <= capacity`` and ``counts.sum() == min(total, capacity.sum())``. They state how a budget is dealt out;
they optimise nothing. Of equals the first is served first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.errors import ArrayError, HraError
from hra.model.arrays import indices, numbers

# Counts count nodes, whose numbers are int32.
_LIMIT = 2**31


def largest_remainder(importance: Any, total: int, capacity: Any = None, *, minimum: int = 1) -> np.ndarray:
    """Proportional shares, rounded down; the largest remainders are rounded up (Hamilton's method).

    Parameters
    ----------
    importance : [n], >= 0; all zero counts as all equal.
    total : to be dealt out, >= 0.
    capacity : int [n], the most that each can take; None for no limit. What does not fit goes to the others in
        proportion.
    minimum : for each before anything is shared, as far as total and capacity allow (the most important first).

    Raises
    ------
    ArrayError : importance negative or not finite, capacity negative, lengths that differ.
    HraError : total or minimum is not a whole number >= 0.
    """
    importance, total, capacity = _check(importance, total, capacity)
    least = _least(importance, total, capacity, minimum)
    room, left = capacity - least, total - int(least.sum())
    sharing = np.arange(importance.size)
    extra = np.zeros(importance.size, np.int64)
    while sharing.size:
        share, remainder = _divide(importance[sharing], left)
        full = share >= room[sharing]
        if not full.any():
            # Rounding down leaves fewer units than there are entries: none is given two.
            first = sorted(range(sharing.size), key=lambda i: (-remainder[i], -importance[sharing[i]]))
            share[first[: left - int(share.sum())]] += 1
            extra[sharing] = share
            break
        # What is full leaves, and the others share the rest.
        extra[sharing[full]] = room[sharing[full]]
        left -= int(room[sharing[full]].sum())
        sharing = sharing[~full]
    return least + extra


def remainder_to_largest(importance: Any, total: int, capacity: Any = None, *, minimum: int = 1) -> np.ndarray:
    """Proportional shares, rounded down; the most important takes all that rounding leaves.

    Parameters, errors : as for `largest_remainder`; what does not fit into a capacity goes to the next most important.
    """
    importance, total, capacity = _check(importance, total, capacity)
    least = _least(importance, total, capacity, minimum)
    share, _ = _divide(importance, total - int(least.sum()))
    counts = least + np.minimum(share, capacity - least)
    return counts + _fill(_ranking(importance), total - int(counts.sum()), capacity - counts)


def tiers(
    importance: Any,
    total: int,
    capacity: Any = None,
    *,
    shares: tuple[float, ...] = (0.2, 0.3),
    counts: tuple[int, ...] = (15, 5, 1),
) -> np.ndarray:
    """The most important ``shares[0]`` get ``counts[0]`` each, the next ``shares[1]`` get ``counts[1]``, and so on.

    Too many in all: the least important are pruned. Too few: the first tier is refined evenly, then the next ones.

    Parameters
    ----------
    importance, total, capacity : as for `largest_remainder`.
    shares : of the n entries, adding up to at most 1; a started entry belongs to the better tier.
    counts : per entry of each tier; one more than ``shares``, for the rest.
    """
    importance, total, capacity = _check(importance, total, capacity)
    tier = _tier_of(importance, shares)
    each = indices("counts", counts, 0, _LIMIT).astype(np.int64)
    if each.size != len(shares) + 1:
        raise HraError(f"{len(shares)} shares need {len(shares) + 1} counts, got {each.size}", where="tiers")
    result = np.minimum(each[tier], capacity)
    result -= _fill(_ranking(importance)[::-1], int(result.sum()) - total, result)
    for level in range(each.size):
        room = np.where(tier == level, capacity - result, 0)
        result += _evenly(_ranking(importance), total - int(result.sum()), room)
    return result


def _tier_of(importance: np.ndarray, shares: tuple[float, ...]) -> np.ndarray:
    """The tier of each entry by rank, int64 [n]."""
    bounds = np.cumsum(numbers("shares", shares))
    if np.any(np.diff(bounds, prepend=0.0) < 0) or np.any(bounds > 1 + 1e-9):
        raise ArrayError("shares must be >= 0 and add up to at most 1", where="shares")
    # 0.2 + 0.3 of 10 is 5, whatever rounding says.
    bounds = np.ceil(bounds * importance.size - 1e-9)
    rank = np.empty(importance.size, np.int64)
    rank[_ranking(importance)] = np.arange(importance.size)
    return np.searchsorted(bounds, rank, side="right")


def _least(importance: np.ndarray, total: int, capacity: np.ndarray, minimum: int) -> np.ndarray:
    """The minimum of each; where the total is too small for it, the least important go without."""
    least = np.minimum(_whole("minimum", minimum), capacity)
    if least.sum() <= total:
        return least
    return _evenly(_ranking(importance), total, least)


def _divide(importance: np.ndarray, total: int) -> tuple[np.ndarray, list[int]]:
    """Proportional shares rounded down, int64 [n], and their remainders over one common denominator, exact."""
    ratios = [float(value).as_integer_ratio() for value in (importance if importance.any() else importance + 1)]
    common = max((denominator for _, denominator in ratios), default=1)  # all are powers of two
    weights = [numerator * (common // denominator) for numerator, denominator in ratios]
    whole = sum(weights)
    parts = [divmod(weight * total, whole) for weight in weights]
    return np.array([share for share, _ in parts], np.int64), [remainder for _, remainder in parts]


def _ranking(importance: np.ndarray) -> np.ndarray:
    """Indices, most important first."""
    return np.argsort(-importance, kind="stable")


def _fill(order: np.ndarray, amount: int, room: np.ndarray) -> np.ndarray:
    """Deal ``amount`` to the entries in ``order``, each as much as fits."""
    before = np.cumsum(room[order]) - room[order]
    given = np.zeros(room.size, np.int64)
    given[order] = np.clip(amount - before, 0, room[order])
    return given


def _evenly(order: np.ndarray, amount: int, room: np.ndarray) -> np.ndarray:
    """Deal ``amount`` in rounds of one each, in ``order``, until it is dealt or no room is left."""
    amount = max(min(amount, int(room.sum())), 0)
    low, high = 0, int(room.max(initial=0))
    while low < high:  # the most complete rounds that the amount pays
        middle = (low + high + 1) // 2
        low, high = (middle, high) if np.minimum(room, middle).sum() <= amount else (low, middle - 1)
    given = np.minimum(room, low)
    return given + _fill(order, amount - int(given.sum()), np.minimum(room - given, 1))


def _check(importance: Any, total: int, capacity: Any) -> tuple[np.ndarray, int, np.ndarray]:
    """Valid arguments; the total is what the capacities can hold at most."""
    importance, total = numbers("importance", importance), _whole("total", total)
    if np.any(importance < 0):
        where = f"importance[{np.flatnonzero(importance < 0)[0]}]"
        raise ArrayError("an importance is negative", where=where, fix="shift the scores; they are shares")
    if capacity is None:
        return importance, total if importance.size else 0, np.full(importance.size, total)
    capacity = indices("capacity", capacity, 0, _LIMIT, importance.size).astype(np.int64)
    return importance, min(total, int(capacity.sum())), capacity


def _whole(name: str, value: Any) -> int:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or not 0 <= value < _LIMIT:
        raise HraError(f"{name} must be a whole number, 0 <= {name} < 2**31, got {value!r}", where=name)
    return int(value)
