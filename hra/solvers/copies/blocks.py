"""Blocks of copies, and how each splits surplus over predecessors; see `hra.solvers.dag.split_flow`.

Whatever the shares are, they prove a bound. Those of one copy alone prove the best one; a block of copies that want
nearly the same at nearly the same price is served by one share for all of them.

In memory a block holds all rows of a few copies side by side, so that loops over them read on. Elsewhere values lie row
after row, each with all copies of its kind (`Copies.parts`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hra.compiling import njit
from hra.solvers.copies.copies import Copies, Rows

# Copies of all kinds together that have shares of their own; 29 kB each for 3,600 edges.
_ALONE = 128
# Copies at a time: what is known of them stays in the cache.
LANES = 64


@njit(cache=True)
def count_of(rows, kind):
    """How many copies of a ``kind`` there are."""
    begin, end = rows.first[kind], rows.first[kind + 1]
    return (rows.at[end] - rows.at[begin]) // (end - begin) if end > begin else 0


@njit(cache=True)
def lanes_of(rows, kind, lane, values):
    """A block of copies, [R, lanes], of ``values`` in blocks (`in_blocks`); its first copy is ``lane``."""
    begin, end = rows.first[kind], rows.first[kind + 1]
    width, start = min(LANES, count_of(rows, kind) - lane), rows.at[begin] + (end - begin) * lane
    return values[start : start + (end - begin) * width].reshape((end - begin, width))


@njit(cache=True)
def in_blocks(rows, values, result):
    """Copy ``values`` of all lanes to ``result``, where blocks lie one after the other, each with all its rows."""
    at = rows.at
    for kind in range(rows.first.size - 1):
        for lane in range(0, count_of(rows, kind), LANES):
            own, begin = lanes_of(rows, kind, lane, result), rows.first[kind]
            for r in range(own.shape[0]):
                lanes = values[at[begin + r] + lane : at[begin + r] + lane + own.shape[1]]
                for i in range(lanes.size):
                    own[r, i] = lanes[i]
    return result


@njit(cache=True)
def in_rows(rows, values, result):
    """Copy ``values`` in blocks back to ``result``, row after row: the inverse of `in_blocks`."""
    at = rows.at
    for kind in range(rows.first.size - 1):
        for lane in range(0, count_of(rows, kind), LANES):
            own, begin = lanes_of(rows, kind, lane, values), rows.first[kind]
            for r in range(own.shape[0]):
                lanes = result[at[begin + r] + lane : at[begin + r] + lane + own.shape[1]]
                for i in range(lanes.size):
                    lanes[i] = own[r, i]
    return result


class Shares(NamedTuple):
    """The parts of each refinement's surplus that go to its predecessors; they add up to 1.

    Attributes
    ----------
    first : int64 [K + 1], number of the first block of each kind.
    at : int64 [blocks + 1], where the shares of each block begin.
    value : float64, for each block [E, 1], common to its copies, or [E, copies].
    """

    first: np.ndarray
    at: np.ndarray
    value: np.ndarray


def even_shares(copies: Copies) -> Shares:
    """Even shares: of their own for the first copies of each kind, common to blocks of the others."""
    result = _empty(copies)
    _even(copies.rows, result)
    return result


def shares_after(copies: Copies, old_copies: Copies, old: Shares, came_from: np.ndarray) -> Shares:
    """What the copies had before: the shares to begin the next step of a sequence with.

    Parameters
    ----------
    old_copies, old : of the last step, over the same kinds.
    came_from : int64, which of the old copies each copy was, both counted through all kinds, or -1: it gets what the
        one before it had.
    """
    result = _empty(copies)
    _take_over(copies.rows, result, old_copies.rows, old, came_from)
    return result


def _empty(copies: Copies) -> Shares:
    alone, sizes, blocks = max(_ALONE // len(copies.counts), LANES), [], [0]
    for count, hierarchy in zip(copies.counts, copies.hierarchies, strict=True):
        lanes = np.arange(0, count, LANES)
        widths = np.where(lanes < alone, np.minimum(LANES, count - lanes), 1)
        sizes.append(widths * len(hierarchy.predecessors[1]))
        blocks.append(blocks[-1] + lanes.size)
    at = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64)
    return Shares(np.array(blocks, np.int64), at, np.empty(at[-1]))


@njit(cache=True)
def shares_of(rows, share, kind, block):
    """The shares of one block: [E, 1], or [E, copies]."""
    begin, end = rows.before[rows.first[kind]], rows.before[rows.first[kind + 1]]
    own = share.value[share.at[block] : share.at[block + 1]]
    return own.reshape((end - begin, own.size // (end - begin) if end > begin else 1))


@njit(cache=True)
def shares_of_copy(rows, share, kind, i):
    """The shares [E] of one copy of a ``kind``."""
    block = shares_of(rows, share, kind, share.first[kind] + i // LANES)
    return block[:, i % LANES if block.shape[1] > 1 else 0].copy()


def all_rows(rows: Rows, share: Shares) -> np.ndarray:
    """How many rows each block has, int64 [blocks]."""
    return np.repeat(np.diff(rows.first), np.diff(share.first))


@njit(cache=True)
def _even(rows, share):
    for kind in range(rows.first.size - 1):
        edges = rows.before[rows.first[kind]]
        for block in range(share.first[kind], share.first[kind + 1]):
            own = shares_of(rows, share, kind, block)
            for q in range(rows.first[kind], rows.first[kind + 1]):
                part = 1.0 / max(rows.before[q + 1] - rows.before[q], 1)
                for k in range(rows.before[q], rows.before[q + 1]):
                    for i in range(own.shape[1]):
                        own[k - edges, i] = part


@njit(cache=True)
def _take_over(rows, share, old_rows, old, came_from):
    """See `shares_after`."""
    lane, old_lane, start, stride = 0, 0, np.zeros(LANES, np.int64), np.zeros(LANES, np.int64)
    for kind in range(rows.first.size - 1):
        count, known, was = count_of(rows, kind), count_of(old_rows, kind), 0
        for begin in range(0, count, LANES):
            own = shares_of(rows, share, kind, share.first[kind] + begin // LANES)
            for i in range(min(LANES, count - begin)):
                source = came_from[lane + begin + i] - old_lane
                was = source if 0 <= source < known else was
                if i >= own.shape[1]:
                    continue
                block = old.first[kind] + was // LANES
                stride[i] = shares_of(old_rows, old, kind, block).shape[1]
                start[i] = old.at[block] + (was % LANES if stride[i] > 1 else 0)
            for k in range(own.shape[0]):
                for i in range(own.shape[1]):
                    own[k, i] = old.value[start[i] + k * stride[i]]
        lane, old_lane = lane + count, old_lane + known
