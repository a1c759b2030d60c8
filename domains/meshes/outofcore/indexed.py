"""Rows of a file by their numbers, without holding the file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from hra.errors import MeshError

# Rows between two that are wanted are read too where there are at most so many: a read takes as long.
_GAP = 16


@dataclass(frozen=True, eq=False)
class Rows:
    """``count`` rows of ``dtype`` with fields x, y, z from byte ``begin`` on."""

    stream: IO[bytes]
    dtype: np.dtype
    begin: int
    count: int
    where: Path

    def positions(self, numbers: np.ndarray) -> np.ndarray:
        """float32 [..., 3] of the rows ``numbers``.

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
        with np.errstate(over="ignore"):
            return np.stack([rows[axis] for axis in "xyz"], axis=1).astype(np.float32)
