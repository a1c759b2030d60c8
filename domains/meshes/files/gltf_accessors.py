"""Accessors of a glTF file: checked against the bytes that are there, then read as arrays.

The bytes are those behind buffer views, as they lie there or decompressed.

Source: Khronos, glTF 2.0 specification, section 3.6.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hra.domains.meshes.files.gltf_files import Bytes
from hra.domains.meshes.files.gltf_meshopt import compressed, decode
from hra.errors import FileError

COMPONENT = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
COLUMNS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
# Columns of matrices begin at multiples of four bytes.
_MATRIX_SIDE = {"MAT2": 2, "MAT3": 3, "MAT4": 4}


@dataclass(frozen=True, eq=False)
class Views:
    """The buffer views of a checked header over the contents of its buffers; compressed ones are decoded once."""

    header: dict[str, Any]
    buffers: Sequence[Bytes]
    where: str
    _decoded: dict[int, memoryview] = field(default_factory=dict)

    def place(self, number: int) -> tuple[Bytes, int]:
        """What view ``number`` lies in, and where it begins there.

        Raises
        ------
        FileError : compressed data is damaged.
        """
        view = self.header["bufferViews"][number]
        entry = compressed(view)
        if entry is None:
            return self.buffers[view["buffer"]], view.get("byteOffset", 0)
        if number not in self._decoded:
            begin = entry.get("byteOffset", 0)
            data = memoryview(self.buffers[entry["buffer"]])[begin : begin + entry["byteLength"]]
            self._decoded[number] = decode(entry, data, f"{self.where}, bufferViews[{number}]").data
        return self._decoded[number], 0

    def content(self, number: int) -> bytes:
        """The bytes of view ``number``, copied."""
        data, begin = self.place(number)
        return bytes(memoryview(data)[begin : begin + self.header["bufferViews"][number]["byteLength"]])


@dataclass(frozen=True, eq=False)
class Accessors:
    """The accessors of a checked header over the contents of its views.

    Attributes
    ----------
    unpacked : arrays [count, columns] of those whose data lies in no view, by number.
    """

    views: Views
    unpacked: dict[int, np.ndarray] = field(default_factory=dict)

    @property
    def header(self) -> dict[str, Any]:
        """The whole header."""
        return self.views.header

    def array(self, number: int) -> np.ndarray:
        """Accessor ``number`` as [count, columns], in the type of the file; not copied where it is not sparse.

        Matrices have their numbers column by column, without what lies between columns.

        Raises
        ------
        FileError : sparse indices that do not rise or are out of range.
        """
        if number in self.unpacked:
            return self.unpacked[number]
        accessor = self.header["accessors"][number]
        dtype, kind = np.dtype(COMPONENT[accessor["componentType"]]), accessor["type"]
        if "bufferView" in accessor:
            base = self._stride(accessor, accessor["count"], dtype, kind)
        else:
            base = np.zeros((accessor["count"], COLUMNS[kind]), dtype)
        return self._replace(base, accessor, number) if "sparse" in accessor else base

    def scale(self, number: int) -> np.ndarray:
        """The same with integers that stand for -1 .. 1 or 0 .. 1 as floats (section 3.11)."""
        return self._scaled(number, self.array(number))

    def _scaled(self, number: int, values: np.ndarray) -> np.ndarray:
        if values.dtype.kind == "f" or not self.header["accessors"][number].get("normalized"):
            return values
        return np.maximum(values.astype(np.float64) / np.iinfo(values.dtype).max, -1)

    def stored(self, number: int, values: np.ndarray) -> np.ndarray:
        """What `scale` gives, in the accessor's type: integers are rounded, and end where their range does."""
        accessor = self.header["accessors"][number]
        kind = np.dtype(COMPONENT[accessor["componentType"]])
        if kind.kind == "f":
            return values.astype(kind)
        ends = np.iinfo(kind)
        scaled = values * (ends.max if accessor.get("normalized") else 1)
        return np.rint(scaled).clip(ends.min, ends.max).astype(kind)

    def rounded(self, number: int, values: np.ndarray) -> np.ndarray:
        """What is left of ``values`` float64 [n, k] that `scale` gives after they were stored, float64 [n, k]."""
        return self._scaled(number, self.stored(number, values)).astype(np.float64)

    def _stride(self, entry: dict[str, Any], count: int, dtype: np.dtype, kind: str) -> np.ndarray:
        content, begin = self.views.place(entry["bufferView"])
        (parts, numbers, pitch), size = _form(kind, dtype.itemsize), _size(kind, dtype.itemsize)
        stride = self.header["bufferViews"][entry["bufferView"]].get("byteStride", size)
        strides, begin = (stride, pitch, dtype.itemsize), begin + entry.get("byteOffset", 0)
        return np.ndarray((count, parts, numbers), dtype, content, begin, strides).reshape(count, parts * numbers)

    def _replace(self, base: np.ndarray, accessor: dict[str, Any], number: int) -> np.ndarray:
        sparse = accessor["sparse"]
        dtype = np.dtype(COMPONENT[sparse["indices"]["componentType"]])
        rows = self._stride(sparse["indices"], sparse["count"], dtype, "SCALAR")[:, 0].astype(np.int64)
        if (np.diff(rows) <= 0).any() or rows[-1] >= accessor["count"]:
            where = f"{self.views.where}, accessors[{number}].sparse"
            raise FileError("the indices of a sparse accessor do not rise, or are out of range", where=where)
        replaced = np.array(base)
        replaced[rows] = self._stride(sparse["values"], sparse["count"], base.dtype, accessor["type"])
        return replaced


def check_accessors(header: dict[str, Any], where: str) -> None:
    """Refuse views beyond their buffers, and accessors beyond their views.

    Raises
    ------
    FileError : names the entry.
    """
    buffers, views = header.get("buffers", []), header.get("bufferViews", [])
    for number, view in enumerate(views):
        room = buffers[view["buffer"]]["byteLength"]
        end = view.get("byteOffset", 0) + view["byteLength"]
        if end > room or view.get("byteStride", 0) > view["byteLength"]:
            what = f"a view reaches to byte {end}, or its stride does, but the buffer has {room}"
            raise FileError(what, where=f"{where}, bufferViews[{number}]")
    for number, accessor in enumerate(header.get("accessors", [])):
        place = f"{where}, accessors[{number}]"
        _check_values(accessor, place)
        for entry, elements, size in parts_in_views(accessor):
            if entry is not accessor:
                _check_sparse(accessor, views[entry["bufferView"]], place)
            _check_room(entry, elements, size, views[entry["bufferView"]], place)


def _check_values(accessor: dict[str, Any], where: str) -> None:
    if accessor.get("normalized") and accessor["componentType"] in (5125, 5126):
        raise FileError("only integers of 8 and 16 bits can be normalized", where=where)
    for bound in ("min", "max"):
        if bound in accessor and len(accessor[bound]) != COLUMNS[accessor["type"]]:
            raise FileError(f"{bound} has {len(accessor[bound])} numbers", where=where)


def _check_room(entry: dict[str, Any], count: int, size: int, view: dict[str, Any], where: str) -> None:
    stride = view.get("byteStride", size)
    if stride < size:
        raise FileError(f"the stride of {stride} bytes is less than an element of {size}", where=where)
    if end_in_view(entry, count, size, view) > view["byteLength"]:
        what = f"it claims {count} elements, which its {view['byteLength']} bytes cannot hold"
        raise FileError(what, where=where)


def _check_sparse(accessor: dict[str, Any], view: dict[str, Any], where: str) -> None:
    if accessor["sparse"]["count"] > accessor["count"]:
        raise FileError(f"it replaces {accessor['sparse']['count']} of {accessor['count']} elements", where=where)
    if "byteStride" in view:
        raise FileError("sparse data lies in a view with a stride", where=where)


def parts_in_views(accessor: dict[str, Any]) -> Iterator[tuple[dict[str, Any], int, int]]:
    """The parts of an accessor that refer to a view, how many elements each has, and of how many bytes."""
    size = element_bytes(accessor)
    parts = [(accessor, accessor["count"], size)]
    if "sparse" in accessor:
        indices, values, count = (accessor["sparse"][name] for name in ("indices", "values", "count"))
        parts += [(indices, count, np.dtype(COMPONENT[indices["componentType"]]).itemsize), (values, count, size)]
    yield from (part for part in parts if "bufferView" in part[0])


def end_in_view(entry: dict[str, Any], count: int, size: int, view: dict[str, Any]) -> int:
    """Where the last of ``count`` elements of ``size`` bytes ends in its view."""
    return entry.get("byteOffset", 0) + (count - 1) * view.get("byteStride", size) + size


def element_bytes(accessor: dict[str, Any]) -> int:
    """The bytes from the first number of an element to behind its last."""
    return _size(accessor["type"], np.dtype(COMPONENT[accessor["componentType"]]).itemsize)


def is_mostly_zero(accessor: Mapping[str, Any]) -> bool:
    """Whether an accessor says its zeros by saying nothing: sparse ones mostly do, and those in no view."""
    return "sparse" in accessor or "bufferView" not in accessor


def padded_rows(rows: np.ndarray, kind: str) -> np.ndarray:
    """The bytes of ``rows`` [n, k] of a type as vertices have them: uint8 [n, size], in multiples of four.

    All begins at multiples of four bytes: elements, and the columns of matrices.
    """
    parts, numbers, _ = _form(kind, rows.dtype.itemsize)
    cells = np.ascontiguousarray(rows).view(np.uint8).reshape(len(rows), parts, numbers * rows.dtype.itemsize)
    padded = np.pad(cells, ((0, 0), (0, 0), (0, -cells.shape[2] % 4)))
    return padded.reshape(len(rows), parts * padded.shape[2])


def _form(kind: str, item: int) -> tuple[int, int, int]:
    """Columns of an element with numbers of ``item`` bytes, how many each has, and bytes from one to the next."""
    side = _MATRIX_SIDE.get(kind)
    return (1, COLUMNS[kind], item * COLUMNS[kind]) if side is None else (side, side, -(-item * side // 4) * 4)


def _size(kind: str, item: int) -> int:
    parts, numbers, pitch = _form(kind, item)
    return pitch * (parts - 1) + item * numbers
