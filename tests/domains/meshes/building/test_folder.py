"""Folders of meshes: what one file gives, errors by name, and the way back after an interruption."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from hra.domains import meshes
from hra.domains.meshes.commands import app
from hra.errors import HraError

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
