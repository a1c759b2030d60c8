"""The first step of a part: corners become vertices, and vertices numbers that are the same in all parts.

Rows of a file are read by their numbers, without holding the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import IO

import numpy as np

from hra.domains.meshes.mesh.weld import weld, without_degenerate
from hra.domains.meshes.outofcore.pieces import load_arrays, save_arrays
from hra.errors import LimitExceeded, MeshError
from hra.kernels.chunking import Records, shared_keys

# Odd numbers of 64 bits: products with them can be undone, so that keys of positions with the same z differ.
_XY, _Z = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
# Rows between two that are wanted are read too where there are at most this many: a read takes as long.
_GAP = 16


def weld_part(records: Records, path: Path) -> int:
    """Write the vertices and triangles of a part; how many triangles have three different corners."""
    corners = records.read().reshape(-1, 3)
    positions, triangles = weld(corners, np.arange(len(corners)).reshape(-1, 3))
    triangles = without_degenerate(triangles)
    used = np.unique(triangles)
    place = np.zeros(len(positions), np.uint32)
    place[used] = np.arange(len(used), dtype=np.uint32)
    save_arrays(path, {"positions": positions[used], "triangles": place[triangles]})
    return len(triangles)


def position_keys(positions: np.ndarray, seed: int) -> np.ndarray:
    """A number for each position float32 [V, 3], uint64 [V]; different ones rarely get the same (splitmix64)."""
    x, y, z = (column.astype(np.uint64) for column in np.ascontiguousarray(positions).view(np.uint32).T)
    keys = ((x << np.uint64(32)) | y) * _XY + z * _Z + np.uint64(seed)
    for shift, factor in zip((30, 27), _MIX, strict=True):
        keys = (keys ^ (keys >> np.uint64(shift))) * factor
    return keys ^ (keys >> np.uint64(31))


@dataclass(frozen=True, eq=False)
class Numbering:
    """Numbers of the vertices of all parts.

    Attributes
    ----------
    shared : uint64 [S], rising keys of the positions that several parts have; their vertices are 0 .. S - 1.
    begins : int64 [P], the first number of the other vertices of each part.
    count : vertices of all parts.
    seed : of the keys.
    """

    shared: np.ndarray
    begins: np.ndarray
    count: int
    seed: int

    @classmethod
    def of(cls, parts: list[Path], folder: Path, memory: int) -> Numbering:
        """Number the vertices of welded parts; the ``folder`` takes files of keys.

        Raises
        ------
        LimitExceeded : more vertices than files can name.
        """
        for seed in count():
            found = cls._try(parts, folder, memory, seed)
            if found is not None:
                if found.count >= 2**32:
                    raise LimitExceeded(f"the mesh has {found.count:,} vertices", where="mesh", fix="split the mesh")
                return found
        raise AssertionError  # pragma: no cover

    @classmethod
    def _try(cls, parts: list[Path], folder: Path, memory: int, seed: int) -> Numbering | None:
        """None where two positions have the same key."""
        files, sizes = [folder / f"keys-{number}.npy" for number in range(len(parts))], []
        for part, file in zip(parts, files, strict=True):
            keys = np.unique(position_keys(_positions(part), seed))
            sizes.append(len(keys))
            np.save(file, keys)
        shared = shared_keys(files, memory)
        own, at = [], np.full((len(shared), 3), np.nan, np.float32)
        for part, size in zip(parts, sizes, strict=True):
            positions = _positions(part)
            if len(positions) != size:
                return None
            rank = _rank(shared, position_keys(positions, seed))
            found = positions[rank >= 0]
            known = at[rank[rank >= 0]]
            if ((known != found) & ~np.isnan(known)).any():
                return None
            at[rank[rank >= 0]] = found
            own.append(size - len(found))
        ends = np.cumsum([len(shared), *own])
        return cls(shared, ends[:-1], int(ends[-1]), seed)

    def numbers(self, part: int, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Numbers uint32 [V] of the vertices of a part, and uint8 [V], 1 for those that others share."""
        rank = _rank(self.shared, position_keys(positions, self.seed))
        own = rank < 0
        rank[own] = self.begins[part] + np.arange(int(own.sum()))
        return rank.astype(np.uint32), (~own).astype(np.uint8)


def _positions(part: Path) -> np.ndarray:
    return load_arrays(part, ["positions"])["positions"]


def _rank(shared: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """The place of each key among the ``shared`` ones, -1 for none; int64."""
    if not len(shared):
        return np.full(len(keys), -1, np.int64)
    place = np.minimum(np.searchsorted(shared, keys), len(shared) - 1)
    return np.where(shared[place] == keys, place, -1)


@dataclass(frozen=True, eq=False)
class Rows:
    """``count`` rows of ``dtype`` with fields x, y, z from byte ``begin`` on."""

    stream: IO[bytes]
    dtype: np.dtype
    begin: int
    count: int
    where: Path

    def positions(self, numbers: np.ndarray) -> np.ndarray:
        """float64 [..., 3] of the rows ``numbers``.

        Raises
        ------
        MeshError : a number out of range.
        """
        wanted, place = np.unique(numbers, return_inverse=True)
        if wanted.size and not 0 <= wanted[0] <= wanted[-1] < self.count:
            what = f"a face names a vertex that is not among the {self.count}"
            raise MeshError(what, where=str(self.where), fix="export it again")
        found = [self._run(run) for run in np.split(wanted, np.flatnonzero(np.diff(wanted) > _GAP) + 1)]
        return np.concatenate(found)[place.reshape(-1)].reshape(*numbers.shape, 3)

    def _run(self, run: np.ndarray) -> np.ndarray:
        self.stream.seek(self.begin + int(run[0]) * self.dtype.itemsize)
        rows = np.fromfile(self.stream, self.dtype, int(run[-1] - run[0]) + 1)[run - run[0]]
        return np.stack([rows[axis] for axis in "xyz"], axis=1).astype(np.float64)
