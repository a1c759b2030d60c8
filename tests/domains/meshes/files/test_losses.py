"""Colours of faces, options of textures, further properties: kept, or left out with a warning that names them."""

from __future__ import annotations

import io
import struct
import warnings
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from hra.domains import meshes
from hra.errors import RepairWarning
from tests.helpers.seamed_meshes import carried

SQUARE = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], float)
RED, BLUE = [255, 0, 0], [0, 0, 255]


def ply(vertex: str, face: str, rows: list[str], faces: list[str]) -> str:
    head = f"ply\nformat ascii 1.0\nelement vertex {len(rows)}\nproperty float x\nproperty float y\nproperty float z\n"
    head += f"{vertex}element face {len(faces)}\nproperty list uchar int vertex_indices\n{face}end_header\n"
    return head + "\n".join([*rows, *faces]) + "\n"


def rgb(extra: str = "") -> str:
    return "".join(f"property uchar {name}{extra}\n" for name in ("red", "green", "blue"))


PLACES = ["0 0 0", "1 0 0", "1 1 0", "0 1 0"]


def colors_of(mesh: meshes.TriangleMesh) -> list[list[int]]:
    """The one colour of each triangle."""
    found = carried(mesh).colors
    assert found is not None
    shades = found[mesh.triangles]
    assert (shades == shades[:, :1]).all()
    return shades[:, 0, :3].tolist()


def loaded(folder: Path, name: str, content: str | bytes) -> meshes.TriangleMesh:
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return meshes.load(folder / name)


@pytest.mark.parametrize(
    ("kind", "names", "values"),
    [
        ("int", "red green blue", "64 128 255"),
        ("ushort", "red green blue", "64 128 255"),
        ("ushort", "red green blue", "16448 32896 65535"),
        ("uchar", "diffuse_red diffuse_green diffuse_blue", "64 128 255"),
        ("float", "r g b", "0.25098 0.50196 1"),
    ],
)
def test_colours_of_ply_are_those_of_clouds(kind: str, names: str, values: str, tmp_path: Path):
    extra = "".join(f"property {kind} {name}\n" for name in names.split())
    mesh = loaded(tmp_path, "a.ply", ply(extra, "", [f"{place} {values}" for place in PLACES], ["3 0 1 2", "3 0 2 3"]))
    assert colors_of(mesh) == [[64, 128, 255]] * 2


def test_colours_outside_of_their_range_are_named(tmp_path: Path):
    extra = "".join(f"property float {name}\n" for name in ("red", "green", "blue"))
    (tmp_path / "a.ply").write_text(ply(extra, "", [f"{place} -1 300 0" for place in PLACES], ["3 0 1 2", "3 0 2 3"]))
    with pytest.warns(RepairWarning, match="colours of 4 vertices are outside of 0 to 1 and were clipped"):
        assert colors_of(meshes.load(tmp_path / "a.ply")) == [[0, 255, 0]] * 2


@pytest.mark.parametrize("faces", [[], ["3 0 1 2"]])
def test_strips_beside_faces_are_read(faces: list[str], tmp_path: Path):
    text = ply("", "", [*PLACES, "0 0 1"], faces)
    text = text.replace("end_header", "element tristrips 1\nproperty list int int vertex_indices\nend_header")
    (tmp_path / "a.ply").write_text(text + "4 0 1 4 3\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert len(meshes.load(tmp_path / "a.ply").triangles) == 2 + len(faces)


def test_what_is_lost_of_faces_is_named(tmp_path: Path):
    extra = "property int label\nproperty uchar flags\nproperty list uchar float weights\n"
    (tmp_path / "a.ply").write_text(ply("", extra, PLACES, ["3 0 1 2 7 0 1 0.5", "3 0 2 3 0 0 0"]))
    with pytest.warns(RepairWarning, match="left out were label of faces, weights of faces$"):
        meshes.load(tmp_path / "a.ply")


def test_strips_beside_faces_of_their_own_colours_are_named(tmp_path: Path):
    text = ply("", rgb(), PLACES, ["3 0 1 2 255 0 0", "3 0 2 3 255 0 0"])
    text = text.replace("end_header", "element tristrips 1\nproperty list int int vertex_indices\nend_header")
    (tmp_path / "a.ply").write_text(text + "3 0 1 3\n")
    with pytest.warns(RepairWarning, match="1 triangles of strips were left out: faces have colours or coordinates"):
        assert colors_of(meshes.load(tmp_path / "a.ply")) == [RED, RED]


def test_face_colours_of_ply_are_kept(tmp_path: Path):
    text = ply("", rgb(), PLACES, ["3 0 1 2 255 0 0", "3 0 2 3 0 0 255"])
    assert colors_of(loaded(tmp_path, "a.ply", text)) == [RED, BLUE]


def test_all_triangles_of_a_polygon_have_its_colour(tmp_path: Path):
    (tmp_path / "a.ply").write_text(ply("", rgb(), [*PLACES, "2 0 0"], ["4 0 1 2 3 255 0 0", "3 1 4 2 0 0 255"]))
    with pytest.warns(RepairWarning, match="polygons were triangulated"):
        assert colors_of(meshes.load(tmp_path / "a.ply")) == [RED, RED, BLUE]


def test_face_colours_beside_those_of_vertices_are_named(tmp_path: Path):
    text = ply(rgb(), rgb(), [f"{place} 0 0 255" for place in PLACES], ["3 0 1 2 255 0 0", "3 0 2 3 255 0 0"])
    (tmp_path / "a.ply").write_text(text)
    with pytest.warns(RepairWarning, match="colours of faces were left out: vertices have colours, too"):
        assert colors_of(meshes.load(tmp_path / "a.ply")) == [BLUE, BLUE]


def test_what_has_no_place_in_a_mesh_is_named(tmp_path: Path):
    text = ply("property float quality\n", "property int texnumber\n", [f"{p} 7" for p in PLACES], ["3 0 1 2 1"])
    text = text.replace("end_header", "element edge 1\nproperty int vertex1\nend_header") + "0\n"
    (tmp_path / "a.ply").write_text(text)
    named = "left out were quality of vertices, texnumber of faces, element edge"
    with pytest.warns(RepairWarning, match=named):
        meshes.load(tmp_path / "a.ply")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "a.ply: 1 vertices without a face", RepairWarning)
        warnings.filterwarnings("ignore", ".*vertices without a face")
        meshes.load(tmp_path / "a.ply", attributes=False)


def stl(numbers: list[int], head: bytes = b"") -> bytes:
    corners = [SQUARE[[0, 1, 2]], SQUARE[[0, 2, 3]]]
    rows = [
        struct.pack("<3f", 0, 0, 1) + three.astype("<f4").tobytes() + struct.pack("<H", number)
        for three, number in zip(corners, numbers, strict=True)
    ]
    return head.ljust(80, b"\0") + struct.pack("<I", len(rows)) + b"".join(rows)


def test_colours_of_binary_stl_are_kept_in_both_ways_to_write_them(tmp_path: Path):
    viscam = stl([0x8000 | 31 << 10, 0x8000 | 31])
    assert colors_of(loaded(tmp_path, "viscam.stl", viscam)) == [RED, BLUE]
    assert colors_of(loaded(tmp_path, "some.stl", stl([0x8000 | 31 << 10, 0]))) == [RED, [255, 255, 255]]
    magics = stl([31, 0x8000], b"COLOR=" + bytes([0, 0, 255, 255]))
    assert colors_of(loaded(tmp_path, "magics.stl", magics)) == [RED, BLUE]
    assert loaded(tmp_path, "plain.stl", stl([0, 0])).attributes is None


def test_numbers_of_stl_that_are_no_colours_are_named(tmp_path: Path):
    (tmp_path / "a.stl").write_bytes(stl([7, 0]))
    with pytest.warns(RepairWarning, match="the numbers of 1 triangles are not colours and were left out"):
        assert meshes.load(tmp_path / "a.stl").attributes is None


def textured(folder: Path, words: str) -> Path:
    out = io.BytesIO()
    Image.new("RGB", (2, 2), (9, 8, 7)).save(out, "PNG")
    (folder / "my map 2.png").write_bytes(out.getvalue())
    (folder / "a.mtl").write_text(f"newmtl one\nmap_Kd {words}\n")
    text = "mtllib a.mtl\nusemtl one\n" + "".join(f"v {place}\n" for place in PLACES)
    text += "".join(f"vt {u} {v}\n" for u, v in ((0, 0), (1, 0), (1, 1), (0, 1)))
    (folder / "a.obj").write_text(text + "f 1/1 2/2 3/3\nf 1/1 3/3 4/4\n")
    return folder / "a.obj"


@pytest.mark.parametrize(
    ("words", "scale", "offset"),
    [
        ("my map 2.png", (1, 1), (0, 0)),
        ("-s 2 3 1 my map 2.png", (2, 3), (0, 0)),
        ("-s 4 my map 2.png", (4, 1), (0, 0)),
        ("-o 0.5 0.25 -s 2 2 my map 2.png", (2, 2), (0.5, 0.25)),
        ("-blendu on -clamp on -o 0.5 my map 2.png", (1, 1), (0.5, 0)),
    ],
)
def test_a_texture_behind_options_is_found_scaled_and_moved(
    words: str, scale: tuple[float, float], offset: tuple[float, float], tmp_path: Path
):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mesh = meshes.load(textured(tmp_path, words))
    held = carried(mesh)
    assert held.materials[0].image == (tmp_path / "my map 2.png").read_bytes()
    assert held.materials[0].sampler.wrap_s == ("CLAMP_TO_EDGE" if "-clamp" in words else "REPEAT")
    wanted = mesh.positions[:, :2] * scale + offset  # coordinates are places here
    assert held.uv is not None
    assert np.allclose(held.uv, np.stack([wanted[:, 0], 1 - wanted[:, 1]], axis=1), atol=1e-6)


def test_other_options_and_textures_are_named(tmp_path: Path):
    file = textured(tmp_path, "-mm 0.1 0.5 -t 1 1 1 my map 2.png\nmap_Bump my map 2.png\nKe 0 0.5 0")
    with pytest.warns(RepairWarning) as caught:
        held = carried(meshes.load(file))
    said = " ".join(str(warning.message) for warning in caught)
    assert "the options -mm, -t of its texture were left out" in said
    assert "the textures map_bump were left out: of MTL only map_Kd is read" in said
    assert held.materials[0].image and held.materials[0].emissive == (0.0, 0.5, 0.0)
