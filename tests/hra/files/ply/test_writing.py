from __future__ import annotations

import struct

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hra.files.ply import binary_table

# The types of the format by their names, as the module struct calls them.
NAMES = {"char": "b", "uchar": "B", "short": "h", "ushort": "H", "int": "i", "uint": "I", "float": "f", "double": "d"}
KINDS = st.sampled_from(["i1", "u1", "i2", "u2", "i4", "u4", "f4", "f8"])


@given(st.lists(KINDS, min_size=1, max_size=5), st.integers(0, 6), st.integers(0, 10**6))
def test_a_table_is_what_a_plain_reader_finds(kinds: list[str], count: int, seed: int):
    rng = np.random.default_rng(seed)
    columns = {f"c{i}": rng.integers(0, 100, count).astype(kind) for i, kind in enumerate(kinds)}
    head, _, body = binary_table(columns, "thing").partition(b"end_header\n")
    lines = head.decode().splitlines()
    assert lines[:3] == ["ply", "format binary_little_endian 1.0", f"element thing {count}"]
    properties = [line.split() for line in lines[3:]]
    assert [name for _, _, name in properties] == list(columns)
    row = "<" + "".join(NAMES[kind] for _, kind, _ in properties)
    assert list(struct.iter_unpack(row, body)) == list(
        zip(*(values.tolist() for values in columns.values()), strict=True)
    )
    assert [np.dtype(NAMES[kind]).itemsize for _, kind, _ in properties] == [v.itemsize for v in columns.values()]
