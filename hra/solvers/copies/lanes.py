"""Blocks of copies in memory: all rows of a few copies side by side, so that loops over them read on.

Elsewhere values lie row after row, each with all copies of its kind (`Copies.parts`).
"""

from __future__ import annotations

from hra.compiling import njit

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
