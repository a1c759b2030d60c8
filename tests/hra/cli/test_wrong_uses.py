"""What people type by mistake: exit code 2 and three lines, which name the mistake and the way on."""

from __future__ import annotations

import json
import os
import shutil
import struct
import sys
import zlib
from pathlib import Path

import pytest
import trimesh
from PIL import Image

from hra.domains import meshes
from hra.domains.meshes.asset.layout import HEADER_BYTES
from tests.helpers.command import run_hra

# The command, what its first line says, and what its last line says.
WRONG: list[tuple[str, str, str]] = [
    ("mehs build a.ply", "no such command 'mehs'", "hra --help"),
    ("mesh biuld a.ply -o b.hra", "did you mean 'build'", "hra mesh --help"),
    ("--budget 5", "no such option", "hra --help"),
    ("texture plan a.png --budget 5", "no such option", "hra texture plan [OPTIONS]"),
    ("texture plan a.png --pol 5", "no such option", "use --pool"),
    ("mesh build", "missing argument", "hra mesh build --help"),
    ("mesh build a.ply", "missing option '-o'", "hra mesh build --help"),
    ("mesh build a.ply b.hra", "missing option '-o'", "hra mesh build"),
    ("mesh build a.ply -o b.hra c.hra", "unexpected extra argument", "hra mesh build"),
    ("mesh build a.ply -o", "requires an argument", "hra mesh build --help"),
    ("mesh build a.ply -o b.hra --threads two", "valid", "hra mesh build --help"),
    ("mesh build a.ply -o b.hra --threads 0", "1", "hra mesh build"),
    ("mesh build a.ply -o b.hra --cluster-size 65", "cluster_size must be", "16 to 128"),
    ("mesh build a.ply -o b.hra --memory much", "not a byte count", "64MB"),
    ("mesh build a.ply -o b.ply", "'.ply' is not written", "use .hra"),
    ("mesh build a.ply -o no/b.hra", "the folder does not exist", "mkdir -p"),
    ("mesh build a.ply -o folder", "there is a folder", "name a file"),
    ("mesh build none.ply -o b.hra", "the file does not exist", "check the path"),
    ("mesh build folder -o b.hra", "go to a folder", "name a folder"),
    ("mesh build a.hra -o b.hra", "'.hra' is not read here", "built already"),
    ("mesh build a.txt -o b.hra", "'.txt' is not read here", ".obj"),
    ("mesh build nothing.ply -o b.hra", "the file is empty", "export it again"),
    ("mesh build points.ply -o b.hra", "no triangles", "point clouds"),
    ("mesh build headless.ply -o b.hra", "no vertices with x, y and z", "export it again"),
    ("mesh build text.ply -o b.hra", "", "export it again"),
    ("mesh build http://host/a.ply -o b.hra", "addresses are not read", "download the file"),
    ("mesh info a.ply", "'.ply' is not read here", "hra mesh build a.ply -o a.hra"),
    ("mesh info text.hra", "not a mesh asset", "hra mesh build SOURCE"),
    ("mesh info old.hra", "version 0 of the mesh asset is not read", "hra mesh build SOURCE"),
    ("mesh info later.hra", "version 99 of the mesh asset is not read", "update hra"),
    ("mesh info half.hra", "the mesh asset has", "copy it again"),
    ("mesh cut a.hra", "neither a budget nor an error", "--triangles 10k"),
    ("mesh cut a.ply --triangles 4", "'.ply' is not read here", "hra mesh build a.ply -o a.hra"),
    ("mesh cut a.hra --triangles many", "'many' is not a number", "10k or 2.5M"),
    ("mesh cut a.hra --triangles 10kk", "'10kk' is not a number", "10k or 2.5M"),
    ("mesh cut a.hra --triangles -4", "a budget", ""),
    ("mesh cut a.hra --triangles 1", "1 triangles do not cover", "use at least"),
    ("mesh cut a.hra --bytes 10", "the coarsest cut takes", "use at least"),
    ("mesh cut a.hra --bytes 10XB", "not a byte count", "512KiB"),
    ("mesh cut a.hra --bytes 1MB --triangles 9", "two budgets", "--triangles or --bytes"),
    ("mesh cut a.hra --pixels one", "valid", "hra mesh cut --help"),
    ("mesh cut a.hra --pixels -1", "tau must be", ""),
    ("mesh cut plain.hra --pixels 1 --error hausdorff", "built without the bounds", "--no-certified"),
    ("mesh cut a.hra --pixels 1 --error appearance", "the changes of normals", "--appearance"),
    ("mesh cut a.hra --pixels 1 --error deviation", "error 'deviation' is unknown", "certified, hausdorff, quadric"),
    ("mesh cut a.hra --triangles 9 --traversal best", "nothing is registered as 'best'", "best_first"),
    ("mesh cut a.hra --triangles 9 --traversal hull:speed=3", "no option 'speed'", "finish"),
    ("mesh cut a.hra --triangles 9 --metric area", "nothing is registered as 'area'", "screen_error"),
    ("mesh cut a.hra --triangles 9 -o a.blend", "'.blend' is not written", ".glb"),
    ("mesh cut a.hra --triangles 9 -o no/a.glb", "the folder does not exist", "mkdir -p"),
    ("mesh cut a.hra --triangles 9 --json no/a.json", "the folder does not exist", "mkdir -p"),
    ("mesh cut a.hra --triangles 9 --viewport big", "not a size", "1920x1080"),
    ("mesh cut a.hra --pixels 1 --eye 1,2", "not a point", "1,2,3"),
    ("mesh cut a.hra --pixels 1 --eye nan,0,0", "eye is nan", "finite numbers"),
    ("mesh cut a.hra --pixels 1 --target 1,2,3", "without an eye", "--eye"),
    ("mesh cut a.hra --pixels 1 --camera none.json", "the file does not exist", "check the path"),
    ("mesh cut a.hra --pixels 1 --camera keys.json", "a camera file has the keys", '"eye"'),
    ("mesh render a.hra", "missing option '-o'", "hra mesh render"),
    ("mesh render a.hra -o a.jpg", "'.jpg' is not written", "use .png"),
    ("mesh render a.hra -o a.png --color pink", "'pink' is not one of", "hra mesh render"),
    ("mesh view a.hra --screenshot a.gif", "'.gif' is not written", "use .png"),
    ("mesh lods a.ply -o out", "no levels were given", "--triangles 40k,10k,2.5k"),
    ("mesh lods a.ply -o out --ratios 5", "are not levels: these are shares", "--ratios .5,.25"),
    ("mesh lods a.ply -o out --triangles 9,1", "are not levels: these are numbers of triangles above 1", "--ratios"),
    ("mesh lods a.ply -o out --ratios .5 --triangles 9", "several kinds of levels", "use one of --triangles"),
    ("mesh lods a.ply -o a.obj --ratios .5", "'.obj' is not written", "use .glb"),
    ("mesh lods a.ply -o a.txt/out --ratios .5", "'a.txt' is a file", "name a folder"),
    ("texture plan a.ply", "not an image", "png"),
    ("texture plan none.png", "the file does not exist", "check the path"),
    ("texture plan s.png --pool much", "not a byte count", "64MB"),
    ("texture plan s.png -o s.svg", "'.svg' is not written", "use .png"),
    ("texture plan s.png --view 1,2", "not a view", "0,10,40"),
    ("texture replay none.npz", "the file does not exist", "check the path"),
    ("texture replay s.png --policy best", "best", "lru"),
    ("texture trace nowhere -o t.npz", "the file does not exist", "check the path"),
    ("tokens allocate none.png", "the file does not exist", "check the path"),
    ("tokens allocate s.png --budget abc", "is not a number", "10k"),
    ("tokens allocate s.png --budget 2.5", "is not a whole number", "10k"),
    ("tokens allocate s.png -o o.jpg", "is not written", ".png"),
    ("tokens allocate s.png --method best", "best", "foveated"),
    ("tokens compare s.png -o s.jpg", "'.jpg' is not written", "use .png"),
    ("bench everything", "'everything' is not one of", "hra bench"),
    ("eval nothing", "no such command 'nothing'", "hra eval"),
    ("eval vqa", "missing argument", "hra eval vqa"),
    ("eval encoder", "missing argument", "hra eval encoder"),
    ("verify none.npz", "the file does not exist", "check the path"),
    ("verify text.ply", "the archive is damaged", "save it again"),
    ("demo --out a.txt", "'a.txt'", "name a folder"),
    ("doctor now", "unexpected extra argument", "hra doctor --help"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wrong")
    ball = trimesh.creation.icosphere(subdivisions=3)
    mesh = meshes.from_arrays(ball.vertices, ball.faces)
    mesh.export(folder / "a.ply")
    meshes.build(mesh).save(folder / "a.hra")
    meshes.build(mesh, certified=False).save(folder / "plain.hra")
    content = (folder / "a.hra").read_bytes()
    (folder / "half.hra").write_bytes(content[: len(content) // 2])
    for name, version in (("old", 0), ("later", 99)):
        header = content[:12] + struct.pack("<I", version) + content[16 : HEADER_BYTES - 4]
        (folder / f"{name}.hra").write_bytes(header + struct.pack("<I", zlib.crc32(header)) + content[HEADER_BYTES:])
    for name in ("a.txt", "text.ply", "text.hra"):
        (folder / name).write_text("not what its name says")
    (folder / "nothing.ply").touch()
    vertices = "element vertex 1\nproperty float x\nproperty float y\nproperty float z\n"
    (folder / "points.ply").write_text(f"ply\nformat ascii 1.0\n{vertices}end_header\n0 0 0\n")
    (folder / "headless.ply").write_text("ply\nformat ascii 1.0\nend_header\n")
    (folder / "keys.json").write_text(json.dumps({"position": [0, 0, 5]}))
    Image.new("RGB", (64, 48), (10, 200, 30)).save(folder / "s.png")
    (folder / "folder").mkdir()
    return folder


def test_there_are_enough_of_them() -> None:
    assert len({command for command, _, _ in WRONG}) == len(WRONG) >= 60


@pytest.mark.parametrize(("command", "says", "helps"), WRONG, ids=[command for command, _, _ in WRONG])
def test_three_lines_and_exit_code_2(
    command: str,
    says: str,
    helps: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    before = sorted(os.listdir(folder))
    assert run_hra(*command.split()) == 2
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert [line.split(": ")[0] for line in lines] == ["error", "where", "fix"], err
    assert says.lower() in lines[0].lower(), err
    assert helps in lines[2], err
    assert lines[1] != "where: argument", err  # of which command, then?
    assert not out and sorted(os.listdir(folder)) == before


@pytest.mark.parametrize(
    ("command", "package", "extra"),
    [
        ("tokens allocate s.png", "PIL", "tokens"),
        ("mesh cut a.hra --triangles 500 -o a.obj", "trimesh", "formats"),
        ("mesh render a.hra -o a.png", "pyvista", "viz"),
    ],
)
def test_a_missing_package_comes_with_the_line_to_paste(
    command: str, package: str, extra: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setitem(sys.modules, package, None)
    assert run_hra(*command.split()) == 2
    lines = capsys.readouterr().err.splitlines()
    assert "is not installed" in lines[0]
    assert lines[2] == f"fix: {sys.executable} -m pip install 'hra[{extra}]'"


def test_warnings_are_one_line_each(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    Path("quad.obj").write_text("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n")
    assert run_hra("mesh", "build", "quad.obj", "-o", "quad.hra") == 0
    assert capsys.readouterr().err.splitlines() == ["warning: quad.obj: polygons were triangulated"]


def test_the_version_is_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    from hra import __version__

    assert run_hra("--version") == 0
    assert capsys.readouterr().out == f"hra {__version__}\n"


def test_what_is_written_can_be_a_link(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(folder / "a.hra", "a.hra")
    Path("there").mkdir()
    Path("link.json").symlink_to("there/a.json")
    assert run_hra("mesh", "info", "a.hra", "--json", "link.json") == 0
    assert Path("there/a.json").exists() and Path("link.json").is_symlink()
