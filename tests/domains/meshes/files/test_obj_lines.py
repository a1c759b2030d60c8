"""Runs of plain OBJ lines are read at once; what is not plain is left to the way line by line, and reads as it does."""

from __future__ import annotations

import re
import warnings
from array import array
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import meshes
from hra.domains.meshes.files import obj_lines
from hra.domains.meshes.files.obj_lines import FAST, read_lines
from hra.domains.meshes.files.obj_words import NO_COLOR
from hra.errors import FileError, LimitExceeded, RepairWarning
from hra.files.limits import DEFAULT, Limits
from tests.helpers.obj_lines_cases import above


@pytest.mark.parametrize(
    "lines",
    [
        *("f 1 2\n", "f 1 2 3\nf 1 2\n", "f \nf \n", "f 1 2/2 3\n", "f 1/1 2/2/2 3/3\n", "f 1//1 2/2/2 3//3\n"),
        *("f /1 /2 /3\n", "f 1/ 2/ 3/\n", "f 1/1/1/1 2/2/2/2 3/3/3/3\n", "f 0 1 2\n", "f -10 1 2\n", "f 1-2 3 4\n"),
        *("f 1 2 x\n", "f 1/-9 2/1 3/1\n", "f 9007199254740993 1 2\n", "f 1///1 2///1 3///1\n"),
    ],
)
def test_other_faces_are_left_to_the_way_line_by_line(lines: str) -> None:
    found = above()
    assert not FAST["f"](found, lines.encode(), 1)
    assert not found.corners and not found.sizes and not found.face_lines and not found.face_material


words = st.sampled_from(["1", "2", "-1", "3", "1/1", "2/-1", "1//1", "-2//2", "1/1/1", "2/2/2", "0", "1/", "/1", "1-2"])
faces = st.lists(st.lists(words, max_size=5).map(" ".join), min_size=1, max_size=3)
uniform = st.lists(
    st.tuples(st.sampled_from(["{0}", "{0}/{1}", "{0}//{1}", "{0}/{1}/{0}"]), st.lists(st.integers(-3, 3), max_size=5)),
    min_size=1,
    max_size=3,
).map(lambda rows: [" ".join(kind.format(n, -n) for n in numbers) for kind, numbers in rows])


@given(st.one_of(faces, uniform))
def test_faces_are_the_same_both_ways(found: list[str]) -> None:
    text = ("v 0 0 0\nvt 0 0\nvn 0 0 1\n" * 3 + "".join(f"f {line}\n" for line in found)).encode()
    assert outcome(text) == line_by_line(text)


def line_by_line(text: bytes) -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(obj_lines, "FAST", {})
        return outcome(text)


def outcome(text: bytes) -> object:
    """What is found, or what is wrong and where."""
    try:
        found = read_lines(text, "a.obj")
    except FileError as error:
        return error.what, error.where
    return {name: value.tolist() if isinstance(value, array) else value for name, value in vars(found).items()}


def test_a_backslash_joins_lines_with_a_blank() -> None:
    found = read_lines(b"v 1 2 3\\\n 1 0 0\nv 4\\\n5\\\n6\nf 1 2\\\n1\n", "a.obj")
    assert found.positions.tolist() == [1, 2, 3, 4, 5, 6] and found.colors.tolist() == [1, 0, 0, *[NO_COLOR] * 3]
    assert found.corners.tolist()[::3] == [0, 1, 0] and found.face_lines.tolist() == [6]


TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 1 0\n"


def load(folder: Path, text: str, limits: Limits = DEFAULT) -> tuple[meshes.TriangleMesh, list[str]]:
    (folder / "a.obj").write_text(text)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mesh = meshes.load(folder / "a.obj", limits=limits)
    assert all(one.category is RepairWarning for one in caught)
    return mesh, [str(one.message).partition("a.obj: ")[2] for one in caught]


def test_what_is_left_out_is_counted_by_name(tmp_path: Path) -> None:
    _, messages = load(tmp_path, TRIANGLE + "f 1 2 3\nf 1\nf 2 3\nl 1 2\n")
    assert messages == ["3 faces of fewer than three corners, lines were left out"]
    _, messages = load(tmp_path, TRIANGLE + "f 1 2 3\none 1\ntwo\ntwo 2\nthree\nfour\n")
    assert messages == ["5 lines that begin with 'one', 'two', 'three' were left out"]
    _, messages = load(tmp_path, TRIANGLE + "f 1 2 3\n" + "x" * 21 + "\n")
    assert messages == [f"1 lines that begin with '{'x' * 20}' were left out"]
    with pytest.raises(FileError, match="this is not a face: 'f '"):
        load(tmp_path, TRIANGLE + "f \n")


@pytest.mark.parametrize("extra", ["v 1 1 1\n", "vt 0 0\n" * 4, "vn 0 0 1\n" * 4])
def test_vertices_beyond_a_limit_are_refused(extra: str, tmp_path: Path) -> None:
    text = TRIANGLE + extra + "f 1 2 3\n"
    assert len(load(tmp_path, text, limits=Limits(vertices=4))[0].triangles) == 1
    with pytest.raises(LimitExceeded, match="4 vertices, more than the limit of 3"):
        load(tmp_path, text, limits=Limits(vertices=3))


@pytest.mark.parametrize("number", [4, 2**53, 2**53 + 1])
def test_a_number_out_of_range_is_named_to_the_last_digit(number: int, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=re.escape(f"a face names vertex {number}, but there are 3")) as caught:
        load(tmp_path, f"{TRIANGLE}f 1 2 3\nf 1 2 {number}\n")
    assert caught.value.where.endswith("a.obj, line 5")
