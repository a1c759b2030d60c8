"""Runs of plain OBJ lines are read at once; what is not plain is left to the way line by line, and reads as it does."""

from __future__ import annotations

import re
import warnings
from array import array
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains import meshes
from hra.domains.meshes.files import obj_lines
from hra.domains.meshes.files.obj_lines import FAST, read_lines
from hra.domains.meshes.files.obj_words import NONE, ObjLines
from hra.errors import FileError, LimitExceeded, RepairWarning
from hra.files.limits import DEFAULT, Limits


def above(vertices: int = 9, coordinates: int = 8, directions: int = 7) -> ObjLines:
    """What stands above a run: so many vertices, coordinates and normals."""
    positions, uv, normals = (array("d", [0.0]) * size for size in (3 * vertices, 2 * coordinates, 3 * directions))
    return ObjLines(positions=positions, uv=uv, normals=normals, material=3)


@pytest.mark.parametrize(
    ("lines", "corners", "sizes"),
    [
        ("f 1 2 3\n", [[0, NONE, NONE], [1, NONE, NONE], [2, NONE, NONE]], [3]),
        ("f 1/4 2/5 3/6\n", [[0, 3, NONE], [1, 4, NONE], [2, 5, NONE]], [3]),
        ("f 1//4 2//5 3//6\n", [[0, NONE, 3], [1, NONE, 4], [2, NONE, 5]], [3]),
        ("f 1/4/7 2/5/6 3/6/5\n", [[0, 3, 6], [1, 4, 5], [2, 5, 4]], [3]),
        ("f -1/-1/-1 -2/-2/-2 -9/-8/-7\n", [[8, 7, 6], [7, 6, 5], [0, 0, 0]], [3]),
        ("f\t1  2 3 \nf 4 3 2 1\n", [[i, NONE, NONE] for i in (0, 1, 2, 3, 2, 1, 0)], [3, 4]),
    ],
)
def test_plain_faces_are_read_at_once(lines: str, corners: list[list[int]], sizes: list[int]) -> None:
    found = above()
    assert FAST["f"](found, lines.encode(), 41)
    assert np.reshape(found.corners, (-1, 3)).tolist() == corners
    assert found.sizes.tolist() == sizes and found.face_material.tolist() == [3] * len(sizes)
    assert found.face_lines.tolist() == [41 + number for number in range(len(sizes))]


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


@pytest.mark.parametrize(
    ("kind", "lines", "name", "numbers"),
    [
        ("v", "v 1 2 3\nv 4 5e-1 -6\n", "positions", [1, 2, 3, 4, 0.5, -6]),
        ("vt", "vt 1 2\nvt .5 4\n", "uv", [1, 2, 0.5, 4]),
        ("vt", "vt 1 2 3\nvt 4 5 6\n", "uv", [1, 2, 4, 5]),
        ("vn", "vn 0 0 1\nvn 1 0 0\n", "normals", [0, 0, 1, 1, 0, 0]),
    ],
)
def test_plain_numbers_are_read_at_once(kind: str, lines: str, name: str, numbers: list[float]) -> None:
    found = ObjLines()
    assert FAST[kind](found, lines.encode(), 1)
    assert getattr(found, name).tolist() == numbers


@pytest.mark.parametrize(
    "lines",
    ["v 1 2\n", "v 1 2 3\nv 1 2 3 4\n", "v 1 2 3 1 0 0\n", "vt 1\n", "vt 1 2 3 4\n", "vn 1 2\n", "v \n", "v x\n"],
)
def test_other_numbers_are_left_to_the_way_line_by_line(lines: str) -> None:
    found = ObjLines()
    assert not FAST[lines.split()[0]](found, lines.encode(), 1)
    assert not found.positions and not found.uv and not found.normals


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
    assert found.positions.tolist() == [1, 2, 3, 4, 5, 6] and found.colors.tolist() == [1, 0, 0, 1, 1, 1]
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
