"""Text files of numbers and OBJ lines: the fast way reads what the slow way reads."""

from __future__ import annotations

from array import array

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.meshes.files import obj_lines
from hra.domains.meshes.files.obj_lines import read_lines
from hra.domains.meshes.files.obj_words import ObjLines
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


corner_kinds = st.sampled_from(["{0}", "{0}/{1}", "{0}//{2}", "{0}/{1}/{2}"])


@st.composite
def obj_texts(draw: st.DrawFn) -> str:
    """Blocks of vertices and faces, some with comments, continuations, tabs and relative numbers."""
    out, counts = [], 0
    for _ in range(draw(st.integers(1, 4))):
        size = draw(st.integers(3, 5))
        for word, width in (("v", 3), ("vt", 2), ("vn", 3)):
            for _ in range(size):
                numbers = " ".join(f"{draw(st.integers(-9, 9)) / 4:g}" for _ in range(width))
                out.append(f"{word} {numbers}{draw(st.sampled_from(['', '', ' # c', '  ']))}")
        counts += size
        kind = draw(corner_kinds)
        for _ in range(draw(st.integers(0, 3))):
            numbers = draw(st.lists(st.integers(1, counts), min_size=3, max_size=5))
            chosen = [n if draw(st.booleans()) else n - counts - 1 for n in numbers]
            out.append("f " + draw(st.sampled_from([" ", "\t", " \\\n"])).join(kind.format(n, n, n) for n in chosen))
        out += draw(st.lists(st.sampled_from(["usemtl a", "usemtl b c", "g x", "", "l 1 2"]), max_size=2))
    return "\n".join(out) + "\n"


@given(obj_texts())
def test_runs_of_obj_lines_are_read_as_the_lines_one_by_one(text: str) -> None:
    fast = read_lines(text.encode(), "a.obj")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(obj_lines, "FAST", {})
        slow = read_lines(text.encode(), "a.obj")
    assert same(fast) == same(slow)


def same(found: ObjLines) -> dict[str, object]:
    return {name: value.tolist() if isinstance(value, array) else value for name, value in vars(found).items()}


def test_a_shortfall_is_never_made_up_from_the_next_line() -> None:
    rows = read_rows(pieces(b"1 2\n3 4 5 6\n"), "a")
    assert rows.counts.tolist() == [2, 4]
    assert np.array_equal(rows.values, [1, 2, 3, 4, 5, 6])
