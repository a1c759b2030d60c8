"""What the header of a LAS file claims, looked at before laspy takes memory and time for it."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import IO, Any

from hra.errors import FileError

# Bytes of a record of each kind without its content.
_RECORD, _EXTENDED_RECORD = 54, 60
_HEADER, _HEADER_1_4 = 227, 375
# Bytes of one point's coordinates as they are read.
_COORDINATES = 24


@dataclass(frozen=True)
class Claims:
    """What the header says, which fits into the file.

    Attributes
    ----------
    minor : of the version 1.minor; packed : whether points are compressed. begin : where points begin.
    length : bytes of a point; points : how many.
    """

    minor: int
    packed: bool
    begin: int
    length: int
    points: int

    def memory(self, points: int) -> int:
        """Bytes that so many points take while they are read."""
        return (self.length + _COORDINATES) * points


def refusal(what: str, where: str) -> FileError:
    """The error of a LAS file that cannot be read."""
    return FileError(f"the LAS file cannot be read: {what}", where=where, fix="copy or export it again")


def unpack(stream: IO[bytes], place: int, form: str) -> tuple[Any, ...]:
    """Numbers at a place of the file, which holds them."""
    stream.seek(place)
    return struct.unpack(form, stream.read(struct.calcsize(form)))


def check_header(stream: IO[bytes], size: int, where: str) -> Claims:
    """What the header claims, unless the file of ``size`` bytes is too short for it.

    Source: ASPRS, LAS Specification 1.4 - R15 (2019), public header block.

    Raises
    ------
    FileError : no LAS file, or one that is shorter than it says.
    """
    if size < _HEADER or unpack(stream, 0, "4s") != (b"LASF",):
        raise refusal("it is not a LAS file, or its header is cut off", where)
    (minor,) = unpack(stream, 25, "B")
    if minor >= 4 and size < _HEADER_1_4:
        raise refusal("it is not a LAS file, or its header is cut off", where)
    begin, records, kind, length, points = unpack(stream, 96, "<2LBHL")
    extended = 0
    if minor >= 4:
        extended, points = unpack(stream, 243, "<LQ")
    claims = Claims(minor, kind >= 128, begin, length, points)
    claimed = begin + _EXTENDED_RECORD * extended
    if not claims.packed:
        claimed += length * points
    if max(claimed, _RECORD * records) > size:
        claim = f"{records:,} records, {extended:,} extended ones and {points:,} points"
        raise refusal(f"{claim} do not fit into its bytes", where)
    if claims.packed and _chunks(stream, size, begin) > points:
        raise refusal("it has more chunks than points", where)
    return claims


def _chunks(stream: IO[bytes], size: int, begin: int) -> int:
    """How many chunks the table of compressed points has that begin at ``begin``; 0 where no table is.

    Source: M. Isenburg, "LASzip: lossless compression of LiDAR data" (2013).
    """
    if begin + 8 > size:
        return 0
    (table,) = unpack(stream, begin, "<q")
    if table == -1:  # written by a stream that could not go back: the table's place stands at the end
        (table,) = unpack(stream, size - 8, "<q")
    return unpack(stream, table + 4, "<L")[0] if 0 <= table <= size - 8 else 0
