"""Damaged, forged and foreign files are refused with a FileError, whatever is in them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import meshes
from hra.errors import FileError
from tests.helpers import mesh_file
from tests.helpers.mesh_file import refused, use


@pytest.mark.case(38)
@given(data=st.data())
def test_any_changed_byte_is_found_or_means_nothing(data: st.DataObject, target, tiny, tiny_file, assert_same) -> None:
    content = bytearray(tiny_file.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    target.write_bytes(content)
    try:
        again = meshes.load_clusters(target)
    except FileError:
        return
    assert_same(tiny, again)


@pytest.mark.case(23)
@given(data=st.data())
def test_any_cut_or_longer_file_is_refused(data: st.DataObject, target: Path, tiny_file: Path) -> None:
    content = tiny_file.read_bytes()
    refused(target, content[: data.draw(st.integers(0, len(content) - 1))])
    refused(target, content + data.draw(st.binary(min_size=1, max_size=5000)))


@given(data=st.data())
def test_forged_tables_never_crash(data: st.DataObject, target: Path, dressed_file: Path) -> None:
    """Checksums fit, values do not: what is accepted must be a mesh that can be used."""
    content = dressed_file.read_bytes()
    tables = [name for name, entry in mesh_file.entries(content).items() if entry["kind"] != 3]
    name = data.draw(st.sampled_from([name for name in tables if name != "page_crc"]))
    target.write_bytes(mesh_file.with_drawn_bytes(data, content, name))
    use(target)


@given(data=st.data())
def test_forged_pages_never_crash(data: st.DataObject, target: Path, dressed_file: Path) -> None:
    content = dressed_file.read_bytes()
    page = data.draw(st.integers(0, mesh_file.header(content)["pages"] - 1))
    at, value = data.draw(st.integers(0, 2**17)), data.draw(st.integers(0, 255))
    target.write_bytes(mesh_file.with_page_byte(content, page, at, value))
    use(target)


WIDTH = {"H": 16, "I": 32, "Q": 64}
HEADER_NUMBERS: dict[str, str] = dict(zip(mesh_file.HEADER_FIELDS[2:11], "IQQQIIIII", strict=True))
ENTRY_NUMBERS: dict[str, str] = dict(zip(mesh_file.ENTRY_FIELDS[2:], "HHQQII", strict=True))


def number(data: st.DataObject, kind: str) -> int:
    largest = 2 ** WIDTH[kind] - 1
    return data.draw(st.one_of(st.integers(0, 300), st.integers(0, largest), st.just(largest)))


@given(data=st.data())
def test_forged_headers_and_directories_never_crash(data: st.DataObject, target: Path, dressed_file: Path) -> None:
    content = dressed_file.read_bytes()
    field = data.draw(st.sampled_from([*HEADER_NUMBERS, *ENTRY_NUMBERS]))
    if field in HEADER_NUMBERS:
        content = mesh_file.forged(content, **{field: number(data, HEADER_NUMBERS[field])})
    else:
        name = data.draw(st.sampled_from(list(mesh_file.entries(content))))
        content = mesh_file.with_entry(content, name, **{field: number(data, ENTRY_NUMBERS[field])})
    target.write_bytes(content)
    use(target)


HUGE = 2**62
HEADERS = {
    "wrong magic": ({"magic": b"\x89PNG\r\n\x1a\n"}, "begins with other bytes"),
    "big-endian": ({"byte_order": 0x04030201}, "not little-endian"),
    "older version": ({"version": 0}, "version 0"),
    "future version": ({"version": 5}, "version 5"),
    "claims more bytes": ({"file_bytes": HUGE}, "header says"),
    "claims vertices": ({"vertices": HUGE}, "rows"),
    "claims triangles": ({"triangles": HUGE}, "triangle_count"),
    "claims clusters": ({"clusters": 2**32 - 1}, "rows"),
    "no clusters": ({"clusters": 0}, "rows"),
    "claims pages": ({"pages": 2**32 - 1}, "rows"),
    "claims sections": ({"sections": 2**32 - 1}, "directory"),
    "reserved field in use": ({"reserved": 1}, "header"),
}


@pytest.mark.case(24, 37)
@pytest.mark.parametrize(("fields", "match"), HEADERS.values(), ids=HEADERS.keys())
def test_lying_headers_are_refused(fields: dict, match: str, target: Path, tiny_file: Path) -> None:
    refused(target, mesh_file.forged(tiny_file.read_bytes(), **fields), match)


ENTRIES = {
    "lies outside": ("center", {"offset": HUGE - HUGE % 64}, "beyond the end"),
    "at an odd place": ("center", {"offset": 65}, "odd place"),
    "more rows": ("info", {"rows": HUGE}, "beyond the end"),
    "more clusters": ("radius", {"rows": HUGE}, "rows"),
    "another name": ("radius", {"name": b"radios"}, "lacks the section 'radius'"),
    "a name twice": ("radius", {"name": b"center"}, "twice"),
    "a name that is none": ("radius", {"name": b"../x"}, "unknown kind"),
    "another type": ("center", {"type": b"<f8"}, "holds float64"),
    "Python objects": ("center", {"type": b"|O"}, "unknown kind"),
    "another shape": ("center", {"columns": 2}, "holds"),
    "zip bomb": ("center", {"columns": 65535, "layers": 65535}, "holds"),
    "another kind": ("center", {"kind": 0}, "lacks"),
    "an unknown kind": ("center", {"kind": 9}, "unknown kind"),
    "an unknown stream": ("position", {"name": b"weights"}, "weights"),
    "wide vertices": ("position", {"columns": 65535}, "position"),
    "wrong checksum": ("bounds", {"crc": 1}, "damaged"),
}


@pytest.mark.case(26)
@pytest.mark.parametrize(("name", "fields", "match"), ENTRIES.values(), ids=ENTRIES.keys())
def test_lying_directories_are_refused(name: str, fields: dict, match: str, target: Path, tiny_file: Path) -> None:
    refused(target, mesh_file.with_entry(tiny_file.read_bytes(), name, **fields), match)


def first(value: object):
    def change(values: np.ndarray) -> np.ndarray:
        values = values.copy()
        values.reshape(-1)[0] = value
        return values

    return change


TABLES = {
    "no number": ("center", first(np.nan)),
    "infinite": ("area", first(np.inf)),
    "negative radius": ("radius", first(-1)),
    "negative level": ("level", first(-1)),
    "no triangles": ("triangle_count", first(0)),
    "other triangles": ("triangle_count", first(9)),
    "too many vertices": ("vertex_count", first(257)),
    "negative vertices": ("vertex_count", first(-1)),
    "other vertices": ("vertex_count", lambda counts: counts[::-1]),
    "group out of range": ("added_by", first(2**30)),
    "group below -1": ("added_by", first(-2)),
    "groups in a circle": ("removed_by", lambda groups: np.maximum(groups, 0)),
    "groups in another order": ("added_by", lambda groups: np.where(groups >= 0, groups.max() - groups, -1)),
    "a group without products": ("removed_by", lambda groups: np.where(groups == 0, -1, groups)),
    "pages beyond the end": ("page_offset", lambda offsets: offsets + np.uint64(2**40)),
    "pages before the start": ("page_offset", lambda offsets: offsets + np.uint64(2**63)),
    "pages at odd places": ("page_offset", lambda offsets: offsets + np.uint64(4)),
    "longer pages": ("page_bytes", lambda sizes: sizes + np.uint32(1)),
    "pages of other clusters": ("page_end", lambda ends: ends - np.uint32(1)),
    "reversed bounds": ("bounds", lambda bounds: bounds[::-1]),
    "bounds that are none": ("bounds", first(np.nan)),
    "three bounds": ("bounds", lambda bounds: np.concatenate([bounds, bounds[:1]])),
}


@pytest.mark.parametrize(("name", "change"), TABLES.values(), ids=TABLES.keys())
def test_inconsistent_tables_are_refused(name: str, change, target: Path, tiny_file: Path) -> None:
    content = tiny_file.read_bytes()
    values = mesh_file.section(content, name)
    refused(target, mesh_file.with_section(content, name, change(values).astype(values.dtype)))


def test_pages_that_name_other_vertices_are_refused(target: Path, tiny_file: Path) -> None:
    content = tiny_file.read_bytes()
    for at, value in ((3, 255), (-1, 255)):  # the number of the first vertex, the last corner
        refused(target, mesh_file.with_page_byte(content, 0, at, value), "does not exist")


def test_copies_of_a_vertex_that_differ_are_refused(target: Path, tiny: meshes.ClusterMesh, tiny_file: Path) -> None:
    content = tiny_file.read_bytes()
    vertices = int(tiny.hierarchy.attribute("vertex_count").sum())
    refused(target, mesh_file.with_page_byte(content, 0, 4 * vertices, 0xAA), "copies of a vertex differ")


@pytest.mark.case(34)
def test_pickles_archives_and_empty_files_are_refused(target: Path) -> None:
    for content in (b"", b"\x80\x04K\x01.", b"PK\x03\x04" + bytes(100), b"\x89HRA\r\n\x1a\n"):
        target.write_bytes(content)
        with pytest.raises(FileError):
            meshes.load_clusters(target)


def test_missing_files_and_folders_are_refused(tmp_path: Path) -> None:
    (tmp_path / "folder.hra").mkdir()
    for name in ("no.hra", "folder.hra", "https://example.org/a.hra"):
        with pytest.raises(FileError):
            meshes.open_asset(tmp_path / name if "://" not in name else name)
