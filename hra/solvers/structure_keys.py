"""Keys that tell refinements apart by their successors, not by how they are numbered.

Greedy choices meet refinements of equal priority and equal gain. If such ties went to the smaller index, the same
hierarchy with its nodes numbered otherwise could be given another answer. On a forest two refinements with equal keys
open up equal trees (but for collisions of 64-bit hashes), so that it does not matter which one is taken first.
"""

from __future__ import annotations

import numpy as np

from hra.compiling import njit

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
