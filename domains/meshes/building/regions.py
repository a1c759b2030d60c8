"""Changes of a surface put together, neighbours with neighbours, to refinements that are worth storing."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.domains.meshes.building.changes import Changes
from hra.domains.meshes.mesh.ragged import run_offsets
from hra.model.arrays import group


def grown_regions(changes: Changes, places: np.ndarray, enough: np.ndarray, deepest: int) -> np.ndarray:
    """The region of each change, int64 [C], numbered so that each needs only what earlier ones make.

    A region begins with the first change that is left. It takes in changes that touch it and wait for no other one, the
    earliest first, until it saves enough.

    Parameters
    ----------
    places : [K, 3], the corners of the triangles by position.
    enough : int64 [C], the triangles that a region which begins with a change shall save.
    deepest : how many steps later than the first of a region its changes are at most. What is simplified far in one
        place and not at all beside it looks worse than what is simplified evenly.
    """
    made_at, made = group(changes.made_by, len(changes))
    place, change = _touched(changes, places)
    # Of the triangles that each change takes away, those that another one has yet to make.
    waiting = np.bincount(changes.gone_by[(changes.made_by >= 0) & (changes.gone_by >= 0)], minlength=len(changes))
    region = np.full(len(changes), -1, np.int64)
    _grow(
        (run_offsets(np.bincount(change, minlength=len(changes))), place),
        (run_offsets(np.bincount(place)), change[np.argsort(place, kind="stable")]),
        (made_at, changes.gone_by[made]),
        (changes.step, changes.saved, enough, deepest),
        waiting,
        region,
    )
    return region


def _touched(changes: Changes, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places, numbered without gaps, and the changes with a triangle there, each pair once; by change."""
    number = np.unique(places, return_inverse=True)[1].reshape(-1, 3)
    count, keys = int(number.max(initial=0)) + 1, []
    for by in (changes.gone_by, changes.made_by):
        rows = np.flatnonzero(by >= 0)
        keys.append((by[rows, None] * count + number[rows]).reshape(-1))
    change, place = np.divmod(distinct(np.concatenate(keys)), count)
    return place, change


def distinct(keys: np.ndarray) -> np.ndarray:
    """The different ``keys`` [n], sorted; NumPy's own function takes ten times as long."""
    keys = np.sort(keys)
    return keys[np.concatenate([[True], keys[1:] != keys[:-1]])]


@njit(cache=True)
def _grow(places_of, changes_at, needed, sizes, waiting, region):
    """Write the ``region`` of each change.

    ``needed`` are the changes that take away what each one makes; runs of them, of places and of changes are given as
    offsets and values.
    """
    (step, saved, enough, deepest), count = sizes, np.int64(0)
    reached, border = np.full(region.size, -1, np.int64), np.empty(region.size, np.int64)
    for first in range(region.size):
        if region[first] >= 0:
            continue
        total, size, chosen = 0, np.int64(0), first
        while chosen < region.size:
            region[chosen] = count
            total += saved[chosen]
            for k in range(needed[0][chosen], needed[0][chosen + 1]):
                if needed[1][k] >= 0:
                    # What takes this triangle away may now follow.
                    waiting[needed[1][k]] -= 1
            if total >= enough[first]:
                break
            size = _reach(places_of, changes_at, chosen, count, reached, border, size)
            # Of what touches the region and waits for nothing, the earliest: changes are numbered by steps.
            chosen = region.size
            for k in range(size):
                other = border[k]
                if region[other] < 0 and waiting[other] == 0 and step[other] <= step[first] + deepest:
                    chosen = min(chosen, other)
        count += 1


@njit(cache=True)
def _reach(places_of, changes_at, chosen, count, reached, border, size):
    """Add the changes that touch a place of the ``chosen`` one to the ``border`` of region ``count``; its new size."""
    for k in range(places_of[0][chosen], places_of[0][chosen + 1]):
        place = places_of[1][k]
        for j in range(changes_at[0][place], changes_at[0][place + 1]):
            other = changes_at[1][j]
            if reached[other] != count:
                reached[other] = count
                border[size] = other
                size += 1
    return size
