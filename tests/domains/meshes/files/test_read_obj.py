"""MTL files: what a material says becomes the numbers of glTF, and what it does not say has defaults."""

from __future__ import annotations

import io
from dataclasses import replace
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
        ("Kd 0 0 0", plain(0.0)),
        ("Kd 0.25", plain(0.25)),
        ("KD 0.25 0.25 0.25 # grey", plain(0.25)),
        ("Kd", plain()),
        ("d 0.5", plain(opacity=0.5)),
        ("d 0", plain(opacity=0.0)),
        ("Tr 0.25", plain(opacity=0.75)),
        ("Tr 0.25\nd 0.5", plain(opacity=0.5)),
        ("Pr 0.25\nNs 6\nPs 0", plain(roughness=0.25)),
        ("Pm 0.5", replace(plain(), metallic=0.5)),
        ("Ns 6", plain(roughness=0.5)),
        ("ns 0.5", plain(roughness=0.8**0.5)),
        *((f"Ns {word}", plain()) for word in ("0", "-5", "inf", "nan", "x")),
        ("# Ns 6\n#Kd 0 0 0\nillum 2", plain()),
    ],
)
def test_numbers_and_their_defaults(text: str, expected: Material, tmp_path: Path) -> None:
    assert material(text, tmp_path) == expected


@pytest.mark.parametrize(
    ("text", "expected", "said"),
    [
        ("Kd 2 2 2", plain(1.0), "kd '2 2 2' became 1 1 1"),
        *(
            (f"Kd {words}", plain(), f"kd '{words}' is not of 3 numbers >= 0 and was left out")
            for words in ("inf 0 0", "nan 0 0", "0.5 0.5", "-1 0 0", "x 0 0", "spectral a.rfl")
        ),
        ("Tr inf", plain(), "tr 'inf' is not of 1 numbers >= 0 and was left out"),
        ("d -halo 0.5", plain(opacity=0.5), "d '-halo 0.5' became 0.5"),
        ("Ps 0.5\naniso 1", plain(), "ps, aniso have no place and were left out"),
    ],
)
def test_what_does_not_fit_is_named(text: str, expected: Material, said: str, tmp_path: Path) -> None:
    with pytest.warns(RepairWarning) as found:
        assert material(text, tmp_path) == expected
    assert [str(one.message) for one in found] == [f"a.mtl, material 'a b': {said}"]


CORNERS = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"


@pytest.mark.parametrize("kind", ["latin-1", "utf-8", "utf-8-sig"])
def test_names_of_materials_are_the_same_in_every_encoding(kind: str, tmp_path: Path) -> None:
    (tmp_path / "a.mtl").write_bytes("newmtl Größe\nKd 1 0 0\n".encode(kind))
    (tmp_path / "a.obj").write_bytes(f"mtllib a.mtl\n{CORNERS}usemtl Größe\nf 1 2 3\n".encode(kind))
    found = meshes.load(tmp_path / "a.obj").attributes
    assert found is not None and found.materials[0].base_color == (1.0, 0.0, 0.0, 1.0)


def test_materials_that_no_file_has_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.mtl").write_text("newmtl here\nKd 1 0 0\n")
    faces = "usemtl here\nf 1 2 3\nusemtl gone\nf 1 2 4\nusemtl\nf 1 3 4\n"
    (tmp_path / "a.obj").write_text(f"mtllib a.mtl\n{CORNERS}{faces}")
    with pytest.warns(RepairWarning, match="1 materials that no material file has became plain ones: 'gone'"):
        meshes.load(tmp_path / "a.obj")


def test_colours_up_to_255_are_of_8_bits_and_named(tmp_path: Path) -> None:
    shades = ("128 64 0", "", "255 0 0", "0 0 255")
    rows = [f"{row} {shade}\n" for row, shade in zip(CORNERS.splitlines(), shades, strict=True)]
    (tmp_path / "a.obj").write_text("".join(rows) + "f 1 2 3\nf 1 2 4\n")
    with pytest.warns(RepairWarning, match="colours go up to 255, and were read as numbers from 0 to 255"):
        found = meshes.load(tmp_path / "a.obj").attributes
    assert found is not None and found.colors is not None
    assert found.colors[:, :3].tolist() == [[128, 64, 0], [255, 255, 255], [255, 0, 0], [0, 0, 255]]


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
