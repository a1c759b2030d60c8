"""The groups of all parts in the order of the file: a few numbers of each are held, and the clusters of one part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hra.compiling import njit
from hra.domains.meshes.mesh.ragged import run_offsets
from hra.domains.meshes.outofcore.part import GROUP_BITS
from hra.domains.meshes.outofcore.pieces import load_arrays
from hra.model.topology import level_order

_BLOCK = 2**16


@dataclass(frozen=True)
class Segment:
    """Runs of clusters of one part that follow each other in the file.

    Attributes
    ----------
    part : its tables; runs : int64 [n], numbers of runs in the part.
    first : the number in the file of the group of the first one, -1 for the base.
    """

    part: Path
    runs: np.ndarray
    first: int

    def load(self, *names: str) -> list[np.ndarray]:
        """Columns of the clusters, in the order of the file."""
        arrays = load_arrays(self.part, ["group_sizes", *names])
        offsets = run_offsets(arrays["group_sizes"])
        sizes = arrays["group_sizes"][self.runs]
        begins = offsets[self.runs] - run_offsets(sizes)[:-1]
        rows = np.repeat(begins, sizes) + np.arange(int(sizes.sum()))
        return [arrays[name][rows] for name in names]

    def groups(self) -> np.ndarray:
        """The group of each cluster, int32 [N]."""
        sizes = load_arrays(self.part, ["group_sizes"])["group_sizes"][self.runs]
        return np.repeat(np.arange(self.first, self.first + len(sizes), dtype=np.int32), sizes)


@dataclass(frozen=True, eq=False)
class GroupOrder:
    """The level order of all groups, which is that of `hra.Hierarchy`.

    Counted coarse first, the last group of the last part is 0: so a group comes before those that it refines into.

    Attributes
    ----------
    parts : tables, fine to coarse; last : int64 [P], the number of the first group of each part, counted so.
    order : int32 [G], the groups counted so in the order of the file; place : int32 [G], where each stands in it.
    """

    parts: list[Path]
    last: np.ndarray
    order: np.ndarray
    place: np.ndarray

    @classmethod
    def of(cls, parts: list[Path]) -> GroupOrder:
        """The order of the groups in all parts of all rounds."""
        counts = np.array([len(load_arrays(part, ["group_sizes"])["group_sizes"]) for part in parts])
        # The last run is the base, which is not a group.
        counts[-1] -= 1
        last = np.cumsum(counts[::-1])[::-1] - 1
        order = _level_order(parts, last).astype(np.int32)
        place = np.empty(len(order), np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        return cls(parts, last, order, place)

    def segments(self) -> Iterator[Segment]:
        """All clusters in the order of the file: the base, then group after group."""
        yield Segment(self.parts[-1], self.last[-1:] + 1, -1)
        for begin in range(0, len(self.order), _BLOCK):
            own = self.order[begin : begin + _BLOCK].astype(np.int64)
            number = len(self.parts) - 1 - np.searchsorted(self.last[::-1], own)
            for rows in np.split(np.arange(len(own)), np.flatnonzero(np.diff(number)) + 1):
                part = int(number[rows[0]])
                yield Segment(self.parts[part], self.last[part] - own[rows], begin + int(rows[0]))

    def places(self, made_by: np.ndarray) -> np.ndarray:
        """Where in the file the groups stand that made clusters; -1 for none."""
        made = _coarse_first(made_by, self.last)
        return np.where(made < 0, np.int32(-1), self.place[made]) if len(self.place) else made


def _level_order(parts: list[Path], last: np.ndarray) -> np.ndarray:
    """See `hra.model.topology.level_order`, which would hold all edges."""
    size, several = int(last[0]) + 1, False
    level, before = np.zeros(size, np.int32), np.full(size, -1, np.int32)
    for part, first in zip(parts[::-1], last[::-1].tolist(), strict=True):
        arrays = load_arrays(part, ["group_sizes", "done_made_by"])
        made = _coarse_first(arrays["done_made_by"], last)
        several |= _descend(first, run_offsets(arrays["group_sizes"]), made, level, before)
    if several:
        return np.argsort(level, kind="stable")
    finer = np.flatnonzero(before >= 0)
    return level_order(np.stack([before[finer], finer], axis=1).astype(np.int32), size)[0]


def _coarse_first(made_by: np.ndarray, last: np.ndarray) -> np.ndarray:
    own = last[np.maximum(made_by >> GROUP_BITS, 0)] - (made_by & (2**GROUP_BITS - 1))
    return np.where(made_by < 0, -1, own)


@njit(cache=True)
def _descend(first, offsets, made, level, before):
    """Levels of the groups that the runs of a part refine into; whether one of them has several predecessors."""
    several = False
    for run in range(offsets.size - 2, -1, -1):
        own = first - run
        # The base is not a group: what it refines into stays on level 0.
        if own < 0:
            continue
        for c in range(offsets[run], offsets[run + 1]):
            finer = made[c]
            if finer >= 0:
                level[finer] = max(level[finer], level[own] + 1)
                several |= before[finer] >= 0 and before[finer] != own
                before[finer] = own
    return several
