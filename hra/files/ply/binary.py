"""The rows of a binary PLY file: at once where all lists are of one length, else one after the other."""

from __future__ import annotations

from typing import Literal

import numpy as np

from hra.errors import FileError
from hra.files.ply.columns import Columns, Lists, joined_runs
from hra.files.ply.header import Element, PlyHeader

ByteOrder = Literal["<", ">"]


def read_binary(data: bytes, header: PlyHeader, order: ByteOrder, where: str) -> dict[str, Columns]:
    """All elements by name.

    Raises
    ------
    FileError : rows are missing or too many, a row is too short or too long, or a number does not fit its type.
    """
    found, at = {}, header.begin
    for element in header.elements:
        found[element.name], at = _binary_columns(data, at, element, order, where)
    if at != len(data):
        what = f"{len(data) - at} bytes follow the last row that the header promises"
        raise FileError(what, where=where, fix="copy or export it again")
    return found


def _binary_columns(data: bytes, at: int, element: Element, order: ByteOrder, where: str) -> tuple[Columns, int]:
    if not any(entry.length for entry in element.properties):
        rows = _equal_rows(data, at, element, order, ())
    else:
        rows = _equal_rows(data, at, element, order, _first_lengths(data, at, element, order))
        rows = rows if rows is not None and _lengths_agree(rows, element) else None
        if rows is None:
            return _walk(data, at, element, order, where)
    if rows is None:
        raise _ended(element, where)
    scalars, lists = {}, {}
    for number, entry in enumerate(element.properties):
        values = rows[f"v{number}"]
        if entry.length is None:
            scalars[entry.name] = values.astype(entry.dtype)
        else:
            steps = np.arange(len(rows) + 1, dtype=np.int64) * values.shape[1]
            lists[entry.name] = Lists(values.astype(entry.dtype).reshape(-1), steps)
    return Columns(scalars, lists), at + rows.nbytes


def _equal_rows(
    data: bytes, at: int, element: Element, order: ByteOrder, lengths: tuple[int, ...] | None
) -> np.ndarray | None:
    """The rows if all have lists of these ``lengths``; None where the file is too short for that."""
    if lengths is None:
        return None
    remaining, fields = iter(lengths), []
    for number, entry in enumerate(element.properties):
        kind = entry.dtype.newbyteorder(order)
        if entry.length is None:
            fields.append((f"v{number}", kind))
        else:
            fields += [(f"n{number}", entry.length.newbyteorder(order)), (f"v{number}", kind, (next(remaining),))]
    dtype = np.dtype(fields)
    if len(data) - at < element.count * dtype.itemsize:
        return None
    return np.frombuffer(data, dtype, element.count, at)


def _first_lengths(data: bytes, at: int, element: Element, order: ByteOrder) -> tuple[int, ...] | None:
    """Lengths of the lists of the first row; None if there is none, or they cannot be everybody's."""
    lengths = []
    for entry in element.properties if element.count else ():
        head = (entry.length or entry.dtype).newbyteorder(order)
        if at + head.itemsize > len(data):
            return None
        if entry.length is not None:
            lengths.append(int(np.frombuffer(data, head, 1, at)[0]))
            at += max(lengths[-1], 0) * entry.dtype.itemsize
        at += head.itemsize
    possible = all(0 <= length * element.count <= len(data) for length in lengths)
    return tuple(lengths) if possible and element.count else None


def _lengths_agree(rows: np.ndarray, element: Element) -> bool:
    lists = (number for number, entry in enumerate(element.properties) if entry.length is not None)
    return all(bool((rows[f"n{number}"] == rows[f"v{number}"].shape[1]).all()) for number in lists)


def _walk(data: bytes, at: int, element: Element, order: ByteOrder, where: str) -> tuple[Columns, int]:
    """Rows of different lengths, one after the other."""
    begins = [np.empty(element.count, np.int64) for _ in element.properties]
    counts = [np.ones(element.count, np.int64) for _ in element.properties]
    plan = [
        (begin, count, entry.dtype.itemsize, entry.length and entry.length.newbyteorder(order))
        for begin, count, entry in zip(begins, counts, element.properties, strict=True)
    ]
    size = len(data)
    for row in range(element.count):
        for begin, count, item, head in plan:
            length = 1
            if head is not None:
                if at + head.itemsize > size:
                    raise _ended(element, where)
                order_name = "little" if order == "<" else "big"
                length = int.from_bytes(data[at : at + head.itemsize], order_name, signed=head.kind == "i")
                at += head.itemsize
                count[row] = length
            begin[row] = at
            if length < 0 or at + length * item > size:
                raise _ended(element, where)
            at += length * item
    scalars, lists = {}, {}
    for entry, begin, count in zip(element.properties, begins, counts, strict=True):
        values, offsets = _gather(data, begin, count, entry.dtype.newbyteorder(order))
        if entry.length is None:
            scalars[entry.name] = values
        else:
            lists[entry.name] = Lists(values, offsets)
    return Columns(scalars, lists), at


def _gather(data: bytes, begin: np.ndarray, counts: np.ndarray, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """``counts`` [R] numbers that lie at bytes ``begin`` [R], and the offsets [R + 1] of each row among them."""
    values, offsets = joined_runs(np.frombuffer(data, np.uint8), begin, counts * dtype.itemsize)
    return values.view(dtype).astype(dtype.newbyteorder("=")), offsets // dtype.itemsize


def _ended(element: Element, where: str) -> FileError:
    what = f"the file ends before the {element.count} {element.name} elements that its header promises"
    return FileError(what, where=where, fix="copy or export it again")
