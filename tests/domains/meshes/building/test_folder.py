"""Folders of meshes: what one file gives, errors by name, and the way back after an interruption."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from random import Random

import numpy as np
import pytest
from typer.testing import CliRunner

from hra.domains import meshes
from hra.domains.meshes.commands import app
from hra.errors import HraError
from tests.helpers.killing import forked

BOX = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "in"
    (root / "more").mkdir(parents=True)
    (root / "a.obj").write_text(BOX)
    (root / "more" / "b.obj").write_text(BOX.replace("v 1 0 0", "v 2 0 0"))
    (root / "bad.ply").write_text("no mesh")
    return root


def test_every_mesh_is_that_of_its_own_build(folder: Path, tmp_path: Path):
    seen: list[tuple[int, int]] = []
    report = meshes.build_folder(folder, tmp_path / "out", jobs=2, progress=lambda *numbers: seen.append(numbers))
    assert (report.meshes, report.resumed, list(report.errors)) == (3, 0, ["bad.ply"])
    assert report.errors["bad.ply"].startswith("invalid-") and seen == [(0, 3), (1, 3), (2, 3), (3, 3)]
    for name, source in (("a.obj.hra", "a.obj"), ("more__b.obj.hra", "more/b.obj")):
        built, alone = meshes.load_clusters(tmp_path / "out" / name), meshes.build(folder / source)
        np.testing.assert_array_equal(built.positions, alone.positions)
        assert built.triangle_count == alone.triangle_count == 4
    kept = (tmp_path / "out" / "a.obj.hra").read_bytes()
    (tmp_path / "out" / "more__b.obj.hra").unlink()
    again = meshes.build_folder(folder, tmp_path / "out")
    assert again.resumed == 1 and again.errors == report.errors
    assert (tmp_path / "out" / "a.obj.hra").read_bytes() == kept and (tmp_path / "out" / "more__b.obj.hra").exists()
    with pytest.raises(HraError, match="certified differ"):
        meshes.build_folder(folder, tmp_path / "out", certified=False)
    with pytest.raises(HraError, match="appearance"):
        meshes.build_folder(folder, tmp_path / "out", appearance=True)
    meshes.build_folder(folder, tmp_path / "looks", appearance=True)
    assert "normal_change" in meshes.open_asset(tmp_path / "looks" / "a.obj.hra").hierarchy.node


@pytest.mark.parametrize("kills", [3, pytest.param(20, marks=pytest.mark.slow)])
def test_killed_at_random_moments_the_files_are_the_same(folder: Path, tmp_path: Path, kills: int):
    for number in range(6):
        ball = "".join(f"v {x} {y} {number}\n" for x in range(9) for y in range(9))
        faces = (f"f {i} {i + 1} {i + 10}\nf {i} {i + 10} {i + 9}\n" for i in range(1, 72) if i % 9)
        (folder / f"sheet{number}.obj").write_text(ball + "".join(faces))

    def content(out: Path) -> dict[str, tuple[bytes, ...]]:
        """All but the seconds that a build reports of itself."""
        found = {path.name: meshes.load_clusters(path) for path in out.glob("*.hra")}
        assert set(found) | {"job.json"} == {path.name for path in out.iterdir()}
        parts = ((mesh.positions, mesh.triangles(np.arange(len(mesh.hierarchy.node_cost)))) for mesh in found.values())
        return {name: tuple(array.tobytes() for array in arrays) for name, arrays in zip(found, parts, strict=True)}

    def build(out: Path) -> None:
        meshes.build_folder(folder, out, certified=False)

    build(tmp_path / "warm")  # compiles
    began = time.monotonic()
    build(tmp_path / "known")
    whole, known, random, killed = time.monotonic() - began, content(tmp_path / "known"), Random(0), 0
    assert len(known) == 8
    while killed < kills:
        out = tmp_path / f"killed{killed}"
        child = forked(lambda out=out: build(out))
        time.sleep(random.uniform(0, whole))
        os.kill(child, signal.SIGKILL)
        killed += os.WIFSIGNALED(os.waitpid(child, 0)[1])
        build(out)
        assert content(out) == known


def test_two_meshes_of_one_name_are_refused(folder: Path, tmp_path: Path):
    (folder / "more__b.obj").write_text(BOX)
    with pytest.raises(HraError, match="one file"):
        meshes.build_folder(folder, tmp_path / "out")


def test_the_command(folder: Path, tmp_path: Path):
    def run(*arguments: object):
        return CliRunner().invoke(app, ["build", *map(str, arguments)])

    done = run(folder, "-o", tmp_path / "out", "--no-certified")
    assert done.exit_code == 1 and "bad.ply: invalid-" in done.output
    (folder / "bad.ply").unlink()
    assert "another job" in str(run(folder, "-o", tmp_path / "out", "--no-certified").exception)
    assert run(folder, "-o", tmp_path / "new", "--no-certified").exit_code == 0
    for arguments, what in (
        ((folder, "-o", tmp_path / "x.hra"), "go to a folder"),
        ((folder, "-o", tmp_path / "out", "--threads", 2), "one thread each"),
        ((folder / "a.obj", "-o", tmp_path / "a.hra", "--jobs", 2), "one process"),
        ((folder / "a.obj", "-o", tmp_path / "a.ply"), "not written here"),
        ((folder / "a.obj", "-o", tmp_path / "a"), "says no format"),
    ):
        assert what in str(run(*arguments).exception)
