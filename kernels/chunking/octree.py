"""Points on disk in cells of an octree that fit into memory.

`shared_keys` finds keys of several chunks among more than fit into memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hra.errors import LimitExceeded
from hra.kernels.chunking.files import Records, sort_records
from hra.kernels.trees import morton_codes

# Digits of a Morton code, and those that one counting grid tells apart: 128 cells along each axis, 16 MiB of counts.
_DIGITS, _COUNTED = 21, 7
# Bytes for each key while some are sorted.
_KEY_BYTES = 48


def shared_keys(files: Sequence[Path], memory: int) -> np.ndarray:
    """The keys that stand in more than one of the ``files``.

    Parameters
    ----------
    files : .npy files of rising different uint64.
    memory : bytes that sorting may take at a time; what is shared takes its own.

    Returns
    -------
    uint64 [n], rising.

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib
    >>> from hra.kernels.chunking import shared_keys
    >>> with tempfile.TemporaryDirectory() as name:
    ...     files = [pathlib.Path(name, f"{k}.npy") for k in range(2)]
    ...     for file, keys in zip(files, ([1, 5, 7], [2, 5, 9])):
    ...         np.save(file, np.array(keys, np.uint64))
    ...     shared_keys(files, 2**20).tolist()
    [5]
    """
    highest = max((int(keys[-1]) for keys in map(_keys, files) if len(keys)), default=0)
    total = sum(len(_keys(file)) for file in files)
    passes = -(-total * _KEY_BYTES // memory) or 1
    limits = [highest * number // passes for number in range(1, passes)] + [highest]
    found, begins = [], [0] * len(files)
    for limit in limits:
        parts = []
        for number, file in enumerate(files):
            keys = _keys(file)
            end = int(np.searchsorted(keys, np.uint64(limit), "right"))
            parts.append(np.array(keys[begins[number] : end]))
            begins[number] = end
        keys = np.sort(np.concatenate(parts)) if parts else np.empty(0, np.uint64)
        found.append(np.unique(keys[1:][keys[1:] == keys[:-1]]))
    return np.concatenate(found)


def _keys(file: Path) -> np.ndarray:
    return np.load(file, mmap_mode="r", allow_pickle=False)


def octree_cells(records: Records, bounds: np.ndarray, most: int, folder: Path) -> list[Records]:
    """The largest octree cells with at most ``most`` rows each, in Z-order; in each the rows in their order.

    They are cells of the octree that `hra.kernels.trees.build_tree` makes within the same bounds. Files are written to
    ``folder``, and read again where a cell of the counting grid holds too many rows.

    Parameters
    ----------
    records : rows that begin with x, y and z. bounds : [2, 3], around them.

    Raises
    ------
    LimitExceeded : more rows than ``most`` lie in one finest cell.

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib
    >>> from hra.kernels.chunking import Records, octree_cells
    >>> with tempfile.TemporaryDirectory() as name:
    ...     file = pathlib.Path(name, "rows")
    ...     np.float32([[8, 0, 0], [1, 0, 0], [0, 0, 0]]).tofile(file)
    ...     cells = octree_cells(Records(file, 3, 0, 3), [[0, 0, 0], [8, 8, 8]], 2, pathlib.Path(name))
    ...     [cell.read()[:, 0].tolist() for cell in cells]
    [[1.0, 0.0], [8.0]]
    """
    return [records] if records.count <= most else _split(records, np.asarray(bounds, np.float64), most, folder, 0)


def _split(records: Records, bounds: np.ndarray, most: int, folder: Path, digits: int) -> list[Records]:
    """The cells within one that ``digits`` digits tell."""
    if digits == _DIGITS:
        what = f"{records.count:,} points lie at one place, more than the {most:,} of a part"
        raise LimitExceeded(what, where=str(records.path), fix="allow more memory, or drop duplicate points")
    shift, last = np.uint64(3 * (_DIGITS - digits - _COUNTED)), np.uint64(8**_COUNTED - 1)

    def cells(rows: np.ndarray) -> np.ndarray:
        return ((morton_codes(rows[:, :3], bounds=bounds) >> shift) & last).astype(np.int64)

    counts = np.zeros(8**_COUNTED, np.int64)
    for rows in records.blocks():
        found, own = np.unique(cells(rows), return_counts=True)
        counts[found] += own
    part = _parts(counts, most)
    sizes = np.bincount(part, counts).astype(np.int64)
    # Parts without rows have no number.
    part = (np.cumsum(sizes > 0) - 1)[part]
    parts = sort_records(records, lambda rows: part[cells(rows)], sizes[sizes > 0], folder)
    return [
        cell
        for one in parts
        for cell in ([one] if one.count <= most else _split(one, bounds, most, folder, digits + _COUNTED))
    ]


def _parts(counts: np.ndarray, most: int) -> np.ndarray:
    """The part of each cell of the counting grid, int64, rising: its largest enclosing cell of up to ``most`` rows."""
    begins = np.zeros(len(counts), bool)
    covered = np.zeros(1, bool)  # whether a cell of the level above is a part, or within one
    for level in range(_COUNTED + 1):
        sums = counts.reshape(8**level, -1).sum(axis=1)
        above = np.repeat(covered, 8) if level else covered
        fits = (sums <= most) | (level == _COUNTED)
        begins[:: len(counts) // 8**level] |= fits & ~above
        covered = above | fits
    return np.cumsum(begins) - 1
