"""``hra mesh export`` and the levels in GLB and USD files."""

import json

import pytest

import hra
from hra.domains import meshes
from hra.domains.meshes.files.gltf_files import split_glb
from tests.helpers.command import run_hra

SKULL = str(hra.samples.path("skull.ply"))


def test_tiles_from_the_command_line(tmp_path):
    options = "--format", "3dtiles", "-o", tmp_path / "t", "--json", tmp_path / "facts.json"
    assert run_hra("mesh", "export", SKULL, *options) == 0
    facts = json.loads((tmp_path / "facts.json").read_text())
    report = meshes.check_tileset(tmp_path / "t", cuts=20)
    assert report.sound and report.tiles == facts["tiles"]
    assert facts["bytes"] == sum(file.stat().st_size for file in (tmp_path / "t").glob("t*"))


def test_glb_and_its_levels(tmp_path):
    for kind, name in (("glb", "a.glb"), ("glb-lod", "b.glb")):
        assert run_hra("mesh", "export", SKULL, "--format", kind, "-o", tmp_path / name) == 0
    one, several = (json.loads(split_glb((tmp_path / name).read_bytes(), "")[0]) for name in ("a.glb", "b.glb"))
    assert "EXT_meshopt_compression" in one["extensionsRequired"]
    assert several["nodes"][0]["extensions"]["MSFT_lod"]["ids"] == [1, 2, 3]


@pytest.mark.parametrize(("format", "name"), [("glb", "a.usdc"), ("glb-lod", "folder"), ("usd", "a.glb")])
def test_other_suffixes_are_refused(format, name, tmp_path, capsys):
    assert run_hra("mesh", "export", SKULL, "--format", format, "-o", tmp_path / name) == 2
    assert "has another suffix" in capsys.readouterr().err and not (tmp_path / name).exists()


def test_the_mesh_itself_is_not_written_over(tmp_path, capsys, monkeypatch):
    mesh = tmp_path / "a.glb"
    mesh.write_bytes(b"kept")
    words = "mesh", "export", mesh, "--format", "glb", "-o", mesh
    monkeypatch.setattr("sys.argv", ["hra", *map(str, words)])
    assert run_hra(*words) == 2
    assert "would write over it" in capsys.readouterr().err and mesh.read_bytes() == b"kept"
