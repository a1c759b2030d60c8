"""The layers of LAZ chunks: a decoder takes the memory that their lengths claim."""

from __future__ import annotations

import struct
from typing import IO

import numpy as np

from hra.domains.points.files.las_header import refusal, unpack
from hra.domains.points.files.las_library import las_library

# Kinds of items of points that are kept in layers, and how many each has; of further bytes each has one.
_LAYERS, _BYTES = {10: 9, 11: 1, 12: 2, 13: 1}, 14

# Bytes before the first chunk: where the table of chunks is.
_TABLE_PLACE = 8


def check_chunks(stream: IO[bytes], points: int, where: str) -> None:
    """Refuse a LAZ file whose chunks claim longer layers than they hold, see `check_layers`, or fewer points than it.

    Raises
    ------
    FileError : such chunks, or items of unknown kinds.
    """
    laspy, lazrs = las_library()
    stream.seek(0)
    header = laspy.LasHeader.read_from(stream)
    settings, begin = header.vlrs.get("LasZipVlr")[0].record_data, header.offset_to_point_data
    if not _layers(settings, where)[0]:
        return
    stream.seek(begin)
    table = np.array(lazrs.read_chunk_table(stream, lazrs.LazVlr(settings)), np.int64).reshape(-1, 2)
    counts, sizes = table.T
    if counts.sum() < points:
        raise refusal("its chunks hold fewer points than it says", where)
    check_layers(stream, begin + _TABLE_PLACE + np.cumsum(sizes) - sizes, sizes, settings, where)


def check_layers(stream: IO[bytes], places: np.ndarray, sizes: np.ndarray, settings: bytes, where: str) -> None:
    """Refuse chunks whose layers would be longer than the chunk.

    Source: M. Isenburg, LASzip, version 3: the first point, their number, the lengths of all layers, the layers.

    Parameters
    ----------
    places, sizes : where each chunk begins, and its bytes. settings : the record of the compressor, of points that are
        kept in layers.

    Raises
    ------
    FileError : a chunk is shorter than it says, or its items are of unknown kinds.
    """
    layers, length = _layers(settings, where)
    for place, size in zip(places.tolist(), sizes.tolist(), strict=True):
        own = size - length - 4 - 4 * layers
        # Some writers end with a chunk of nothing.
        if size and (own < 0 or sum(unpack(stream, place + length + 4, f"<{layers}L")) > own):
            raise refusal("the layers of a chunk are longer than the chunk", where)


def _layers(settings: bytes, where: str) -> tuple[int, int]:
    """How many layers a chunk has, 0 where it is kept in one piece, and the bytes of a point."""
    (count,) = struct.unpack_from("<H", settings, 32)
    items = [struct.unpack_from("<HH", settings, 34 + 6 * number) for number in range(count)]
    length = sum(size for _, size in items)
    if not any(kind >= min(_LAYERS) for kind, _ in items):
        return 0, length
    if not all(kind in (*_LAYERS, _BYTES) for kind, _ in items):
        raise refusal("its points are compressed in an unknown way", where)
    return sum(_LAYERS.get(kind, size) for kind, size in items), length
