from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.errors import FileError
from hra.files.ply import read_elements

HEAD = "ply\nformat ascii 1.0\nelement vertex {}\nproperty double x\nproperty double y\nend_header\n"
NUMBERS = st.floats(-1e9, 1e9)


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=8))
def test_rows_are_read_as_by_numpy(rows: list[tuple[float, float]]):
    text = "".join(f"{x!r} {y!r}\n" for x, y in rows)
    found = read_elements((HEAD.format(len(rows)) + text).encode(), "a.ply")["vertex"].scalars
    expected = np.loadtxt(io.StringIO(text), ndmin=2)
    np.testing.assert_array_equal(np.stack([found["x"], found["y"]], axis=1), expected)


@pytest.mark.parametrize(("count", "text"), [(2, "1 2\n"), (1, "1 2\n3 4\n"), (1, "1\n"), (1, "1 2 3\n"), (1, "1 a\n")])
def test_rows_that_are_not_those_of_the_header_are_refused(count: int, text: str):
    with pytest.raises(FileError):
        read_elements((HEAD.format(count) + text).encode(), "a.ply")
