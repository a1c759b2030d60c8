from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.errors import FileError
from hra.files.ply import read_elements


@given(st.lists(st.tuples(st.integers(-99, 99), st.integers(0, 255)), max_size=9))
def test_text_and_binary_of_one_table_are_read_alike(rows: list[tuple[int, int]]):
    head = "ply\nformat {} 1.0\nelement vertex {}\nproperty int x\nproperty uchar red\nend_header\n"
    text = head.format("ascii", len(rows)).encode() + "".join(f"{x} {red}\n" for x, red in rows).encode()
    tables = [text]
    for name, order in (("binary_little_endian", "<"), ("binary_big_endian", ">")):
        packed = np.array(rows, [("x", f"{order}i4"), ("red", "u1")]).tobytes()
        tables.append(head.format(name, len(rows)).encode() + packed)
    for table in tables:
        found = read_elements(table, "file")["vertex"].scalars
        assert list(zip(found["x"].tolist(), found["red"].tolist(), strict=True)) == rows


def test_what_is_no_ply_file_is_refused():
    with pytest.raises(FileError):
        read_elements(b"solid cube", "cube.ply")
