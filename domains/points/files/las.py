"""LAS, LAZ and COPC in, by laspy.

COPC files are LAZ files whose chunks are the nodes of an octree, each with some of the points. The nodes are checked
before any is read.

Source: A. Bell, H. Butler and C. Manning, Cloud Optimized Point Cloud Specification 1.0, Hobu, Inc. (2021).
"""

from __future__ import annotations

import os
import struct
from typing import IO, Any

import numpy as np

from hra.domains.points.cloud.clouds import PointCloud
from hra.domains.points.cloud.extent import FEWEST, Extent
from hra.domains.points.files.las_header import (
    Claims,
    as_one_chunk,
    check_chunks,
    check_header,
    check_layers,
    las_colors,
    las_errors,
    las_fields,
    las_library,
    las_place,
    refusal,
    said_fields,
)
from hra.errors import FileError, HraError, warn
from hra.files.limits import DEFAULT
from hra.files.local_files import open_regular

USER, INFO_ID, HIERARCHY_ID = "copc", 1, 1000
# The record behind the header, and its content: center, half side and spacing of the octree, place and bytes of the
# first page of the hierarchy, least and largest time of points.
RECORD_PLACE, RECORD_HEAD = 375, struct.Struct("<2x16sHH32x")
INFO = struct.Struct("<3d2d2Q2d88x")
# One node, or a further page of nodes where ``points`` is -1.
ENTRY = np.dtype(
    [(name, "<i4") for name in ("level", "x", "y", "z")] + [("place", "<u8"), ("bytes", "<i4"), ("points", "<i4")]
)
PAGE = -1
# Finer cells would have numbers that no int32 holds.
_LEVELS = 31
# Float32 that rounds to the nearest loses a decimal digit of steps that it moves by so many, half of ten.
_DIGIT = 5


def read_copc(stream: IO[bytes], size: int, claims: Claims, level: int | None, where: str) -> PointCloud:
    """The points of the coarse nodes of a COPC file, or of all; nothing else of the file is read.

    Coordinates count from the corner that the header states, or, where the root has points far from all others, from
    the corner of the others (`Extent.map_corners`): a coarse cloud lies where the fine one does.

    Parameters
    ----------
    level : the finest one that is read, 0 for the root; all by default.

    Raises
    ------
    FileError : see `read_nodes`, or a node cannot be decoded, or no node of these levels holds points. LimitExceeded :
        nodes longer than files may be, or that would unpack to more than an archive may, see
        `hra.files.limits.Limits`.
    """
    (laspy, lazrs), nodes = las_library(), read_nodes(stream, size, claims, level, where)
    if not len(nodes):
        fix = "read finer levels, or leave the level out"
        raise FileError(f"no node down to level {level} of the COPC file holds points", where=where, fix=fix)
    packed = int(nodes["bytes"].sum(dtype=np.int64))
    DEFAULT.check("file_bytes", packed, where)
    DEFAULT.check_archive(claims.memory(int(nodes["points"].sum(dtype=np.int64))), packed, where)
    with las_errors(where):
        stream.seek(0)
        header = laspy.LasHeader.read_from(stream)
        rows = _decoded(stream, nodes, header, lazrs, where)
        record = laspy.PackedPointRecord.from_buffer(rows, header.point_format)
        found = laspy.ScaleAwarePointRecord(record.array, record.point_format, header.scales, header.offsets)
        places = np.column_stack([found.x, found.y, found.z])
        coarse = np.repeat(nodes["level"] == 0, nodes["points"])
        near = Extent.of(places[coarse] if coarse.any() else places).near
        corners = Extent(np.array(header.mins), np.array(header.maxs), near).map_corners()
        fields, place = las_fields(found), las_place(header, stream, size)
    _check_rounding(places, corners, header.scales, where)
    return _cloud(places, corners[0], las_colors(found), said_fields(fields, place, where), place.crs)


def _cloud(places: np.ndarray, low: np.ndarray, colors: np.ndarray, fields: Any, crs: Any) -> PointCloud:
    """Coordinates of maps are too large for float32: they count from a corner."""
    x, y, z = low.tolist()
    return PointCloud(places - low, colors, origin=(x, y, z), fields=fields, crs=crs)


def _check_rounding(places: np.ndarray, corners: np.ndarray, steps: np.ndarray, where: str) -> None:
    """`warn_of_rounding` for points [P, 3], of which few count all, of many those between ``corners`` [2, 3]."""
    low, high = corners if len(places) >= FEWEST else (corners[0], places.max(axis=0))
    if (rounding(high - low) > _DIGIT * steps).any():
        near = places[((places >= low) & (places <= high)).all(axis=1)] - low
        warn_of_rounding(np.abs(near.astype(np.float32) - near).max(axis=0, initial=0), steps, where)


def rounding(extent: np.ndarray) -> np.ndarray:
    """By how much float32 moves coordinates that count from a corner, at most; ``extent`` : of the points [3]."""
    return np.spacing(np.maximum(extent, 0).astype(np.float32)) / 2


def warn_of_rounding(off: np.ndarray, steps: np.ndarray, where: str) -> None:
    """Warn where coordinates are ``off`` [3] by more than a digit of the ``steps`` [3] of their file.

    Files that `write_copc` makes have steps below those of float32 by less than a digit. Strays are not asked: what is
    far from all others is not known to the last step anyway.
    """
    lost = [
        f"{axis} by up to {by:.2g} where the file's steps are {step:.2g}"
        for axis, by, step in zip("xyz", off, steps, strict=True)
        if by > _DIGIT * step
    ]
    if lost:
        warn(f"{where}: coordinates are rounded, {', '.join(lost)}: the points are too far apart for float32")


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


def is_copc(stream: IO[bytes], size: int, claims: Claims) -> bool:
    """Whether a LAZ file is a COPC file: its first record says so."""
    if not claims.packed or claims.minor < 4 or size < RECORD_PLACE + RECORD_HEAD.size + INFO.size:
        return False
    stream.seek(RECORD_PLACE)
    user, number, length = RECORD_HEAD.unpack(stream.read(RECORD_HEAD.size))
    return user.rstrip(b"\0") == USER.encode() and number == INFO_ID and length >= INFO.size


def read_nodes(stream: IO[bytes], size: int, claims: Claims, level: int | None, where: str) -> np.ndarray:
    """The nodes that hold points, those down to ``level`` or all, as rows of `ENTRY`, rising by their places.

    Raises
    ------
    FileError : pages or points lie outside of the file of ``size`` bytes, pages lead back to each other, a node is
        there twice or is not one of an octree, or nodes hold other numbers of points than the header says.
    """
    deepest = _LEVELS if level is None else level
    found = np.concatenate([page[page["points"] != PAGE] for page in _pages(stream, size, deepest, where)])
    _check_keys(found, where)
    filled = np.sort(found[(found["points"] > 0) & (found["level"] <= deepest)], order="place")
    # Sorted, so that nodes overlap only if two that follow each other do.
    ends = filled["place"] + filled["bytes"].astype(np.uint64)
    outside = (filled["bytes"] <= 0) | (filled["place"] < claims.begin) | (filled["place"] > size) | (ends > size)
    if outside.any() or (ends[:-1] > filled["place"][1:]).any():
        raise refusal("points of a node lie outside of the file, or in another node", where)
    points = int(filled["points"].sum(dtype=np.int64))
    if points > claims.points or (level is None and points < claims.points):
        raise refusal(f"its nodes hold {points:,} points, its header says {claims.points:,}", where)
    return filled


def _pages(stream: IO[bytes], size: int, deepest: int, where: str) -> list[np.ndarray]:
    """The pages of the hierarchy with nodes down to a level, from the first one on."""
    stream.seek(RECORD_PLACE + RECORD_HEAD.size)
    *_, place, length, _, _ = INFO.unpack(stream.read(INFO.size))
    waiting, read, found = [(place, length)], 0, []
    while waiting:
        place, length = waiting.pop()
        read += length
        if length <= 0 or length % ENTRY.itemsize or place + length > size:
            raise refusal("a page of its hierarchy lies outside of the file", where)
        if read > size:
            raise refusal("the pages of its hierarchy lead back to each other", where)
        stream.seek(place)
        page = np.frombuffer(stream.read(length), ENTRY)
        found.append(page)
        further = page[(page["points"] == PAGE) & (page["level"] <= deepest)]
        waiting += zip(further["place"].tolist(), further["bytes"].tolist(), strict=True)
    return found


def _check_keys(nodes: np.ndarray, where: str) -> None:
    level = nodes["level"].astype(np.int64)
    in_range = (level >= 0) & (level < _LEVELS) & (nodes["points"] >= 0)
    for axis in "xyz":
        in_range &= (nodes[axis] >= 0) & (nodes[axis] < 1 << level.clip(0, _LEVELS))
    if not in_range.all():
        raise refusal("a node does not belong to an octree", where)
    if len(np.unique(nodes[["level", "x", "y", "z"]])) < len(nodes):
        raise refusal("a node appears twice", where)


def read_las(path: str | os.PathLike[str], level: int | None = None) -> PointCloud:
    """Points with colours, or, where these are 0, with their intensity as grey, and with all else that they carry.

    Coordinates count from the least corner, which is the cloud's origin; where points lie far from all others, from
    that of the others, see `Extent.map_corners`.

    Parameters
    ----------
    level : see `read_copc`; None for other files.

    Raises
    ------
    FileError, LimitExceeded : laspy cannot read it, it holds no points, or see `check_header` and `read_copc`.
    HraError : no level, or one of a file that has none. MissingExtra : laspy is not installed.

    Warns
    -----
    RepairWarning : see `said_fields`; or points are so far apart that float32 loses steps of the file.
    """
    where = str(path)
    las_library()  # what is missing is said first
    if level is not None and (type(level) is not int or level < 0):
        raise HraError(f"level {level!r} is invalid", where="level", fix="use 0 for the root, or more")
    with open_regular(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        claims = check_header(stream, size, where)
        _check_filled(claims.points, where)
        if is_copc(stream, size, claims):
            return read_copc(stream, size, claims, level, where)
        if level is not None:
            raise HraError("only COPC files have levels", where=where, fix="leave the level out")
        DEFAULT.check("file_bytes", size, where)
        with las_errors(where):
            reader = checked_reader(stream, size, claims, where)
            found = reader.read_points(claims.points)
            places = np.column_stack([found.x, found.y, found.z])
            corners = Extent.of(places).map_corners()
            fields = las_fields(found)
            place = las_place(reader.header, stream, size)
    _check_rounding(places, corners, reader.header.scales, where)
    return _cloud(places, corners[0], las_colors(found), said_fields(fields, place, where), place.crs)


def checked_reader(stream: IO[bytes], size: int, claims: Claims, where: str) -> Any:
    """The reader by laspy of a file of ``size`` bytes whose claims were looked at, before it takes memory for them.

    Raises
    ------
    LimitExceeded : it would unpack to too much. FileError : see `check_chunks`. What laspy raises.
    """
    laspy, _ = las_library()
    _check_filled(claims.points, where)
    DEFAULT.check_archive(claims.memory(claims.points), size, where)
    if claims.packed:
        check_chunks(stream, claims.points, where)
    stream.seek(0)
    # The parallel decoder trusts the size of chunks that the file states, and ends the process where it lies. Extended
    # records may claim any length; none is needed.
    reader = laspy.open(stream, laz_backend=laspy.LazBackend.Lazrs, read_evlrs=False)
    if claims.packed:
        as_one_chunk(reader.header, claims.points)
    reader.header.point_count = claims.points  # laspy knows only the count of the file's version
    return reader


def _check_filled(points: int, where: str) -> None:
    if not points:
        raise FileError("the LAS file holds no points", where=where, fix="export it again, with its points")
