"""COPC out: points of a cloud in the levels of an octree, as LAZ.

Every point is in one node: samples above, the rest below.
"""

from __future__ import annotations

import struct
from typing import IO, Any, NamedTuple

import numpy as np

from hra.domains.points.cloud.clouds import PointCloud
from hra.domains.points.cloud.extent import Extent
from hra.domains.points.files.las import ENTRY, HIERARCHY_ID, INFO, INFO_ID, RECORD_HEAD, USER
from hra.domains.points.files.las_dimensions import TYPES, las_dimensions
from hra.domains.points.files.las_header import PROJECTION, las_library
from hra.kernels.trees import morton_codes, sort_keys

_HEADER = struct.Struct("<4s2xH16x2B32s32s4xHLLBHL20x3d3d6d8xQLQ15Q")
_EXTENDED = struct.Struct("<2x16sHQ32x")
# Point format 7, or 8 with near infrared; what a cloud does not have is 0, and every point an only return.
_FORMAT, _COMPRESSED, _ONLY_RETURN, _WKT, _ADJUSTED = 7, 128, 0x11, 16, 1
_PLACES = {
    **{"place": (("<i4", 3), 0), "intensity": ("<u2", 12), "returns": ("u1", 14), "flags": ("u1", 15)},
    **{
        "classification": ("u1", 16),
        "user_data": ("u1", 17),
        "scan_angle": ("<i2", 18),
        "point_source_id": ("<u2", 20),
    },
    **{"gps_time": ("<f8", 22), "color": (("<u2", 3), 30), "nir": ("<u2", 36)},
}
_SIZES = {7: 36, 8: 38}
# Fields that share a byte, and their lowest bits there.
_BITS = {
    "returns": {"return_number": 0, "number_of_returns": 4},
    "flags": {
        **{"synthetic": 0, "key_point": 1, "withheld": 2, "overlap": 3},
        **{"scanner_channel": 4, "scan_direction_flag": 6, "edge_of_flight_line": 7},
    },
}
_EXTRA = struct.Struct("<2xBB32s4x120x32x")
# Steps of coordinates are no longer than those of float32 at the far end of their axis.
_STEPS = 2.0**24
# Coordinates are int32.
_MOST_STEPS = 2.0**31 - 2
# Digits of Morton codes; cells along the side of a node, of which each gives it one point, in digits; points of a node
# that is not split. A surface takes about 64 * 64 of the cells, so that nodes with and without children are alike.
_DIGITS, CELL_DIGITS, _WHOLE = 21, 6, 10_000


def write_copc(stream: IO[bytes], cloud: PointCloud) -> None:
    """Write a cloud as COPC 1.0; equal clouds give equal bytes.

    Coordinates count from the cloud's origin and are rounded to a power of ten that is below the step of float32 at
    the extent of their axis (that of most points, where others lie far away), colours to 16 bits. Fields by the names
    of LAS go where they belong, all others become extra dimensions, see `las_dimensions`.
    Radii are not kept.

    Source: A. Bell, H. Butler and C. Manning, Cloud Optimized Point Cloud Specification 1.0, Hobu, Inc. (2021).

    Raises
    ------
    MissingExtra : laspy is not installed.

    Warns
    -----
    RepairWarning : a field gets another name, see `las_dimensions`.
    """
    lazrs = las_library()[1]
    standard, extra, adjusted = las_dimensions(cloud.fields)
    kind = _FORMAT + ("nir" in standard)
    form = _point_type(kind, extra)
    settings = bytearray(lazrs.LazVlr.new_for_compression(kind, form.itemsize - _SIZES[kind]).record_data())
    settings[12:16] = b"\xff" * 4  # chunks of any length
    extent = Extent.of(cloud.positions)
    low, most = extent.low, extent.map_corners()
    powers = _powers(most[1] - most[0], (extent.high - low).astype(np.float64))
    finest, step = 10.0 ** powers.min(), 10.0**powers
    points = np.zeros(len(cloud), form)
    points["place"] = np.rint((cloud.positions - low) / step)
    points["color"], points["returns"] = np.rint(cloud.colors * 65535), _ONLY_RETURN
    _fill(points, standard | extra)
    low = low + cloud.origin
    # The octree is one of cubes: it is divided in the finest of the steps.
    cells = points["place"] * 10.0 ** (powers - powers.min())
    # One step more, so that no point lies on the far side, which belongs to the next cell.
    side = cells.max() + 1
    levels = additive_levels(cells, np.zeros(3), side)
    packing = [_record("laszip encoded", 22204, bytes(settings))]
    packing += [_record(PROJECTION, number, record) for number, record in cloud.crs.items()]
    packing += [_record("LASF_Spec", 4, _described(extra))] if extra else []
    begin = _HEADER.size + RECORD_HEAD.size + INFO.size + sum(map(len, packing))
    stream.write(bytes(begin))
    nodes = _write_points(stream, points, levels, lazrs, lazrs.LazVlr(bytes(settings)))
    extended = stream.tell()
    stream.write(_EXTENDED.pack(USER.encode(), HIERARCHY_ID, nodes.nbytes) + nodes.tobytes())
    half, page = side * finest / 2, extended + _EXTENDED.size
    times = np.nan_to_num([points["gps_time"].min(), points["gps_time"].max()]).tolist()
    info = INFO.pack(*(low + half), half, 2 * half / 2**CELL_DIGITS, page, nodes.nbytes, *times)
    encoding = (_WKT if 2112 in cloud.crs or not cloud.crs else 0) | (_ADJUSTED if adjusted else 0)
    returns = np.bincount((points["returns"] & 15).clip(1, 15) - 1, minlength=15)[:15].tolist()
    corners = np.stack([low + points["place"].max(axis=0) * step, low], axis=1).ravel()
    stream.seek(0)
    stream.write(
        _HEADER.pack(
            *(b"LASF", encoding, 1, 4, b"hra", b"hra", _HEADER.size, begin, 1 + len(packing)),
            *(kind | _COMPRESSED, form.itemsize, 0, *step, *low, *corners, extended, 1, len(cloud), *returns),
        )
    )
    stream.write(_record(USER, INFO_ID, info) + b"".join(packing))


def _point_type(kind: int, extra: dict[str, np.ndarray]) -> np.dtype:
    places = {name: place for name, place in _PLACES.items() if name != "nir" or kind > _FORMAT}
    at, names = _SIZES[kind], [*places]
    formats, offsets = [place[0] for place in places.values()], [place[1] for place in places.values()]
    for name, rows in extra.items():
        form = np.dtype((rows.dtype, rows.shape[1:]))
        names, formats, offsets, at = [*names, name], [*formats, form], [*offsets, at], at + form.itemsize
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": at})


def _fill(points: np.ndarray, fields: dict[str, np.ndarray]) -> None:
    for byte, bits in _BITS.items():
        there = {name: low for name, low in bits.items() if name in fields}
        if there:
            points[byte] = 0
        for name, low in there.items():
            points[byte] |= (fields[name].astype(np.uint8) << low).astype(np.uint8)
    for name in (points.dtype.names or ())[1:]:
        if name in fields:
            whole = points.dtype[name].base.kind in "ui" and fields[name].dtype.kind == "f"
            points[name] = np.rint(fields[name]) if whole else fields[name]


def _described(extra: dict[str, np.ndarray]) -> bytes:
    """The record of extra dimensions; numbers of types count on by ten for pairs, by twenty for triples."""
    wide = {name: rows.shape[1] - 1 if rows.ndim == 2 else 0 for name, rows in extra.items()}
    kinds = {name: TYPES[rows.dtype.str[1:]] + 10 * wide[name] for name, rows in extra.items()}
    return b"".join(_EXTRA.pack(kind, 0, name.encode()) for name, kind in kinds.items())


def _powers(extent: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Powers of ten that coordinates are rounded to, float64 [3].

    Fine enough for the ``extent`` [3] of most points along each axis, not too fine for that of all, ``whole`` [3]. An
    axis without extent has the coarsest step of the others.
    """
    with np.errstate(divide="ignore"):
        fine = np.where(extent > 0, np.floor(np.log10(extent / _STEPS)), -np.inf)
        fine = np.where(np.isfinite(fine), fine, fine.max() if (extent > 0).any() else 0.0)
        return np.maximum(fine, np.ceil(np.log10(whole / _MOST_STEPS)))


def _write_points(stream: IO[bytes], points: np.ndarray, levels: list[Level], lazrs: Any, settings: Any) -> np.ndarray:
    """Every node as a chunk, and the table of chunks; returns the entries of the nodes."""
    begin, found = stream.tell(), []
    # Rows of a type with gaps would leave the gaps of their copies as they come.
    content = points.view(np.uint8).reshape(len(points), points.dtype.itemsize)
    compressor = lazrs.LasZipCompressor(stream, settings)
    compressor.reserve_offset_to_chunk_table()
    for number, level in enumerate(levels):
        ends = np.cumsum(level.counts)
        for key, count, end in zip(level.keys.tolist(), level.counts.tolist(), ends.tolist(), strict=True):
            place = stream.tell()
            compressor.compress_many(content[level.rows[end - count : end]].reshape(-1))
            compressor.finish_current_chunk()
            found.append((number, *key, place, stream.tell() - place, count))
    nodes, table = np.array(found, ENTRY), stream.tell()
    lazrs.write_chunk_table(stream, nodes[["points", "bytes"]].tolist(), settings)
    end = stream.tell()
    stream.seek(begin)
    stream.write(struct.pack("<q", table))
    stream.seek(end)
    return nodes


def _record(user: str, number: int, content: bytes) -> bytes:
    return RECORD_HEAD.pack(user.encode(), number, len(content)) + content


class Level(NamedTuple):
    """The nodes of one level.

    Attributes
    ----------
    keys : int32 [n, 3], their cells. counts : int64 [n], points of each; rows : int32, the points, node after node.
    """

    keys: np.ndarray
    counts: np.ndarray
    rows: np.ndarray


def additive_levels(places: np.ndarray, low: np.ndarray, side: float) -> list[Level]:
    """Levels of an octree, coarse to fine, which together hold every point once.

    Of what a node is given, each of its 64 x 64 x 64 cells leaves it the point next to the mean of those in it; the
    rest goes to its children. A node of few points keeps them all.

    Parameters
    ----------
    places : float64 [P, 3], within a cube of this low corner and side.
    """
    codes, waiting = sort_keys(morton_codes(places, bounds=np.stack([low, low + side])))
    found = []
    for level in range(_DIGITS - CELL_DIGITS + 1):
        below = _cells(codes, level)
        begins = _begins(below)
        counts = np.diff(begins, append=len(codes))
        whole = counts <= (_WHOLE if level < _DIGITS - CELL_DIGITS else len(codes))
        kept = np.repeat(whole, counts)
        kept[_samples(places[waiting], _cells(codes, level + CELL_DIGITS))] = True
        found.append(Level(_keys(below[begins], level), np.add.reduceat(kept, begins, dtype=np.int64), waiting[kept]))
        codes, waiting = codes[~kept], waiting[~kept]
        if not len(codes):
            break
    return found


def _cells(codes: np.ndarray, level: int) -> np.ndarray:
    return codes >> np.uint64(3 * (_DIGITS - level))


def _begins(cells: np.ndarray) -> np.ndarray:
    return np.flatnonzero(np.concatenate([[True], cells[1:] != cells[:-1]]))


def _samples(places: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """The place nearest to the mean of each run of equal cells; the first if tied."""
    begins = _begins(cells)
    counts = np.diff(begins, append=len(cells))
    means = np.add.reduceat(places, begins) / counts[:, None]
    apart = ((places - np.repeat(means, counts, axis=0)) ** 2).sum(axis=1)
    nearest = np.flatnonzero(apart == np.repeat(np.minimum.reduceat(apart, begins), counts))
    return nearest[_begins(cells[nearest])]


def _keys(cells: np.ndarray, level: int) -> np.ndarray:
    """The cells along each axis of Morton codes of this many digits."""
    keys = np.zeros((len(cells), 3), np.int32)
    for digit in range(level):
        for axis in range(3):
            bit = (cells >> np.uint64(3 * digit + axis)) & np.uint64(1)
            keys[:, axis] |= (bit << np.uint64(digit)).astype(np.int32)
    return keys
