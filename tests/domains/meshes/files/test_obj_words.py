from __future__ import annotations

import numpy as np
import pytest

from hra.domains.meshes.files.obj_lines import FAST
from hra.domains.meshes.files.obj_words import NONE, ObjLines
from tests.helpers.obj_lines_cases import above


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
