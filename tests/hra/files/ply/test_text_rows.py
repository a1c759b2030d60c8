from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.errors import FileError
from hra.files.ply import text_rows
from hra.files.ply.text_rows import numbered_lines, pieces, read_rows

words = st.one_of(
    st.floats(allow_nan=False).map(repr),
    st.integers(-(10**9), 10**9).map(str),
    st.sampled_from(["+1", "1.", ".5", "1e5"]),
)


lines = st.lists(st.lists(words, max_size=4).map(" ".join), max_size=12)


ends = st.sampled_from(["\n", "\r\n", "\r"])


def rows_of(text: bytes) -> list[tuple[int, list[float]]]:
    rows = read_rows(pieces(text), "a file")
    return [(int(rows.lines[r]), rows.values[rows.offsets[r] : rows.offsets[r + 1]].tolist()) for r in range(len(rows))]


@given(lines, ends, st.integers(1, 40))
def test_rows_are_the_numbers_of_each_line(found: list[str], end: str, piece: int) -> None:
    text = end.join(found).encode()
    expected = [(n, [float(word) for word in line.split()]) for n, line in enumerate(found, 1) if line.split()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_rows, "_PIECE", piece)
        assert rows_of(text) == expected
        patch.setattr(text_rows, "uniform_numbers", lambda piece: None)
        assert rows_of(text) == expected


@given(st.lists(st.sampled_from([b"a", b"", b"bc d"]), max_size=9), ends, st.integers(1, 9))
def test_lines_are_numbered_whatever_ends_them(found: list[bytes], end: str, piece: int) -> None:
    text = end.encode().join(found)
    expected = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_rows, "_PIECE", piece)
        assert list(numbered_lines(text)) == list(enumerate(expected[:-1] if not expected[-1] else expected, 1))


@pytest.mark.parametrize("line", ["1 2 x", "1 1.2.3", "1 1-2", "1_0", "1,5", "0x10", "--1", "1e", "\N{MINUS SIGN}1"])
def test_what_is_no_number_is_named_with_its_line(line: str) -> None:
    with pytest.raises(FileError, match="not of numbers") as caught:
        read_rows(pieces(f"1 2 3\n{line}\n".encode()), "a.off")
    assert caught.value.where == "a.off, line 2"


def test_a_shortfall_is_never_made_up_from_the_next_line() -> None:
    rows = read_rows(pieces(b"1 2\n3 4 5 6\n"), "a")
    assert rows.counts.tolist() == [2, 4]
    assert np.array_equal(rows.values, [1, 2, 3, 4, 5, 6])
