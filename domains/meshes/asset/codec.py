"""Pages in compressed form: positions on one grid, each vertex once, by meshoptimizer's codecs.

The grid is that of the whole mesh: copies of a vertex stay one point, so that no cut cracks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hra.domains.meshes.asset.layout import POSITION
from hra.domains.meshes.asset.packing import localize
from hra.domains.meshes.files.gltf_meshopt import meshopt_codec
from hra.domains.meshes.mesh.cluster_mesh import ClusterMesh, with_attributes
from hra.domains.meshes.mesh.point_grid import PointGrid
from hra.domains.meshes.mesh.ragged import run_offsets
from hra.errors import warn
from hra.model.arrays import frozen

Forms = Mapping[str, tuple[np.dtype, tuple[int, ...]]]
"""Type and row shape of streams by name."""

# A place on the grid while it is compressed: three numbers of 16 bits, and a fourth that is 0.
_PLACE = np.dtype(("<u2", (4,)))


def on_grid(mesh: ClusterMesh, bits: int) -> tuple[ClusterMesh, PointGrid]:
    """The mesh with all vertices moved to one grid, and bounds that know of it.

    "hausdorff" and "radius" grow by the longest way of a vertex; boxes move with their corners, which are vertices.
    "error" stays: it is an estimate, and the certified error of a cluster is the larger of the two.

    Warns
    -----
    RepairWarning : vertices at different positions fell together, so that details and slits of a step are gone.
    """
    grid = PointGrid.around(mesh.positions, bits)
    positions = grid.positions(grid.snap(mesh.positions))
    _warn_of_merged(len(np.unique(mesh.positions, axis=0)) - len(np.unique(positions, axis=0)), grid.step)
    moved = float(np.linalg.norm(positions.astype(np.float64) - mesh.positions, axis=1).max()) * (1 + 1e-12)
    node = mesh.hierarchy.node
    wider = {name: _rounded_up(node[name].astype(np.float64) + moved) for name in {"radius", "hausdorff"} & set(node)}
    box = grid.positions(grid.snap(node["box"].reshape(-1, 3))).reshape(node["box"].shape)
    return replace(with_attributes(mesh, **wider, box=box), positions=frozen(positions)), grid


def _warn_of_merged(merged: int, step: float) -> None:
    if merged:
        message = (
            f"{merged} vertices fell together on the grid of step {step:.3g}; use more bits, or none, to keep them"
        )
        warn(message)


def _rounded_up(values: np.ndarray) -> np.ndarray:
    """float32, never below ``values``."""
    near = values.astype(np.float32)
    return np.where(near < values, np.nextafter(near, np.float32(np.inf)), near)


class Corrupt(Exception):
    """A page that cannot be decoded."""


@dataclass(frozen=True, eq=False)
class DecodedPage:
    """What a compressed page holds.

    Attributes
    ----------
    vertices : uint32 [n], for each vertex of each cluster its number in the mesh.
    rows : uint32 [n], where each of them stands in the streams.
    streams : arrays [m, ...] of distinct vertices by name; "position" are places on the grid, uint16 [m, 3].
    corners : uint8 [3 T], vertices of the cluster.
    vertex_offsets : int64 [K + 1], where each cluster begins among the vertices.
    """

    vertices: np.ndarray
    rows: np.ndarray
    streams: Mapping[str, np.ndarray]
    corners: np.ndarray
    vertex_offsets: np.ndarray


def encode_page(vertices: np.ndarray, corners: np.ndarray, streams: Mapping[str, np.ndarray]) -> bytes:
    """One page.

    Parameters
    ----------
    vertices : uint32 [3 T], vertex numbers of all triangles of the page.
    corners : uint32 [3 T], the same as rows of the streams.
    streams : arrays [m, ...] of the distinct vertices, whose numbers stand under ""; "position" are uint16 [m, 3].
    """
    codec, count = meshopt_codec(), len(streams[""])
    parts = [codec.encode_index_sequence(streams[""].astype(np.uint32), count, int(vertices.max()) + 1)]
    for name, rows in streams.items():
        if name:
            packed = _padded(rows) if name == POSITION else np.ascontiguousarray(rows)
            parts.append(codec.encode_vertex_buffer(packed, count, packed.nbytes // count))
    parts.append(codec.encode_index_buffer(corners, len(corners), count))
    head = np.array([count, *(len(part) for part in parts)], "<u4")
    return b"".join([head.tobytes(), *parts])


def decode_page(data: memoryview, forms: Forms, counts: np.ndarray, corner_offsets: np.ndarray) -> DecodedPage:
    """The page in ``data``.

    Parameters
    ----------
    forms : of all streams, in the order of the file.
    counts : int64 [K], vertices of each cluster; corner_offsets : int64 [K + 1], where its corners begin.

    Raises
    ------
    Corrupt : the bytes do not encode such a page.
    """
    parts = _parts(data, len(forms) + 3)
    count = int(parts[0])
    if not 0 < count <= int(counts.sum()):
        raise Corrupt
    codec = meshopt_codec()
    try:
        numbers = codec.decode_index_sequence(count, 4, parts[1])
        rows_of = zip(forms.items(), parts[2:-1], strict=True)
        streams = {name: _decoded(codec, part, count, *form) for (name, form), part in rows_of}
        corners = codec.decode_index_buffer(int(corner_offsets[-1]), 4, parts[-1])
    except (RuntimeError, ValueError) as error:
        raise Corrupt from error
    if int(corners.max()) >= count:
        raise Corrupt
    rows, local, found = localize(corners, corner_offsets)
    if not np.array_equal(found, counts):
        raise Corrupt
    return DecodedPage(numbers[rows], rows, streams, local, run_offsets(found))


def _parts(data: memoryview, count: int) -> list[Any]:
    """The number of vertices, then the parts as bytes."""
    if len(data) < 4 * count:
        raise Corrupt
    head = np.frombuffer(data, "<u4", count).astype(np.int64)
    ends = 4 * count + np.cumsum(head[1:])
    if ends[-1] != len(data) or (head[1:] == 0).any():
        raise Corrupt
    starts = ends - head[1:]
    spans = zip(starts.tolist(), ends.tolist(), strict=True)
    return [head[0], *(np.frombuffer(data[begin:end], np.uint8) for begin, end in spans)]


def _decoded(codec: Any, part: np.ndarray, count: int, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """One stream [count, *shape]; places on the grid without the fourth number."""
    width = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
    if dtype == np.uint16:
        width = _PLACE.itemsize
    raw = codec.decode_vertex_buffer(count, width, part, np.dtype((np.void, width)))
    rows = np.frombuffer(raw, dtype).reshape(count, -1)
    return rows[:, :3] if dtype == np.uint16 else rows.reshape(count, *shape)


def _padded(places: np.ndarray) -> np.ndarray:
    padded = np.zeros((len(places), 4), "<u2")
    padded[:, :3] = places
    return padded
