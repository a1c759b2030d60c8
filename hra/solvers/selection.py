"""Weighted selection: where to cut a sorted list without sorting it.

Two thresholds of a sample enclose the one that is wanted almost surely (Floyd and Rivest 1975). One pass adds up what
lies above them and keeps what lies between; quickselect finishes on that, or on everything where the sample misled.
"""

from __future__ import annotations

import numpy as np

from hra.compiling import njit

# How many entries are sampled, from which size on, and how many standard deviations the thresholds are apart from it.
_SAMPLE, _LARGE, _DEVIATIONS = 8_192, 100_000, 3.0


def select_threshold(key: np.ndarray, weight: np.ndarray, capacity: float) -> float:
    """Smallest t such that the weights of all entries with ``key > t`` add up to at most ``capacity``.

    Parameters
    ----------
    key : float64 [n]; weight : float64 [n], >= 0; capacity : float >= 0.

    Returns
    -------
    t : one of the keys, or -inf if everything fits. Expected O(n).
    """
    # Small problems are interpreted, so that only large ones have to compile.
    if key.size >= _LARGE:
        return compiled_threshold(key, weight, capacity)
    return _quickselect(key.copy(), weight.copy(), capacity)


@njit(cache=True)
def compiled_threshold(key, weight, capacity):
    """`select_threshold` for compiled callers."""
    if key.size >= _LARGE:
        low, high = _enclosing(key, weight, capacity)
        spent, inner_key, inner_weight = _between(key, weight, low, high)
        # The sample is trusted where the sums over everything bear it out: what lies above ``high`` fits, and there
        # was room to keep all that lies between.
        if spent <= capacity and inner_key.size < key.size // 4:
            threshold = _quickselect(inner_key, inner_weight, capacity - spent)
            # Where all of that fits as well, the threshold is below ``low``.
            if threshold > -np.inf:
                return threshold
    return _quickselect(key.copy(), weight.copy(), capacity)


@njit(cache=True)
def _enclosing(key, weight, capacity):
    """Two thresholds, low and high, between which the wanted one lies if the sample is a fair one."""
    stride = key.size // _SAMPLE | 1  # odd, for keys whose pattern repeats in powers of two
    sample_key, sample_weight = key[::stride].copy(), weight[::stride].copy()
    wanted, slack = capacity / stride, _DEVIATIONS * np.sqrt(np.square(sample_weight).sum())
    low = _quickselect(sample_key, sample_weight, wanted + slack)
    return low, _quickselect(sample_key, sample_weight, wanted - slack) if wanted > slack else np.inf


@njit(cache=True)
def _between(key, weight, low, high):
    """Weight of all entries above ``high``, and copies of those from ``low`` to ``high``: at most a quarter of all."""
    room = key.size // 4
    inner_key, inner_weight = np.empty(room + 1), np.empty(room + 1)
    above, count = 0.0, 0
    for i in range(key.size):
        # Without branches, which nothing could predict here.
        above += weight[i] if key[i] > high else 0.0
        inner_key[count], inner_weight[count] = key[i], weight[i]
        count = min(count + int(low <= key[i] <= high), room)
    return above, inner_key[:count], inner_weight[:count]


@njit(cache=True)
def _quickselect(key, weight, capacity):
    """`select_threshold` by three-way partitions around a median of three; reorders its arguments."""
    low, high, spent = 0, key.size, 0.0
    fitting, everything = np.inf, True
    # Invariant: what lies before ``low`` has larger keys, weighs ``spent`` and fits; from ``high`` on no key is the
    # threshold.
    while low < high:
        first, middle, last = key[low], key[(low + high) // 2], key[high - 1]
        pivot = max(min(first, middle), min(max(first, middle), last))
        i, j, k = low, low, high
        above, equal = 0.0, 0.0
        # Three ways (Dijkstra's Dutch national flag): [low, i) is above the pivot, [i, j) at it, [k, high) below.
        while j < k:
            if key[j] > pivot:
                above += weight[j]
                key[i], key[j], weight[i], weight[j] = key[j], key[i], weight[j], weight[i]
                i += 1
                j += 1
            elif key[j] < pivot:
                k -= 1
                key[k], key[j], weight[k], weight[j] = key[j], key[k], weight[j], weight[k]
            else:
                equal += weight[j]
                j += 1
        if spent + above > capacity:
            high = i
            everything = False
        # All above the pivot fits, and with all at the pivot it does not: that is the definition.
        elif spent + above + equal > capacity:
            return pivot
        else:
            spent += above + equal
            low = k
            fitting = pivot
    # Fractional weights summed in another order may all fit after a larger part did not: then the last key that fitted
    # is left out, which is safe.
    return -np.inf if everything else fitting
