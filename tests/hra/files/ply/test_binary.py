"""Binary PLY rows: lists of any lengths come back in either byte order, and what is cut off is refused."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.errors import FileError
from hra.files.ply import binary, read_elements

ORDERS = {"<": "little", ">": "big"}
CODES = {"char": "b", "uchar": "B", "short": "h", "ushort": "H", "int": "i", "uint": "I", "float": "f", "double": "d"}
Row = tuple[int, list[int], float]


def table(rows: list[Row], order: str, head: str, item: str) -> bytes:
    """An element of a short, a list and a double, written number by number."""
    lines = ["ply", f"format binary_{ORDERS[order]}_endian 1.0", f"element row {len(rows)}", "property short a"]
    lines += [f"property list {head} {item} b", "property double c", "end_header", ""]
    body = [
        struct.pack(f"{order}h{CODES[head]}{len(b)}{CODES[item]}d", a, len(b), *b, c)  # standard sizes, no padding
        for a, b, c in rows
    ]
    return "\n".join(lines).encode() + b"".join(body)


rows = st.lists(
    st.tuples(st.integers(-(2**15), 2**15 - 1), st.lists(st.integers(0, 127), max_size=5), st.floats(allow_nan=False)),
    max_size=6,
)
heads = st.sampled_from(["char", "uchar", "short", "ushort", "int", "uint"])


@given(rows, st.sampled_from("<>"), heads, st.sampled_from(sorted(CODES)))
def test_rows_come_back_in_either_byte_order(found: list[Row], order: str, head: str, item: str) -> None:
    columns = read_elements(table(found, order, head, item), "a.ply")["row"]
    assert columns.scalars["a"].tolist() == [a for a, _, _ in found]
    assert columns.scalars["c"].tolist() == [c for _, _, c in found]
    b = columns.lists["b"]
    assert [b.values[i:j].tolist() for i, j in zip(b.offsets, b.offsets[1:], strict=False)] == [b for _, b, _ in found]
    assert b.values.dtype == np.dtype(CODES[item])


@pytest.mark.parametrize("order", "<>")
def test_rows_that_are_cut_off_or_go_on_are_refused(order: str) -> None:
    whole = table([(1, [2, 3], 0.5), (4, [], 1.5), (5, [6], 2.5)], order, "ushort", "int")
    begin = whole.index(b"end_header\n") + 11
    for end in range(begin, len(whole)):
        with pytest.raises(FileError, match=r"before the 3 row elements|bytes follow"):
            read_elements(whole[:end], "a.ply")
    with pytest.raises(FileError, match="1 bytes follow the last row"):
        read_elements(whole + b"\0", "a.ply")


def test_a_list_of_fewer_than_none_is_refused() -> None:
    broken = table([(1, [2], 0.5), (4, [], 1.5)], "<", "char", "int").replace(struct.pack("<hb", 4, 0), b"\4\0\xff")
    with pytest.raises(FileError, match="before the 2 row elements"):
        read_elements(broken, "a.ply")


@pytest.mark.parametrize("order", "<>")
def test_rows_of_one_length_are_read_at_once(order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = {"none": "int", "a": "float", "b": "short", "c": "double"}
    names = [f"property list ushort {kind} {name}" for name, kind in kinds.items()]
    lines = ["ply", f"format binary_{ORDERS[order]}_endian 1.0", "element row 2", *names, "end_header", ""]
    rows = [([1.5, 2.5], [3], [4.0]), ([-1.0, 0.5], [-3], [8.0])]
    body = [struct.pack(f"{order}HH2fHhHd", 0, 2, *a, 1, *b, 1, *c) for a, b, c in rows]
    monkeypatch.setattr(binary, "_walk", None)
    found = read_elements("\n".join(lines).encode() + b"".join(body), "a.ply")["row"].lists
    assert [found[name].values.tolist() for name in "abc"] == [[1.5, 2.5, -1.0, 0.5], [3, -3], [4.0, 8.0]]
    assert [found[name].offsets.tolist() for name in kinds] == [[0, 0, 0], [0, 2, 4], [0, 1, 2], [0, 1, 2]]


@pytest.mark.parametrize("order", "<>")
def test_rows_that_are_cut_off_in_a_list_are_refused(order: str) -> None:
    lines = ["ply", f"format binary_{ORDERS[order]}_endian 1.0", "element row 1"]
    head = "\n".join([*lines, "property list ushort int a", "property list uint int b", "end_header", ""]).encode()
    body = struct.pack(f"{order}H4iIi", 4, 1, 2, 3, 4, 1, 5)
    assert read_elements(head + body, "a.ply")["row"].lists["b"].values.tolist() == [5]
    for end in range(len(body)):
        with pytest.raises(FileError, match=r"before the 1 row elements|bytes follow"):
            read_elements(head + body[:end], "a.ply")
