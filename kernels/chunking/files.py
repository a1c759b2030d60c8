"""Files of records, sorted by the chunk that each belongs to.

Boxes of at most so much weight each divide the points.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

# Cells along the longest axis of a counting grid: about 20,000 of them hold a surface.
_CELLS = 64
_BLOCK_BYTES = 2**22
Place = Callable[[np.ndarray], np.ndarray]


def weighted_parts(points: np.ndarray, weights: np.ndarray, most: int, share: float | None = None) -> np.ndarray:
    """The box of each point, numbered along a walk through space; a k-d tree over weights.

    Parameters
    ----------
    points : [n, d]; weights : int [n], > 0.
    most : weight of a box, except for single points that weigh more.
    share : of the weight that the first side of every border gets, so that borders lie elsewhere than at other shares;
        by default such that boxes are full.

    Returns
    -------
    int64 [n], numbers without gaps.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.kernels.chunking import weighted_parts
    >>> weighted_parts(np.array([[0.0], [9.0], [1.0], [8.0]]), np.array([2, 2, 2, 2]), 4).tolist()
    [0, 1, 0, 1]
    """
    result, count = np.zeros(len(points), np.int64), 0
    waiting = [np.arange(len(points))] if len(points) else []
    while waiting:
        rows = waiting.pop()
        total = int(weights[rows].sum())
        if total <= most or len(rows) == 1:
            result[rows] = count
            count += 1
            continue
        own = points[rows]
        axis = int(np.argmax(own.max(axis=0) - own.min(axis=0)))
        rows = rows[np.argsort(own[:, axis], kind="stable")]
        boxes = -(-total // most)
        first = boxes // 2 / boxes if share is None else share
        reached = np.cumsum(weights[rows])
        cut = int(np.clip(np.searchsorted(reached, first * total, "right"), 1, len(rows) - 1))
        waiting += [rows[cut:], rows[:cut]]
    return result


@dataclass(frozen=True)
class Records:
    """A run of rows of a file.

    Attributes
    ----------
    path : of rows of float32, ``width`` numbers each; first, count : which of them.
    """

    path: Path
    width: int
    first: int
    count: int

    def blocks(self) -> Iterator[np.ndarray]:
        """The rows float32 [n, width], a few megabytes at a time."""
        step = max(_BLOCK_BYTES // (4 * self.width), 1)
        for begin in range(self.first, self.first + self.count, step):
            yield self._read(begin, min(step, self.first + self.count - begin))

    def read(self) -> np.ndarray:
        """All rows, float32 [count, width]."""
        return self._read(self.first, self.count)

    def _read(self, begin: int, count: int) -> np.ndarray:
        # Not mapped: mapped pages count as memory of this process for as long as the system likes.
        rows = np.fromfile(self.path, np.float32, count * self.width, offset=4 * self.width * begin)
        return rows.reshape(-1, self.width)


def chunk_records(records: Records, place: Place, most: int, folder: Path) -> list[Records]:
    """The records in chunks of at most ``most`` rows, near ones together; in each chunk in their order.

    Files are written to ``folder``, and read again where a cell of the grid holds too many rows.

    Parameters
    ----------
    place : from rows [n, width] to their places [n, d].

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib
    >>> from hra.kernels.chunking import Records, chunk_records
    >>> with tempfile.TemporaryDirectory() as name:
    ...     file = pathlib.Path(name, "rows")
    ...     np.float32([[0, 0], [5, 5], [0, 1], [5, 6]]).tofile(file)
    ...     chunks = chunk_records(Records(file, 2, 0, 4), lambda rows: rows, 2, pathlib.Path(name))
    ...     [chunk.read().tolist() for chunk in chunks]
    [[[0.0, 0.0], [0.0, 1.0]], [[5.0, 5.0], [5.0, 6.0]]]
    """
    if records.count <= most:
        return [records]
    grid = _Grid.around(records, place)
    counts = np.zeros(grid.size, np.int64)
    for rows in records.blocks():
        counts += np.bincount(grid.cells(place(rows)), minlength=grid.size)
    used = np.flatnonzero(counts)
    if len(used) == 1:  # all at one place: any split is as good
        halves = range(records.first, records.first + records.count, most)
        end = records.first + records.count
        return [Records(records.path, records.width, begin, min(most, end - begin)) for begin in halves]
    part = np.zeros(grid.size, np.int64)
    part[used] = weighted_parts(grid.corners(used), counts[used], most)
    parts = sort_records(
        records, lambda rows: part[grid.cells(place(rows))], np.bincount(part[used], counts[used]), folder
    )
    return [chunk for one in parts for chunk in chunk_records(one, place, most, folder)]


@dataclass(frozen=True)
class _Grid:
    """Cubes around places."""

    low: np.ndarray
    side: float
    shape: tuple[int, ...]

    @classmethod
    def around(cls, records: Records, place: Place) -> _Grid:
        boxes = [(p.min(axis=0), p.max(axis=0)) for p in (place(rows).astype(np.float64) for rows in records.blocks())]
        low, high = np.min([box[0] for box in boxes], axis=0), np.max([box[1] for box in boxes], axis=0)
        side = float((high - low).max()) / _CELLS or 1.0
        return cls(low, side, tuple(min(int(n) + 1, _CELLS) for n in (high - low) / side))

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    def cells(self, places: np.ndarray) -> np.ndarray:
        """The cell of each place, int64 [n]."""
        steps = ((places.astype(np.float64) - self.low) / self.side).astype(np.int64)
        inside = np.clip(steps, 0, np.array(self.shape) - 1)
        index: Any = np.ravel_multi_index(tuple(inside.T), self.shape)  # an array, as the axes are
        return index

    def corners(self, cells: np.ndarray) -> np.ndarray:
        """Where cells lie, counted in cells: int64 [n, d]."""
        return np.stack(np.unravel_index(cells, self.shape), axis=1)


def sort_records(
    records: Records, part_of: Callable[[np.ndarray], np.ndarray], sizes: np.ndarray, folder: Path
) -> list[Records]:
    """The records as parts, which lie one after the other in a new file in ``folder``; in each part in their order.

    Parameters
    ----------
    part_of : from rows [n, width] to the number of the part of each. sizes : [parts], rows of each.
    """
    path, ends = folder / f"{records.path.name}-{records.first}", np.cumsum(sizes).astype(np.int64)
    begins, row_bytes = ends - sizes.astype(np.int64), 4 * records.width
    at = begins * row_bytes
    file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
    try:
        for rows in records.blocks():
            part = part_of(rows)
            order = np.argsort(part, kind="stable")
            firsts = np.flatnonzero(np.diff(part[order], prepend=-1))
            for run in np.split(order, firsts[1:]):
                number = part[run[0]]
                os.pwrite(file, rows[run].tobytes(), int(at[number]))
                at[number] += len(run) * row_bytes
    finally:
        os.close(file)
    runs = zip(begins.tolist(), (ends - begins).tolist(), strict=True)
    return [Records(path, records.width, *run) for run in runs]
