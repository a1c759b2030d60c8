"""COPC files written by hand: nodes and pages as a test wants them, whether they are sound or not."""

from __future__ import annotations

import io
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hra.domains.points.files.las_header import las_library

Key = tuple[int, int, int, int]
CENTER, HALF = 8.0, 8.0


def copc_bytes(nodes: Mapping[Key, np.ndarray], pages: Sequence[Sequence[Any]], head: Mapping[str, Any] = {}) -> bytes:
    """A COPC file in a cube from 0 to 16.

    Parameters
    ----------
    nodes : points [n, 3] in hundredths by level, x, y and z of the node. pages : of the hierarchy; an entry is the key
        of a node, or a key and the number of a page. head : of the record, other values of ``page`` and ``size``.
    """
    laspy, lazrs = las_library()
    header = laspy.LasHeader(version="1.4", point_format=7)
    header.scales = np.full(3, 0.01)
    header.mins = np.min(np.concatenate(list(nodes.values())), axis=0) / 100
    header.maxs = np.max(np.concatenate(list(nodes.values())), axis=0) / 100
    header.point_count, header.are_points_compressed = sum(map(len, nodes.values())), True
    settings = bytearray(lazrs.LazVlr.new_for_compression(7, 0).record_data())
    settings[12:16] = b"\xff" * 4  # chunks of any size
    vlr = laspy.vlrs.vlr.VLR("copc", 1, "", bytes(160))
    header.vlrs.extend([vlr, laspy.vlrs.known.LasZipVlr(bytes(settings))])
    out = io.BytesIO()
    header.write_to(out)
    compressor = lazrs.LasZipCompressor(out, lazrs.LazVlr(bytes(settings)))
    for points in nodes.values():
        record = laspy.ScaleAwarePointRecord.zeros(len(points), header=header)
        record.X, record.Y, record.Z = points.T
        record.red = record.green = record.blue = points[:, 0]
        compressor.compress_many(np.frombuffer(record.array, np.uint8))
        compressor.finish_current_chunk()
    compressor.done()
    out.seek(header.offset_to_point_data)
    sizes = [size for _, size in lazrs.read_chunk_table(out, lazrs.LazVlr(bytes(settings)))]
    places = header.offset_to_point_data + 8 + np.cumsum([0, *sizes])
    chunks = dict(zip(nodes, zip(places, sizes, map(len, nodes.values()), strict=False), strict=True))
    begins = len(out.getvalue()) + 60 + np.cumsum([0, *(32 * len(page) for page in pages)])
    rows = [_entry(entry, chunks, begins, pages) for page in pages for entry in page]
    result = bytearray(out.getvalue())
    result += struct.pack("<2x16sHQ32x", b"copc", 1000, 32 * len(rows)) + b"".join(rows)
    first = head.get("page", int(begins[0])), head.get("size", 32 * len(pages[0]))
    result[375 + 54 : 375 + 54 + 72] = struct.pack("<5d2Q2d", CENTER, CENTER, CENTER, HALF, 1.0, *first, 0, 0)
    result[235:247] = struct.pack("<QL", int(begins[0]) - 60, 1)
    return bytes(result)


def two_levels() -> bytes:
    """A root of 40 points and two children of 30, one of them in a page of its own."""
    rng = np.random.default_rng(0)
    spans = {(0, 0, 0, 0): (0, 1600, 40), (1, 0, 0, 0): (0, 800, 30), (1, 1, 1, 1): (800, 1600, 30)}
    nodes = {key: rng.integers(low, high, (count, 3)) for key, (low, high, count) in spans.items()}
    keys = list(nodes)
    return copc_bytes(nodes, [[*keys[:2], (keys[2], 1)], [keys[2]]])


def _entry(entry: Any, chunks: Mapping[Key, Any], begins: np.ndarray, pages: Sequence[Sequence[Any]]) -> bytes:
    if isinstance(entry[0], int):
        return struct.pack("<4iQii", *entry, *map(int, chunks[entry]))
    key, page = entry
    return struct.pack("<4iQii", *key, int(begins[page]), 32 * len(pages[page]), -1)
