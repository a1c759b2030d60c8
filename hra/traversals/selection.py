"""Weighted quickselect: where to cut a sorted list without sorting it."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def select_threshold(key, weight, capacity):
    """Smallest t such that the weights of all entries with ``key > t`` add up to at most ``capacity``.

    Parameters
    ----------
    key : float64 [n]; weight : float64 [n], >= 0; capacity : float >= 0.

    Returns
    -------
    t : one of the keys, or -inf if everything fits. Expected O(n): three-way partition around a median of three.
    """
    a, w = key.copy(), weight.copy()
    low, high, spent = 0, a.size, 0.0
    fitting, everything = np.inf, True
    while low < high:
        first, middle, last = a[low], a[(low + high) // 2], a[high - 1]
        pivot = max(min(first, middle), min(max(first, middle), last))
        i, j, k = low, low, high
        above, equal = 0.0, 0.0
        while j < k:
            if a[j] > pivot:
                above += w[j]
                a[i], a[j], w[i], w[j] = a[j], a[i], w[j], w[i]
                i += 1
                j += 1
            elif a[j] < pivot:
                k -= 1
                a[k], a[j], w[k], w[j] = a[j], a[k], w[j], w[k]
            else:
                equal += w[j]
                j += 1
        if spent + above > capacity:
            high = i
            everything = False
        elif spent + above + equal > capacity:
            return pivot
        else:
            spent += above + equal
            low = k
            fitting = pivot
    # Fractional weights summed in another order may all fit after a larger part did not: then the last key that fitted
    # is left out, which is safe.
    return -np.inf if everything else fitting
