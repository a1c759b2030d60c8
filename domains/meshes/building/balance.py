"""How much of each group of a level is kept, so that a level leaves little error where surfaces differ in detail."""

from __future__ import annotations

import numpy as np

# A group keeps at least and at most such shares: levels stay about half of the one before.
_LEAST, _MOST = 0.3, 0.7
# Shares go with this power of the errors. As errors fall about as 1 / triangles, 1 would make all of them equal; but
# they are the largest of each group, and a single sharp corner must not keep the triangles of flat surface around it.
_POWER = 1 / 3
# Bisection to 2**-40 of the range of scales.
_BISECTIONS = 40


def balanced_shares(triangles: np.ndarray, kept: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """Shares of the triangles of each group that add up to as many triangles as are kept now.

    Halving every group alike would leave most of a level's error where the source has few triangles for its detail.

    Parameters
    ----------
    triangles : [G], of the groups; kept : [G], what simplification left of them, with ``errors`` [G] >= 0, not all 0.

    Returns
    -------
    float64 [G], from 0.3 to 0.7.
    """
    wanted = kept / triangles * (errors / errors.max()) ** _POWER

    def shares(scale: float) -> np.ndarray:
        return np.clip(wanted * scale, _LEAST, _MOST)

    # Shares grow with the scale, clipped ones as well, so that bisection finds the one that keeps as many.
    low, high = 0.0, _MOST / wanted[wanted > 0].min()
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if (triangles * shares(middle)).sum() > kept.sum():
            high = middle
        else:
            low = middle
    return shares(low)
