"""Archives that hold what was passed, and no pickle; and headers of arrays that are made to fool a reader."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

import hra
from hra.domains import points
from hra.errors import ArrayError, FileError, HraError
from hra.files import plain_arrays
from hra.files.plain_arrays import plain_archive, save_plain
from hra.residency import Trace, load_trace, save_trace

TYPES = ("?", "i1", "u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8", "<U6")


def read(content: bytes) -> dict[str, np.ndarray]:
    with plain_archive(io.BytesIO(content)) as archive:
        return {name: archive.array(name) for name in archive.names}


def written(arrays: Mapping[str, np.ndarray], *, compressed: bool = False) -> bytes:
    save_plain(stream := io.BytesIO(), arrays, compressed=compressed)
    return stream.getvalue()


def npy(header: bytes, numbers: bytes = bytes(8), *, magic: bytes = b"\x93NUMPY\x01\x00") -> bytes:
    return magic + len(header).to_bytes(2 if magic[6] == 1 else 4, "little") + header + numbers


def zipped(entries: Mapping[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return stream.getvalue()


@pytest.mark.parametrize("compressed", [False, True])
def test_the_archive_has_these_arrays_and_no_others(compressed: bool):
    arrays = {"numbers": np.arange(4.0), "text": np.array("points")}
    content = written(arrays, compressed=compressed)
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        assert sorted(file.files) == sorted(arrays)
        assert all(np.array_equal(file[name], array) for name, array in arrays.items())


def test_objects_are_refused():
    with pytest.raises(ArrayError, match="objects") as caught:
        save_plain(io.BytesIO(), {"a": np.arange(2), "b": np.array([{}, []], dtype=object)})
    assert caught.value.where == "b"


@given(
    st.sampled_from(TYPES).flatmap(
        lambda kind: arrays_of.arrays(kind, arrays_of.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5))
    ),
    st.booleans(),
)
def test_what_numpy_writes_is_read_as_numpy_reads_it(array: np.ndarray, compressed: bool):
    for values in (array, np.asfortranarray(array), array[..., ::2] if array.ndim else array):
        content = written({"a": values}, compressed=compressed)
        (found,) = read(content).values()
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            expected = file["a"]
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert found.tobytes() == expected.tobytes()
        assert found.flags.writeable and found.flags.f_contiguous == expected.flags.f_contiguous


def test_more_than_a_part_is_read_whole():
    numbers = np.random.default_rng(0).random(1_200_000)
    for compressed in (False, True):
        assert np.array_equal(read(written({"a": numbers}, compressed=compressed))["a"], numbers)


WHOLE = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }"
HEADERS = {
    "deep brackets": WHOLE.replace(b"(1,)", b"(" * 100 + b"1," + b")" * 100),
    "very deep brackets": WHOLE.replace(b"(1,)", b"(" * 9000 + b"1," + b")" * 9000),
    "a comment of 9,000 characters": WHOLE + b"#" * 9000,
    "a short comment": WHOLE + b"# one",
    "open brackets": b"{'descr': (",
    "open text": b"'''" + b" " * 60,
    "a call": b"__import__('os').getcwd()",
    "a shape of 10 to the 14th": WHOLE.replace(b"(1,)", b"(100000000000000,)"),
    "a shape of many digits": WHOLE.replace(b"(1,)", b"(" + b"9" * 150 + b",)"),
    "a shape of 10 to the 11th": WHOLE.replace(b"(1,)", b"(100000000000,)"),
    "a negative shape": WHOLE.replace(b"(1,)", b"(-1,)"),
    "a shape of more than there is": WHOLE.replace(b"(1,)", b"(2,)"),
    "a shape of less than there is": WHOLE.replace(b"(1,)", b"(0,)"),
    "a shape without a comma": WHOLE.replace(b"(1,)", b"(1)"),
    "a shape with a leading zero": WHOLE.replace(b"(1,)", b"(01,)"),
    "many dimensions": WHOLE.replace(b"(1,)", b"(1, 1, 1, 1, 1)"),
    "truth as a length": WHOLE.replace(b"(1,)", b"(True,)"),
    "objects": WHOLE.replace(b"<f8", b"|O"),
    "a structure": WHOLE.replace(b"'<f8'", b"[('a', '<f8')]"),
    "another byte order": WHOLE.replace(b"<f8", b">f8"),
    "no byte order": WHOLE.replace(b"<f8", b"|f8"),
    "bytes": WHOLE.replace(b"<f8", b"|S8"),
    "complex numbers": WHOLE.replace(b"<f8", b"<c8"),
    "dates": WHOLE.replace(b"<f8", b"<M8"),
    "numbers of three bytes": WHOLE.replace(b"<f8", b"<i3"),
    "texts of no length": WHOLE.replace(b"<f8", b"<U0"),
    "a fourth key": WHOLE[:-1] + b"'more': 1, }",
    "a missing key": WHOLE.replace(b"'fortran_order': False, ", b""),
    "keys in another order": b"{'shape': (1,), 'descr': '<f8', 'fortran_order': False, }",
    "an order that is neither": WHOLE.replace(b"False", b"Maybe"),
    "no line": WHOLE,
    "two lines": WHOLE + b"\n\n",
    "nothing": b"",
}


@pytest.mark.parametrize("kind", HEADERS)
def test_crafted_headers_are_refused(kind: str):
    assert read(zipped({"a.npy": npy(WHOLE + b" " * 60 + b"\n")}))["a"].tolist() == [0.0]
    end = b"" if kind in ("no line", "nothing") else b"\n"
    with pytest.raises(FileError) as caught:
        read(zipped({"a.npy": npy(HEADERS[kind] + end)}))
    assert caught.value.where == "a"


def test_a_header_of_the_longest_length_is_read_and_no_longer_one():
    for length, fits in ((256, True), (257, False)):
        content = zipped({"a.npy": npy(WHOLE.ljust(length - 1) + b"\n")})
        if fits:
            assert read(content)["a"].tolist() == [0.0]
        else:
            with pytest.raises(FileError, match="begin"):
                read(content)


@pytest.mark.parametrize(
    "magic", [b"\x93NUMPY\x02\x00", b"\x93NUMPY\x03\x00", b"\x93NUMPY\x01\x01", b"\x94NUMPY\x01\x00"]
)
def test_other_versions_are_refused(magic: bytes):
    with pytest.raises(FileError, match="begin"):
        read(zipped({"a.npy": npy(WHOLE + b"\n", magic=magic)}))


def test_truth_values_are_0_and_1():
    header = WHOLE.replace(b"<f8", b"|b1").replace(b"(1,)", b"(2,)") + b"\n"
    assert read(zipped({"a.npy": npy(header, b"\0\1")}))["a"].tolist() == [False, True]
    with pytest.raises(FileError, match="truth"):
        read(zipped({"a.npy": npy(header, b"\0\2")}))


def test_empty_arrays_of_any_shape_are_read():
    header = WHOLE.replace(b"(1,)", b"(0, 2)") + b"\n"
    assert read(zipped({"a.npy": npy(header, b"")}))["a"].shape == (0, 2)


def test_archives_that_are_none_and_entries_that_are_missing_or_doubled_are_refused():
    whole = npy(WHOLE + b"\n")
    with pytest.raises(FileError, match="damaged"), plain_archive(io.BytesIO(b"no archive")):
        pass
    with plain_archive(io.BytesIO(zipped({"a.npy": whole, "b.txt": b"text"}))) as archive:
        assert (archive.names, archive.others, archive.unpacked) == (["a"], ["b.txt"], len(whole) + 4)
        assert archive.content("b.txt") == b"text"
        with pytest.raises(FileError, match="lacks c"):
            archive.array("c")
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("a.npy", whole)
        archive.writestr("a.npy", whole)
    with pytest.raises(FileError, match="two entries"):
        read(stream.getvalue())
    with pytest.raises(FileError, match="method") as caught:
        read(zipped({"a.npy": whole}, zipfile.ZIP_LZMA))
    assert caught.value.where == "a.npy"


def test_an_entry_whose_checksum_is_another_is_refused():
    content = zipped({"a.npy": npy(WHOLE + b"\n", b"12345678")})
    with pytest.raises(FileError, match="CRC"):
        read(content.replace(b"12345678", b"12345679"))


def test_an_array_that_ends_early_is_refused():
    content = npy(WHOLE + b"\n")
    with pytest.raises(FileError, match="ends early"):
        plain_arrays._read_array(io.BytesIO(content[:-1]), len(content), "a")


def test_contents_are_refused_as_arrays_are():
    with plain_archive(io.BytesIO(zipped({"b.txt": b"text"}, zipfile.ZIP_LZMA))) as archive:
        with pytest.raises(FileError, match="method"):
            archive.content("b.txt")
        with pytest.raises(FileError, match=r"lacks c\.txt"):
            archive.content("c.txt")


def test_what_is_compressed_is_smaller():
    arrays = {"a": np.zeros(10_000)}
    assert 10 * len(written(arrays, compressed=True)) < len(written(arrays))


# ---- the files of hra ----


def _allocation(path: Path) -> None:
    hra.solve(hra.Hierarchy.tree([-1, 0, 0, 1], [1, 1, 1, 1]), 3, errors=[4.0, 1.0, 1.0, 0.0]).save(path)


def _points(path: Path) -> None:
    tree = path.with_suffix(".hpt")
    points.save_tree(tree, points.build(points.PointCloud([[0, 0, 0], [1, 0, 0], [0, 1, 0]])))
    tree.replace(path)


def _trace(path: Path) -> None:
    save_trace(path, Trace(np.array([0, 2]), np.array([0, 1]), np.array([5, 7])))


KINDS = {
    "allocation": (_allocation, hra.Allocation.load, "gain"),
    "points": (_points, points.load_tree, "size"),
    "trace": (_trace, load_trace, "cost"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "header", ["deep brackets", "a comment of 9,000 characters", "a shape of 10 to the 14th", "open text"]
)
def test_files_with_crafted_headers_are_refused(tmp_path: Path, kind: str, header: str):
    save, load, name = KINDS[kind]
    save(tmp_path / "a")
    load(tmp_path / "a")
    with zipfile.ZipFile(tmp_path / "a") as archive:
        entries = {one: archive.read(one) for one in archive.namelist()}
    entries[f"{name}.npy"] = npy(HEADERS[header] + b"\n", bytes(max(len(entries[f"{name}.npy"]) - 128, 0)))
    (tmp_path / "a").write_bytes(zipped(entries))
    with pytest.raises(FileError) as caught:
        load(tmp_path / "a")
    assert str(tmp_path / "a") in caught.value.where


@pytest.mark.parametrize("kind", KINDS)
def test_every_damaged_byte_of_a_file_is_refused_or_changes_what_is_said(tmp_path: Path, kind: str):
    """Each byte of the file by itself: nothing but an error of hra comes of it."""
    save, load, _ = KINDS[kind]
    save(tmp_path / "a")
    whole, refused = (tmp_path / "a").read_bytes(), 0
    for at in range(len(whole)):
        (tmp_path / "a").write_bytes(whole[:at] + bytes([whole[at] ^ (1 << at % 8)]) + whole[at + 1 :])
        try:
            load(tmp_path / "a")
        except HraError:
            refused += 1
    assert refused > len(whole) // 2
