"""LAS headers: counts that the bytes cannot hold are refused before laspy sees them."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import pytest

from hra.domains.points.files.las import read_las
from hra.domains.points.files.las_header import Claims, check_header
from hra.errors import FileError, LimitExceeded
from hra.files.limits import DEFAULT

COMPRESSED = 128
CRASHERS = Path(__file__).parents[3] / "fixtures" / "crashers"


def las(size: int, *, minor: int = 2, offset: int = 227, kind: int = 0, length: int = 20, points: int = 0) -> bytearray:
    """A header with zeros behind it, ``size`` bytes together."""
    data = bytearray(size)
    data[:4], data[24], data[25] = b"LASF", 1, minor
    struct.pack_into("<2LBHL", data, 96, offset, 0, kind, length, points)
    return data


def laz(table: int, chunks: int, *, size: int = 400, points: int = 10) -> bytes:
    """A compressed file whose table of chunks begins at a byte, and counts so many chunks."""
    data = las(size, kind=COMPRESSED, points=points)
    struct.pack_into("<q", data, 227, table)
    struct.pack_into("<L", data, table + 4, chunks)
    return bytes(data)


def checked(data: bytes, where: str) -> Claims:
    return check_header(io.BytesIO(data), len(data), where)


@pytest.mark.parametrize(("minor", "size"), [(2, 226), (4, 227), (4, 240), (4, 374)])
def test_a_header_that_is_cut_off_is_refused(minor: int, size: int) -> None:
    with pytest.raises(FileError, match="its header is cut off") as caught:
        checked(bytes(las(size, minor=minor)), "a.las")
    assert caught.value.where == "a.las"


@pytest.mark.parametrize(("minor", "size"), [(2, 227), (3, 227), (4, 375)])
def test_a_header_that_is_whole_passes(minor: int, size: int) -> None:
    checked(bytes(las(size, minor=minor)), "a.las")


def test_points_that_just_fit_pass_and_one_more_does_not() -> None:
    checked(bytes(las(227 + 60, points=3)), "a.las")
    with pytest.raises(FileError, match="0 records, 0 extended ones and 4 points do not fit"):
        checked(bytes(las(227 + 60, points=4)), "a.las")


def test_a_table_that_counts_more_chunks_than_points_is_refused() -> None:
    checked(laz(300, 10), "a.laz")
    with pytest.raises(FileError, match="more chunks than points"):
        checked(laz(300, 11), "a.laz")


@pytest.mark.parametrize("table", [0, 392])
def test_a_table_may_begin_with_the_first_byte_or_end_with_the_last(table: int) -> None:
    data = bytearray(laz(392, 11))
    struct.pack_into("<q", data, 227, table)
    if table == 0:
        struct.pack_into("<L", data, 4, 11)
    with pytest.raises(FileError, match="more chunks than points"):
        checked(bytes(data), "a.laz")


@pytest.mark.parametrize("table", [393, 399, 400, 10**12, -2])
def test_a_table_outside_of_the_file_counts_nothing(table: int) -> None:
    data = las(400, kind=COMPRESSED, points=10)
    struct.pack_into("<q", data, 227, table)
    checked(bytes(data), "a.laz")


def test_the_place_of_a_table_may_stand_at_the_end() -> None:
    data = bytearray(laz(300, 11))
    struct.pack_into("<q", data, 227, -1)
    struct.pack_into("<q", data, 392, 300)
    with pytest.raises(FileError, match="more chunks than points"):
        checked(bytes(data), "a.laz")


def test_what_points_unpack_to_counts_their_coordinates() -> None:
    # As it lies in the file, and 24 bytes of coordinates: 44 a point.
    claims = checked(bytes(las(400, kind=COMPRESSED, points=7)), "a.laz")
    assert (claims.points, claims.memory(claims.points), claims.memory(1)) == (7, 7 * 44, 44)


def test_more_than_memory_allows_is_refused_before_it_is_read(tmp_path: Path) -> None:
    pytest.importorskip("laspy")
    points = DEFAULT.memory_bytes // 44 + 1
    path = tmp_path / "a.laz"
    path.write_bytes(bytes(las(400, kind=COMPRESSED, points=points)))
    with pytest.raises(LimitExceeded, match=f"would unpack to {44 * points:,}"):
        read_las(path)


def test_extended_records_count_with_their_headers() -> None:
    data = las(400 + 60, minor=4, offset=400)
    struct.pack_into("<LQ", data, 243, 1, 0)
    checked(bytes(data), "a.las")
    with pytest.raises(FileError, match="1 extended ones and 0 points do not fit"):
        checked(bytes(data[:-1]), "a.las")


def test_a_file_may_end_with_the_place_of_its_table() -> None:
    data = las(235, kind=COMPRESSED, points=10)
    struct.pack_into("<q", data, 227, -1)  # the last eight bytes are the place of the table themselves
    assert checked(bytes(data), "a.laz").points == 10
    struct.pack_into("<q", data, 227, 219)
    struct.pack_into("<L", data, 223, 11)
    with pytest.raises(FileError, match="more chunks than points"):
        checked(bytes(data), "a.laz")


@pytest.mark.parametrize("name", ["points-2adcc203fa21.laz", "points-6ef6b6d4bc90.laz"])
def test_a_chunk_of_nothing_that_has_points_is_refused(name: str) -> None:
    with pytest.raises(FileError, match="a chunk of nothing has points"):
        read_las(CRASHERS / name)
