"""One part of one round: its clusters simplified, with what other parts share in place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hra.domains.meshes.building.borders import Borders
from hra.domains.meshes.building.geometry import Geometry
from hra.domains.meshes.building.levels import BuiltLevels, Part, levels_above
from hra.domains.meshes.building.settings import Countdown, Settings, Workers
from hra.domains.meshes.building.source_clusters import source_clusters
from hra.domains.meshes.mesh.cluster_table import concatenate
from hra.domains.meshes.outofcore.pieces import Surface, load_arrays, save_arrays
from hra.domains.meshes.outofcore.welding import Numbering
from hra.files.atomic_write import write_atomically

# A part ends at a quarter of its triangles. With the same border around fewer triangles, locked vertices would be more
# than a tenth of them; more rounds would read and write all of it again.
_LEFT = 0.25
# Groups of a part are numbered below this; parts above it.
GROUP_BITS = 24


@dataclass(frozen=True)
class PartWork:
    """How the parts of a round are built.

    Attributes
    ----------
    folder : of the round's files; first : number of its first part among those of all rounds.
    level : of the clusters that it begins with.
    whole : whether its one part is all of the mesh.
    waiting : from the number of a part to its clusters of the round before, and which vertices others share.
    """

    folder: Path
    first: int
    level: int
    whole: bool
    settings: Settings
    threads: int
    load: Callable[[int, Settings, Workers], tuple[Surface, np.ndarray]]

    def __call__(self, number: int) -> tuple[int, int]:
        """Build a part that is not resident yet; its number, and how many triangles wait for the next round."""
        path = self.folder / f"{number}.npz"
        if not path.exists():
            with Workers(self.threads) as workers:
                surface, pinned = self.load(number, self.settings, workers)
                self._build(number, surface, pinned, workers)
        return number, int(load_arrays(path, ["triangle_count"])["triangle_count"].sum())

    def _build(self, number: int, surface: Surface, pinned: np.ndarray, workers: Workers) -> None:
        geometry, triangles = Geometry.of(surface.positions), surface.table.indices.reshape(-1, 3)
        group = (self.first + number) << GROUP_BITS
        part = (
            Part.all_of(geometry, group, self.level)
            if self.whole
            else Part(pinned, max(int(_LEFT * len(triangles)), 1), group, self.level)
        )
        borders, countdown = Borders.of(geometry, triangles), Countdown(len(triangles), None)
        built = levels_above(surface.table, geometry, borders, part, self.settings, workers, countdown)
        self._save(number, surface, built)

    def _save(self, number: int, surface: Surface, built: BuiltLevels) -> None:
        """Content first: the tables say that it is there."""
        everything = Surface(concatenate(built.tables), surface.positions, surface.numbers)
        waiting = np.ones(len(everything.table), bool)
        for rows in built.members:
            waiting[rows] = False
        runs, left = list(built.members), np.flatnonzero(waiting)
        if self.whole:
            runs, left = [*runs, left], left[:0]
        done = np.concatenate([np.empty(0, np.int64), *runs])
        content, begins = everything.content(runs)
        write_atomically(self.folder / f"{number}.content", content)
        finished = everything.arrays(done)
        tables = {
            f"done_{name}": finished[name] for name in finished if name not in ("numbers", "positions", "corners")
        }
        sizes = np.array([len(rows) for rows in runs], np.int64)
        arrays = {**everything.arrays(left), **tables, "group_sizes": sizes, "group_begins": begins}
        save_arrays(self.folder / f"{number}.npz", arrays)


@dataclass(frozen=True, eq=False)
class FirstRound:
    """Parts of welded source triangles."""

    welded: list[Path]
    numbering: Numbering

    def __call__(self, number: int, settings: Settings, workers: Workers) -> tuple[Surface, np.ndarray]:
        """The clusters of a part, and uint8 [V], 1 for vertices that others share."""
        arrays = load_arrays(self.welded[number], ["positions", "triangles"])
        positions = arrays["positions"]
        table = source_clusters(Geometry.of(positions), arrays["triangles"], settings.cluster_size, workers)
        numbers, pinned = self.numbering.numbers(number, positions)
        return Surface(table, positions, numbers), pinned


@dataclass(frozen=True, eq=False)
class LaterRound:
    """Parts of clusters that wait: for each part, files and rows; and the numbers of vertices that parts share."""

    parts: list[list[tuple[Path, np.ndarray]]]
    shared: np.ndarray

    def __call__(self, number: int, settings: Settings, workers: Workers) -> tuple[Surface, np.ndarray]:
        """See `FirstRound`."""
        surface = Surface.joined(self.parts[number])
        return surface, np.isin(surface.numbers, self.shared).astype(np.uint8)
