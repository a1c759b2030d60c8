"""What the header of a LAS file claims, looked at before laspy takes memory and time for it."""

from __future__ import annotations

import struct

from hra.errors import FileError
from hra.safety.limits import DEFAULT

# Bytes of a record of each kind without its content, and of one point's coordinates as they are read.
_RECORD, _EXTENDED_RECORD, _COORDINATES = 54, 60, 24
_HEADER, _HEADER_1_4 = 227, 375


def check_header(data: bytes, where: str) -> None:
    """Refuse counts that the file is too short for.

    Source: ASPRS, LAS Specification 1.4 - R15 (2019), public header block.

    Raises
    ------
    FileError : no LAS file, or one that is shorter than it says. LimitExceeded : compressed points that would unpack
        to more than an archive may, see `hra.safety.limits.Limits`.
    """
    if data[:4] != b"LASF" or len(data) < _HEADER or (data[25] >= 4 and len(data) < _HEADER_1_4):
        raise FileError(
            "the LAS file cannot be read: it is none, or its header is cut off",
            where=where,
            fix="copy or export it again",
        )
    offset, records = struct.unpack_from("<2L", data, 96)
    kind, length, points = struct.unpack_from("<BHL", data, 104)
    extended = 0
    if data[25] >= 4:
        extended, points = struct.unpack_from("<LQ", data, 243)
    claimed = offset + _EXTENDED_RECORD * extended
    if kind < 128:
        claimed += length * points
    if max(claimed, _RECORD * records) > len(data):
        claim = f"{records:,} records, {extended:,} extended ones and {points:,} points"
        what = f"the LAS file cannot be read: {claim} do not fit into its bytes"
        raise FileError(what, where=where, fix="copy or export it again")
    if kind >= 128 and _chunks(data, offset) > points:
        raise FileError(
            "the LAS file cannot be read: it has more chunks than points", where=where, fix="copy or export it again"
        )
    DEFAULT.check_archive((length + _COORDINATES) * points, len(data), where)


def _chunks(data: bytes, offset: int) -> int:
    """How many chunks the table of compressed points has that begin at ``offset``; 0 where no table is.

    Source: M. Isenburg, "LASzip: lossless compression of LiDAR data" (2013).
    """
    if offset + 8 > len(data):
        return 0
    (table,) = struct.unpack_from("<q", data, offset)
    if table == -1:  # written by a stream that could not go back: the table's place stands at the end
        (table,) = struct.unpack_from("<q", data, len(data) - 8)
    return struct.unpack_from("<L", data, table + 4)[0] if 0 <= table <= len(data) - 8 else 0
