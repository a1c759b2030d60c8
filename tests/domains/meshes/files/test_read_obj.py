"""MTL files: what a material says becomes the numbers of glTF, and what it does not say has defaults."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image

from hra.domains import meshes
from hra.domains.meshes import Material
from hra.domains.meshes.files.read_obj import read_mtl
from hra.domains.meshes.files.resolver import SiblingFiles, Textures
from hra.errors import RepairWarning


def material(text: str, folder: Path) -> Material:
    files = SiblingFiles(folder)
    found = read_mtl(f"newmtl a b\n{text}\n".encode(), files, Textures(files), "a.mtl")
    assert list(found) == ["a b"]
    return found["a b"].material


def plain(color: float = 0.8, opacity: float = 1.0, roughness: float = 1.0) -> Material:
    base, mode = (color, color, color, opacity), "BLEND" if opacity < 1 else "OPAQUE"
    return Material("a b", base, metallic=0.0, roughness=roughness, alpha_mode=mode)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", plain()),
        ("Kd 0.25 0.25 0.25", plain(0.25)),
        ("Kd 2 2 2", plain(1.0)),
        ("Kd 0 0 0", plain(0.0)),
        *((f"Kd {words}", plain()) for words in ("inf 0 0", "nan 0 0", "0.5 0.5", "-1 0 0", "x 0 0", "")),
        ("d 0.5", plain(opacity=0.5)),
        ("d 0", plain(opacity=0.0)),
        ("Tr 0.25", plain(opacity=0.75)),
        ("Tr 0.25\nd 0.5", plain(opacity=0.5)),
        ("Tr inf", plain()),
        ("Ns 6", plain(roughness=0.5)),
        ("ns 0.5", plain(roughness=0.8**0.5)),
        *((f"Ns {word}", plain()) for word in ("0", "-5", "inf", "nan", "x")),
        ("# Ns 6\n#Kd 0 0 0\nillum 2", plain()),
    ],
)
def test_numbers_and_their_defaults(text: str, expected: Material, tmp_path: Path) -> None:
    assert material(text, tmp_path) == expected


def test_a_texture_makes_the_colour_white(tmp_path: Path) -> None:
    out = io.BytesIO()
    Image.new("RGB", (2, 2), (9, 8, 7)).save(out, "PNG")
    (tmp_path / "my map.png").write_bytes(out.getvalue())
    expected = Material("a b", (1.0, 1.0, 1.0, 1.0), out.getvalue(), metallic=0.0, roughness=1.0)
    assert material("Kd 0 0 0\nmap_Kd my map.png", tmp_path) == expected
    with pytest.warns(RepairWarning, match="a.mtl, material 'a b': the texture 'no.png' is missing"):
        assert material("Kd 0.5 0.5 0.5\nmap_Kd -s 1 1 1 no.png", tmp_path) == plain(0.5)


def test_textures_count_from_the_folder_of_their_material_file(tmp_path: Path) -> None:
    out = io.BytesIO()
    Image.new("RGB", (2, 2), (9, 8, 7)).save(out, "PNG")
    for name in ("looks/maps/a.png", "b.png"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(out.getvalue())
    lines = ("newmtl own\nmap_Kd maps\\a.png", "newmtl up\nmap_Kd ../b.png", "newmtl mesh\nmap_Kd b.png")
    (tmp_path / "looks/a.mtl").write_text("\n".join(lines))
    faces = "".join(f"usemtl {name}\nf 1 2 3\nf 1 3 4\n" for name in ("own", "up", "mesh"))
    (tmp_path / "a.obj").write_text(f"mtllib looks\\a.mtl\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n{faces}")
    found = meshes.load(tmp_path / "a.obj").attributes
    assert found is not None
    assert [m.image for m in found.materials] == [out.getvalue()] * len(found.materials)


def test_a_line_may_name_several_material_files(tmp_path: Path) -> None:
    for name, color in (("a b.mtl", "1 0 0"), ("c.MTL", "0 1 0")):
        (tmp_path / name).write_text(f"newmtl {name[0]}\nKd {color}\n")
    corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
    (tmp_path / "a.obj").write_text(f"mtllib a b.mtl c.MTL\n{corners}usemtl a\nf 1 2 3\nusemtl c\nf 1 2 4\n")
    found = meshes.load(tmp_path / "a.obj").attributes
    assert found is not None
    assert [m.base_color for m in found.materials] == [(1.0, 0.0, 0.0, 1.0), (0.0, 1.0, 0.0, 1.0)]
