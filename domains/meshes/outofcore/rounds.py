"""Round after round: parts, what they share, and fewer and larger parts of what is left, until it is one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hra.domains.meshes.building.settings import Settings
from hra.domains.meshes.outofcore.memory import Share
from hra.domains.meshes.outofcore.part import FirstRound, LaterRound, PartWork
from hra.domains.meshes.outofcore.pieces import load_arrays, vertex_numbers
from hra.domains.meshes.outofcore.welding import Numbering
from hra.errors import OutOfMemory
from hra.files.processes import in_processes
from hra.kernels.chunking import shared_keys, weighted_parts

# Rounds draw their borders at other places: a border of one is inside of a part of the next.
_SHARES = (None, 0.41)
# A round that leaves more than this share is not worth it.
_VAIN = 0.9


@dataclass(frozen=True, eq=False)
class Waiting:
    """The clusters that a round leaves.

    Attributes
    ----------
    files : of its parts; part : int64 [N], which of them each cluster is in.
    center : float32 [N, 3]; triangles : int64 [N]; level : the highest.
    """

    files: list[Path]
    part: np.ndarray
    center: np.ndarray
    triangles: np.ndarray
    level: int

    @classmethod
    def of(cls, files: list[Path]) -> Waiting:
        """What the parts in ``files`` left."""
        found = [load_arrays(file, ["center", "triangle_count", "level"]) for file in files]
        sizes = [len(one["center"]) for one in found]
        center, triangles, level = (np.concatenate([one[name] for one in found]) for name in found[0])
        part = np.repeat(np.arange(len(files)), sizes)
        return cls(files, part, center, triangles.astype(np.int64), int(level.max(initial=0)))

    def parts(self, label: np.ndarray) -> list[list[tuple[Path, np.ndarray]]]:
        """For each new part, from which files it takes which rows."""
        begins = np.searchsorted(self.part, np.arange(len(self.files)))
        found = []
        for new in range(int(label.max()) + 1):
            rows = np.flatnonzero(label == new)
            olds = np.unique(self.part[rows]).tolist()
            found.append([(self.files[old], rows[self.part[rows] == old] - begins[old]) for old in olds])
        return found


def build_rounds(
    welded: list[Path],
    numbering: Numbering,
    folder: Path,
    settings: Settings,
    share: Share,
    progress: Callable[[int], None],
) -> list[Path]:
    """All parts of all rounds, fine to coarse.

    Parameters
    ----------
    progress : called with the triangles that are left after a part.

    Raises
    ------
    OutOfMemory : what parts of this memory can be simplified to does not fit into it.
    """
    built: list[Path] = []
    whole, level, rounds, total = len(welded) == 1, 0, 0, None
    load: FirstRound | LaterRound = FirstRound(welded, numbering)
    count = len(welded)
    while True:
        own = folder / f"round-{len(built)}"
        own.mkdir(exist_ok=True)
        work = PartWork(own, len(built), level, whole, settings, share.threads, load)
        left = 0
        for _, triangles in _run(work, count, share.jobs):
            left += triangles
            progress(left)
        files = [own / f"{number}.npz" for number in range(count)]
        built += files
        if whole:
            return built
        if total is not None and left > _VAIN * total:
            what = f"parts of {share.triangles:,} triangles leave {left:,} that cannot be simplified further"
            raise OutOfMemory(what, where="memory", fix="allow more memory")
        total, waiting = left, Waiting.of(files)
        rounds += 1
        label = weighted_parts(waiting.center, waiting.triangles, share.triangles, _SHARES[rounds % 2])
        count, level = int(label.max()) + 1, waiting.level
        whole = count == 1
        parts = waiting.parts(label)
        load = LaterRound(parts, _shared_numbers(parts, own, share.sorting))


def _run(work: PartWork, count: int, jobs: int) -> Iterable[tuple[int, int]]:
    return map(work, range(count)) if jobs == 1 else in_processes(work, range(count), min(jobs, count))


def _shared_numbers(parts: list[list[tuple[Path, np.ndarray]]], folder: Path, memory: int) -> np.ndarray:
    """The numbers of the vertices that several parts have, uint64, rising."""
    files = [folder / f"numbers-{number}.npy" for number in range(len(parts))]
    for part, file in zip(parts, files, strict=True):
        numbers = [vertex_numbers(path, rows) for path, rows in part]
        np.save(file, np.unique(np.concatenate(numbers)).astype(np.uint64))
    return shared_keys(files, memory)
