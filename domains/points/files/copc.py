"""COPC in: LAZ files whose chunks are the nodes of an octree, each with some of the points."""

from __future__ import annotations

from typing import IO, Any

import numpy as np

from hra.domains.points.files.copc_nodes import read_nodes
from hra.domains.points.files.las_header import Claims, refusal
from hra.domains.points.files.las_library import las_colors, las_errors, las_library
from hra.domains.points.files.laz_layers import check_layers
from hra.domains.points.point_cloud import PointCloud
from hra.files.limits import DEFAULT


def read_copc(stream: IO[bytes], size: int, claims: Claims, level: int | None, where: str) -> PointCloud:
    """The points of the coarse nodes of a COPC file, or of all; nothing else of the file is read.

    Coordinates count from the corner that the header states, so that a coarse cloud lies where the fine one does.

    Parameters
    ----------
    level : the finest one that is read, 0 for the root; all by default.

    Raises
    ------
    FileError : see `read_nodes`, or a node cannot be decoded. LimitExceeded : nodes longer than files may be, or that
        would unpack to more than an archive may, see `hra.files.limits.Limits`.
    """
    (laspy, lazrs), nodes = las_library(), read_nodes(stream, size, claims, level, where)
    packed = int(nodes["bytes"].sum(dtype=np.int64))
    DEFAULT.check("file_bytes", packed, where)
    DEFAULT.check_archive(claims.memory(int(nodes["points"].sum(dtype=np.int64))), packed, where)
    with las_errors(where):
        stream.seek(0)
        header = laspy.LasHeader.read_from(stream)
        rows = _decoded(stream, nodes, header, lazrs, where)
        record = laspy.PackedPointRecord.from_buffer(rows, header.point_format)
        found = laspy.ScaleAwarePointRecord(record.array, record.point_format, header.scales, header.offsets)
        positions = np.column_stack([found.x, found.y, found.z]) - header.mins
    return PointCloud(positions, las_colors(found))


def _decoded(stream: IO[bytes], nodes: np.ndarray, header: Any, lazrs: Any, where: str) -> np.ndarray:
    """The bytes of the points of all nodes."""
    settings, length = header.vlrs.get("LasZipVlr")[0].record_data, header.point_format.size
    # The decoder believes the one, laspy the other.
    if lazrs.LazVlr(settings).item_size() != length:
        raise refusal("its points are of another size than it says", where)
    check_layers(stream, nodes["place"], nodes["bytes"], settings, where)
    chunks = []
    for place, size in nodes[["place", "bytes"]].tolist():
        stream.seek(place)
        chunks.append(stream.read(size))
    rows = np.zeros(int(nodes["points"].sum(dtype=np.int64)) * length, np.uint8)
    table = nodes[["points", "bytes"]].tolist()
    lazrs.decompress_points_with_chunk_table(b"".join(chunks), settings, rows, table)
    return rows
