"""Clusters of a part of a mesh on disk: those that wait for the next round, and those that are done, group by group."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hra.domains.meshes.asset.packing import Packed
from hra.domains.meshes.mesh.cluster_table import ClusterTable
from hra.domains.meshes.mesh.ragged import run_offsets, take_runs
from hra.files.atomic_write import write_atomically
from hra.files.plain_arrays import plain_archive

COLUMNS = ("center", "radius", "box", "error", "deviation", "hausdorff", "area", "level", "made_by", "vertex_count")


def save_arrays(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write an uncompressed .npz in one step."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # pyright: ignore[reportArgumentType]
    write_atomically(path, buffer.getvalue())


def load_arrays(path: Path, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Some of the arrays of an .npz."""
    with plain_archive(path) as archive:
        return {name: archive.array(name) for name in names}


@dataclass(frozen=True, eq=False)
class Surface:
    """Clusters with vertices of their own.

    Attributes
    ----------
    table : over the V vertices; positions : float32 [V, 3].
    numbers : uint32 [V], of the vertices in the whole mesh.
    """

    table: ClusterTable
    positions: np.ndarray
    numbers: np.ndarray

    def arrays(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """The clusters ``rows`` for an .npz: columns, and vertices for each cluster."""
        packed = Packed.of(self.table.indices, self.table.offsets, rows)
        return {
            **{name: getattr(self.table, name)[rows] for name in COLUMNS},
            "triangle_count": np.diff(packed.corner_offsets) // 3,
            "numbers": self.numbers[packed.vertices],
            "positions": self.positions[packed.vertices],
            "corners": packed.corners,
        }

    def content(self, runs: Sequence[np.ndarray]) -> tuple[bytes, np.ndarray]:
        """The bytes of runs of clusters and where each begins; a run is numbers, positions and corners, as in pages."""
        parts = []
        for rows in runs:
            packed = Packed.of(self.table.indices, self.table.offsets, rows)
            own = self.numbers[packed.vertices], self.positions[packed.vertices], packed.corners
            parts.append(b"".join(array.tobytes() for array in own))
        return b"".join(parts), run_offsets(np.array([len(part) for part in parts], np.int64))

    @classmethod
    def joined(cls, parts: Sequence[tuple[Path, np.ndarray]]) -> Surface:
        """Join waiting clusters, given as files and the rows to take of each."""
        found = [_waiting(path, rows) for path, rows in parts]
        arrays = {name: np.concatenate([one[name] for one in found]) for name in found[0]}
        numbers, first, local = np.unique(arrays["numbers"], return_index=True, return_inverse=True)
        sizes = 3 * arrays["triangle_count"].astype(np.int64)
        begins = np.repeat(run_offsets(arrays["vertex_count"])[:-1], sizes)
        indices = local.reshape(-1)[begins + arrays["corners"]].astype(np.uint32)
        columns = {name: arrays[name] for name in COLUMNS}
        return cls(ClusterTable(indices, run_offsets(sizes), **columns), arrays["positions"][first], numbers)


def vertex_numbers(path: Path, rows: np.ndarray) -> np.ndarray:
    """The numbers of the vertices of the waiting clusters ``rows``, uint32."""
    arrays = load_arrays(path, ["numbers", "vertex_count"])
    return take_runs(arrays["numbers"], run_offsets(arrays["vertex_count"]), rows)[0]


def _waiting(path: Path, rows: np.ndarray) -> dict[str, np.ndarray]:
    arrays = load_arrays(path, (*COLUMNS, "triangle_count", "numbers", "positions", "corners"))
    vertices = run_offsets(arrays["vertex_count"])
    corners = run_offsets(3 * arrays["triangle_count"].astype(np.int64))
    runs = {
        "numbers": take_runs(arrays["numbers"], vertices, rows)[0],
        "positions": take_runs(arrays["positions"], vertices, rows)[0],
        "corners": take_runs(arrays["corners"], corners, rows)[0],
    }
    return {**{name: arrays[name][rows] for name in (*COLUMNS, "triangle_count")}, **runs}
