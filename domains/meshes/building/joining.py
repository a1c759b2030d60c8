"""Which triangles have to go and come together, so that the surface stays without cracks."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit


def joined(corners: np.ndarray, step: np.ndarray, sign: np.ndarray) -> np.ndarray:
    """Labels int64 [P] of triangles that go or come at a step, equal where one needs the other; each is one of them.

    What comes joins what goes on the same side of an edge. Then whatever leaves an edge uneven joins what makes up for
    it, until the border of what goes under each label is that of what comes. Edges of the source's border may stay
    uneven: they have nothing to join.

    Parameters
    ----------
    corners : [P, 3], by position; step : int64 [P]; sign : int64 [P], 1 for what goes and -1 for what comes.
    """
    begin = np.unique(corners, return_inverse=True)[1].reshape(-1, 3)
    end, part = np.roll(begin, -1, axis=1).reshape(-1), np.repeat(np.arange(len(step)), 3)
    begin, places = begin.reshape(-1), int(begin.max(initial=0)) + 1
    edge = (step[part] * places + np.minimum(begin, end)) * places + np.maximum(begin, end)
    order = np.argsort(edge, kind="stable")
    offsets = np.flatnonzero(np.concatenate([[True], np.diff(edge[order]) != 0, [True]]))
    root = np.arange(len(step))
    _join_sides(offsets, part[order], (begin < end)[order], sign, root)
    while _join_uneven(offsets, part[order], (begin < end)[order], sign, root):
        pass
    return root


@njit(cache=True)
def _find(root, i):
    while root[i] != i:
        root[i] = root[root[i]]
        i = root[i]
    return i


@njit(cache=True)
def _join_sides(offsets, part, forward, sign, root):
    """Join what goes and what comes with the same directed edge."""
    for e in range(offsets.size - 1):
        for i in range(offsets[e], offsets[e + 1]):
            for j in range(offsets[e], i):
                if forward[i] == forward[j] and sign[part[i]] != sign[part[j]]:
                    root[_find(root, part[i])] = _find(root, part[j])


@njit(cache=True)
def _join_uneven(offsets, part, forward, sign, root):
    """Join all that leave the same edge uneven, once; whether anything was joined. Then ``root`` are labels."""
    joined = False
    for e in range(offsets.size - 1):
        uneven = np.int64(-1)
        for i in range(offsets[e], offsets[e + 1]):
            own, net = _find(root, part[i]), 0
            for j in range(offsets[e], offsets[e + 1]):
                if _find(root, part[j]) == own:
                    net += sign[part[j]] if forward[j] else -sign[part[j]]
            if net != 0:
                if uneven >= 0 and _find(root, uneven) != own:
                    root[own] = _find(root, uneven)
                    joined = True
                uneven = part[i]
    for i in range(root.size):
        root[i] = _find(root, i)
    return joined
