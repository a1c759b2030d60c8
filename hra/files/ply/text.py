"""The rows of a text PLY file: a line each, all that the header promises and no more."""

from __future__ import annotations

import numpy as np

from hra.errors import FileError
from hra.files.ply.columns import Columns, Lists, joined_runs
from hra.files.ply.header import Element, PlyHeader, Property
from hra.files.ply.text_rows import Rows, pieces, read_rows


def read_text(data: bytes, header: PlyHeader, where: str) -> dict[str, Columns]:
    """All elements by name.

    Raises
    ------
    FileError : rows are missing or too many, a row is too short or too long, or a number does not fit its type.
    """
    rows = read_rows(pieces(data, header.begin, header.lines + 1), where)
    promised = sum(element.count for element in header.elements)
    if len(rows) != promised:
        what = f"the header promises {promised} rows, but there are {len(rows)}"
        raise FileError(what, where=where, fix="copy or export it again")
    found, begin = {}, 0
    for element in header.elements:
        found[element.name] = _text_columns(rows.part(begin, begin + element.count), element, where)
        begin += element.count
    return found


def _text_columns(rows: Rows, element: Element, where: str) -> Columns:
    """Each property takes one number of each row, or as many as the number before them says."""
    at, ends = rows.offsets[:-1].copy(), rows.offsets[1:]
    scalars: dict[str, np.ndarray] = {}
    lists: dict[str, Lists] = {}
    for entry in element.properties:
        numbers = _type_values(_take(rows, at, ends, where), entry.length or entry.dtype, entry, rows, where)
        at += 1
        if entry.length is None:
            scalars[entry.name] = numbers
            continue
        lengths = _lengths(numbers, ends - at, entry, where)
        values, offsets = joined_runs(rows.values, at, lengths)
        lists[entry.name] = Lists(_type_values(values, entry.dtype, entry, rows, where), offsets)
        at += lengths
    left = np.flatnonzero(at != ends)
    if left.size:
        raise FileError(
            f"a row has more numbers than its {element.name} has properties", where=rows.place(left[0], where)
        )
    return Columns(scalars, lists)


def _take(rows: Rows, at: np.ndarray, ends: np.ndarray, where: str) -> np.ndarray:
    short = np.flatnonzero(at >= ends)
    if short.size:
        raise FileError("a row has fewer numbers than it has properties", where=rows.place(short[0], where))
    return rows.values[at]


def _type_values(values: np.ndarray, dtype: np.dtype, entry: Property, rows: Rows, where: str) -> np.ndarray:
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            return values.astype(dtype)
    info = np.iinfo(dtype)
    bad = np.flatnonzero(~((values >= info.min) & (values <= info.max) & (values == np.floor(values))))
    if bad.size:
        what = f"the property {entry.name!r} has the value {values[bad[0]]:g}, which is not {dtype.name}"
        raise FileError(what, where=where)
    return values.astype(dtype)


def _lengths(numbers: np.ndarray, room: np.ndarray, entry: Property, where: str) -> np.ndarray:
    lengths = numbers.astype(np.int64)
    bad = np.flatnonzero((lengths < 0) | (lengths > room))
    if bad.size:
        what = f"row {bad[0]} has a list {entry.name!r} of {lengths[bad[0]]} numbers, which are missing"
        raise FileError(what, where=where, fix="copy or export it again")
    return lengths
