"""Files of another format, limits of OFF and STL files, and which line a warning or an error names."""

from __future__ import annotations

import struct
import warnings
from pathlib import Path

import numpy as np
import pytest

from hra.domains import meshes
from hra.domains.meshes.files import read
from hra.domains.meshes.files.suffixes import READ
from hra.errors import FileError, LimitExceeded, MeshError
from hra.files.limits import Limits

OFF = "OFF\n4 2 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2\n3 0 2 3\n"


def written(folder: Path, name: str, text: str = OFF) -> Path:
    (folder / name).write_text(text)
    return folder / name


@pytest.mark.parametrize(
    ("name", "suffixes", "fix"),
    [
        ("a b.off", (".hra",), "build it first: hra mesh build '{}' -o 'a b'.hra"),
        ("a.hra", READ, "this mesh is built already"),
        ("a.xyz", READ, "use .glb, .gltf, .vrm, .obj, .off, .ply, .stl"),
        ("a.xyz", (".hra",), "use .hra"),
    ],
)
def test_another_suffix_says_what_to_do(name: str, suffixes: tuple[str, ...], fix: str, tmp_path: Path) -> None:
    path = written(tmp_path, name)
    with pytest.raises(FileError, match=f"the format '{path.suffix}' is not read here") as caught:
        read.checked_suffix(path, suffixes)
    assert caught.value.fix.startswith(fix.format(path)) and caught.value.where == str(path)


def test_a_file_of_another_suffix_is_not_opened(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"the format '\.xyz' is not read here"):
        meshes.load(written(tmp_path, "a.xyz"))
    assert read.checked_suffix(tmp_path / "A.OFF", READ) == tmp_path / "A.OFF"


def test_the_warning_of_polygons_names_the_line_that_loads(tmp_path: Path) -> None:
    path = written(tmp_path, "a.off", "OFF\n4 1 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        meshes.load(path)
    (warning,) = caught
    assert str(warning.message) == f"{path}: polygons were triangulated" and warning.filename == __file__


@pytest.mark.parametrize(("limits", "what"), [({"vertices": 3}, "4 vertices"), ({"triangles": 1}, "2 triangles")])
def test_off_counts_beyond_a_limit_are_refused_before_rows_are_read(
    limits: dict[str, int], what: str, tmp_path: Path
) -> None:
    path = written(tmp_path, "a.off")
    assert len(meshes.load(path, limits=Limits(vertices=4, triangles=2)).triangles) == 2
    with pytest.raises(LimitExceeded, match=f"{what}, more than the limit"):
        meshes.load(written(tmp_path, "b.off", OFF.replace("3 0 1 2", "no face")), limits=Limits(**limits))


def test_errors_of_parsers_get_the_name_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, place = written(tmp_path, "a.off"), ["material 'a'"]

    def broken(*_: object, **__: object) -> None:
        raise MeshError("a factor is wrong", where=place[0], fix="change it")

    monkeypatch.setattr(read, "read_off", broken)
    for place[0], where in (("material 'a'", f"{path}, material 'a'"), (f"{path}, part 3", f"{path}, part 3")):
        with pytest.raises(MeshError, match="a factor is wrong") as caught:
            meshes.load(path)
        assert caught.value.where == where and caught.value.fix == "change it"


def test_stl_counts_beyond_a_limit_are_refused(tmp_path: Path) -> None:
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], "<f4").tobytes()
    (tmp_path / "a.stl").write_bytes(bytes(80) + struct.pack("<I", 2) + (bytes(12) + corners + bytes(2)) * 2)
    with pytest.raises(LimitExceeded, match="2 triangles, more than the limit of 1"):
        meshes.load(tmp_path / "a.stl", limits=Limits(triangles=1))


@pytest.mark.parametrize(("text", "line"), [("OFF x\n", 1), ("\nOFF x\n", 2), ("\r\n# c\rOFF\n\n1 x 2\n", 5)])
def test_off_counts_that_are_none_are_named_with_their_line(text: str, line: int, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="these are not counts of an OFF file") as caught:
        meshes.load(written(tmp_path, "a.off", text))
    assert caught.value.where == f"{tmp_path / 'a.off'}, line {line}"


@pytest.mark.parametrize("text", ["nan", "0.5", "4294967296", "-4294967296", "1e300"])
def test_off_numbers_of_vertices_are_whole_and_of_32_bits(text: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"a vertex number is .*, which is not a whole number of 32 bits"):
        meshes.load(written(tmp_path, "a.off", OFF.replace("3 0 1 2", f"3 0 1 {text}")))
    with pytest.raises(MeshError, match="triangle 0 refers to vertices"):
        meshes.load(written(tmp_path, "b.off", OFF.replace("3 0 1 2", "3 0 1 4294967295")))


def test_corners_with_coordinates_of_their_own_are_welded_without_a_warning(tmp_path: Path) -> None:
    head = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
    head += "element face 2\nproperty list uchar int vertex_indices\nproperty list uchar float texcoord\nend_header\n"
    rows = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 1 2 6 0 0 1 0 1 1\n3 0 2 3 6 0 0 1 1 0 1\n"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mesh = meshes.load(written(tmp_path, "a.ply", head + rows))
    assert mesh.attributes is not None and mesh.attributes.uv is not None
    # Coordinates are those of the places; the file counts them from below.
    assert len(mesh.positions) == 4 and np.array_equal(mesh.attributes.uv * [1, -1] + [0, 1], mesh.positions[:, :2])


@pytest.mark.parametrize("head", ["OFF\n", "OFF ", "", "# made by hand\n\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_off_needs_no_word_and_may_begin_with_a_byte_order_mark(tmp_path: Path, head: str, mark: str) -> None:
    path = written(tmp_path, "a.off", mark + head + OFF.removeprefix("OFF\n"))
    assert len(meshes.load(path).triangles) == 2


@pytest.mark.parametrize("head", ["4OFF\n", "nOFF 3\n", "hello\n", "4 2 0 9\n", "-4 2 0\n"])
def test_what_begins_with_neither_the_word_nor_counts_is_no_off(tmp_path: Path, head: str) -> None:
    with pytest.raises(FileError, match="this is not an OFF file"):
        meshes.load(written(tmp_path, "a.off", head + OFF))


def test_a_text_stl_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    corners = "".join(f"vertex {x} {y} 0\n" for x, y in ((0, 0), (1, 0), (0, 1)))
    text = f"\ufeffsolid a\nfacet normal 0 0 1\nouter loop\n{corners}endloop\nendfacet\nendsolid a\n"
    assert len(meshes.load(written(tmp_path, "a.stl", text)).triangles) == 1


@pytest.mark.parametrize(
    ("group", "normals", "said"),
    [
        ("s 1", "", True),
        ("s 2 # two", "", True),
        ("s off", "", False),
        ("s 0", "", False),
        ("s 1", "vn 0 0 1\n", False),
    ],
)
def test_smoothing_groups_are_lost_with_a_warning_unless_there_are_normals(
    tmp_path: Path, group: str, normals: str, said: bool
) -> None:
    path = written(tmp_path, "a.obj", f"v 0 0 0\nv 1 0 0\nv 0 1 0\n{normals}{group}\nf 1 2 3\n")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        meshes.load(path)
        meshes.load(path, attributes=False)
    assert ["smoothing" in str(one.message) for one in caught] == [True] * said
