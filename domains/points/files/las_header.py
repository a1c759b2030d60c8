"""What LAS and LAZ files claim, looked at before laspy takes memory and time for it; and laspy itself.

A decoder of LAZ takes the memory that the lengths of layers claim. laspy and its decoder raise whatever they come
across.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, NamedTuple

import numpy as np

from hra.errors import FileError, HraError, needs, warn
from hra.files.ply.colors import shown_colors

# Bytes of a record of each kind without its content.
_RECORD, _EXTENDED_RECORD = 54, 60
_HEADER, _HEADER_1_4 = 227, 375
# Bytes of one point's coordinates as they are read.
_COORDINATES = 24
# Kinds of items of points that are kept in layers, and how many each has; of further bytes each has one.
_LAYERS, _BYTES = {10: 9, 11: 1, 12: 2, 13: 1}, 14

# Records of the coordinate system: WKT of mathematics and of the system, keys of GeoTIFF, their doubles and texts.
PROJECTION, _RECORDS = "LASF_Projection", (2111, 2112, 34735, 34736, 34737)
_EXTENDED, _RECORD_MOST = 4096, 2**20
# Records of LASF_Spec on the file's own layout: extra dimensions, void ones, packets of waveforms and their kinds.
# LibLAS writes WKT beside the keys of GeoTIFF.
_LAYOUT, _WAVEFORMS, _COPY_OF_WKT, _NAMED = (4, 7, 65535), range(100, 355), "'liblas' 2112", 8
# Seconds of a GPS week, beside "gps_time", those since the epoch less 1e9.
WEEK = "gps_week_time"
_WAVES = ("wavepacket_index", "wavepacket_offset", "wavepacket_size", "return_point_wave_location", "x_t", "y_t", "z_t")
_NO_FIELDS = {*"XYZ", "red", "green", "blue"}
# No names of extra dimensions: those above, other names that laspy has for parts of a point, and those of `write_copc`.
RESERVED = {*_NO_FIELDS, *_WAVES, *"xyz", "bit_fields", "classification_flags", "raw_classification", "scan_angle_rank"}
RESERVED |= {"place", "returns", "flags", "color", "flag_byte", "return_num", "num_returns", "scan_dir_flag"}
RESERVED |= {"edge_flight_line", "pt_src_id", "wave_packet_desc_index", "byte_offset_to_waveform_data"}
RESERVED |= {"waveform_packet_size", "return_point_waveform_loc"}
# The share of intensities up to white.
_WHITE = 0.99
# Bytes before the first chunk: where the table of chunks is.
_TABLE_PLACE = 8
# How LASzip packed before it had chunks; and where its record states the points of one.
_ONE_PIECE, _CHUNK_POINTS = 1, 12


@dataclass(frozen=True)
class Claims:
    """What the header says, which fits into the file.

    Attributes
    ----------
    minor : of the version 1.minor; packed : whether points are compressed. begin : where points begin.
    length : bytes of a point; points : how many, by the older count where the one of 1.4 is 0.
    """

    minor: int
    packed: bool
    begin: int
    length: int
    points: int

    def memory(self, points: int) -> int:
        """Bytes that this many points take while they are read."""
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
        extended, counted = unpack(stream, 243, "<LQ")
        # Some writers fill only the count of the versions before.
        points = counted or points
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


def las_library() -> tuple[Any, Any]:
    """The modules laspy and lazrs.

    Raises
    ------
    MissingExtra : they are not installed.
    """
    with needs("laspy", "points"):
        import laspy
        import lazrs
    return laspy, lazrs


@contextmanager
def las_errors(where: str) -> Iterator[None]:
    """Turn what laspy and lazrs raise into FileError."""
    try:
        yield
    except BaseException as error:  # a panic of Rust is not an Exception
        if isinstance(error, (KeyboardInterrupt, SystemExit, MemoryError, HraError)):
            raise
        raise refusal(str(error), where) from error


def las_shades(found: Any) -> np.ndarray:
    """Colours and intensities [P, 4] of points that laspy read, as they are stored; 0 for colours without a place."""
    names, colors = set(found.point_format.dimension_names), ("red", "green", "blue")
    none = np.zeros(len(found), np.uint16)
    return np.column_stack([*(found[name] if name in names else none for name in colors), found["intensity"]])


class GrowingShades:
    """What shades of all points mean, which come block by block; it is the same whatever the blocks."""

    def __init__(self) -> None:
        self._full, self._counts = 0, np.zeros(2**16, np.int64)

    def add(self, shades: np.ndarray) -> None:
        """Take a block [n, 4] more, see `las_shades`."""
        self._full = max(self._full, int(shades[:, :3].max(initial=0)))
        self._counts += np.bincount(shades[:, 3], minlength=len(self._counts))

    def shown(self, shades: np.ndarray) -> np.ndarray:
        """Colours [P, 3] in 0 .. 1; where no point has a colour, which says nothing, intensities as grey.

        White is what 99 of 100 intensities do not exceed: a mirror would leave all others black. Where all are one,
        points are grey.
        """
        if self._full:
            return shown_colors(shades[:, :3], self._full)
        there = np.flatnonzero(self._counts)
        if len(there) < 2:
            return np.full((len(shades), 3), 0.5)
        white = np.searchsorted(self._counts.cumsum(), _WHITE * self._counts.sum()) or there[-1]
        return np.repeat((shades[:, 3:] / white).clip(0, 1), 3, axis=1)


def las_colors(found: Any) -> np.ndarray:
    """Colours [P, 3] in 0 .. 1 of points that laspy read, or their intensity as grey."""
    shades, growing = las_shades(found), GrowingShades()
    growing.add(shades)
    return growing.shown(shades)


def las_fields(found: Any) -> dict[str, np.ndarray]:
    """What points that laspy read carry beside coordinates and colours, by the names of LAS, extra dimensions too.

    Angles are those of the newer formats, int16 in steps of .006 degrees. Of formats before 1.4 flags are fields, too.
    """
    names = [name for name in found.point_format.dimension_names if name not in _NO_FIELDS]
    fields = {name: np.array(found[name]) for name in names}
    if "scan_angle_rank" in fields:
        fields["scan_angle"] = np.rint(fields.pop("scan_angle_rank") / 0.006).astype(np.int16)
    return fields


class Place(NamedTuple):
    """What a LAS file says beside its points.

    Attributes
    ----------
    crs : the records of LASF_Projection by number. adjusted : whether times count from GPS's epoch, not from Sundays.
    others : the records that a cloud has no place for, each by its user and number.
    """

    crs: dict[int, bytes]
    adjusted: bool
    others: tuple[str, ...]


def las_place(header: Any, stream: IO[bytes], size: int) -> Place:
    """What the records and extended records of a file of ``size`` bytes say, whose header laspy read."""
    found, others = dict[int, bytes](), dict[str, None]()
    for record in header.vlrs:
        if _is_system(user := record.user_id.strip("\0"), record.record_id):
            found[record.record_id] = bytes(record.record_data_bytes())
        elif not _is_structure(user, record.record_id):
            others[f"{user!r} {record.record_id}"] = None
    minor, (at, count) = header.version.minor, (unpack(stream, 235, "<QL") if header.version.minor >= 4 else (0, 0))
    for _ in range(min(count, _EXTENDED) if minor >= 4 else 0):
        if at + _EXTENDED_RECORD > size:
            break
        packed, number, length = unpack(stream, at, "<2x16sHQ32x")
        user = packed.rstrip(b"\0").decode("ascii", "replace")
        fits = at + _EXTENDED_RECORD + length <= size and length <= _RECORD_MOST
        if fits and _is_system(user, number):
            stream.seek(at + _EXTENDED_RECORD)
            found[number] = stream.read(length)
        elif not _is_structure(user, number):
            others[f"{user!r} {number}"] = None
        at += _EXTENDED_RECORD + length
    if found:
        others.pop(_COPY_OF_WKT, None)
    return Place(found, int(header.global_encoding.gps_time_type) == 1, tuple(others))


def _is_system(user: str, number: int) -> bool:
    return user == PROJECTION and number in _RECORDS


def _is_structure(user: str, number: int) -> bool:
    """Whether a record says how the file is laid out: chunks, nodes, extra dimensions, waveforms, void records."""
    return user in ("laszip encoded", "copc") or (user == "LASF_Spec" and (number in _LAYOUT or number in _WAVEFORMS))


def said_fields(fields: dict[str, np.ndarray], place: Place, where: str) -> dict[str, np.ndarray]:
    """The fields that say something: those of zeros are what every writer writes for nothing.

    Times of a week get a name of their own: they count from another day.

    Warns
    -----
    RepairWarning : packets of waveforms, or records that are not of the coordinate system, were left out.
    """
    with np.errstate(invalid="ignore"):  # NumPy minds signalling NaN
        said = {name: rows for name, rows in fields.items() if np.any(rows)}
    if any(name in said for name in _WAVES):
        what = f"{where}: packets of waveforms were left out: they lie in another place of the file, or in another file"
        warn(what)
    if place.others:
        more = f" and {len(place.others) - _NAMED} more" if len(place.others) > _NAMED else ""
        what = f"the records {', '.join(place.others[:_NAMED])}{more} were left out"
        warn(f"{where}: {what}: clouds keep those of the coordinate system")
    kept = {name: rows for name, rows in said.items() if name not in _WAVES}
    return {(WEEK if name == "gps_time" and not place.adjusted else name): rows for name, rows in kept.items()}


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
    # The decoder goes on with what lies behind such a chunk, and takes the memory that this seems to claim.
    if (sizes[np.cumsum(counts) - counts < points] == 0).any():
        raise refusal("a chunk of nothing has points", where)
    check_layers(stream, begin + _TABLE_PLACE + np.cumsum(sizes) - sizes, sizes, settings, where)


def as_one_chunk(header: Any, points: int) -> None:
    """Let the decoder take points that are packed in one piece for one chunk, in the header that laspy read.

    The number that such a file states for a chunk means nothing; with a 0 the decoder looks for a table of chunks.
    """
    record = header.vlrs.get("LasZipVlr")[0]
    if struct.unpack_from("<H", record.record_data) == (_ONE_PIECE,):
        settings = bytearray(record.record_data)
        struct.pack_into("<L", settings, _CHUNK_POINTS, min(points, 2**32 - 2))  # the next one means chunks of any size
        record.record_data = bytes(settings)


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
