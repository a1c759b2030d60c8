"""Real meshes out of packages, as far as `make data` has fetched them: every build passes the check on random cuts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
MESHES = ROOT / "data" / "meshes"


def check_folder(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts" / "check_meshes.py"), str(folder), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.skipif(not MESHES.is_dir(), reason="`make data` has not been run")
def test_every_fetched_mesh_passes():
    done = check_folder(MESHES, "--cuts", "200")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("| ok |") >= 12, done.stdout


def test_the_table_lists_good_meshes_and_refused_files(tmp_path: Path, bumpy, make_grid):
    bumpy.export(tmp_path / "ball.ply")
    make_grid(8).export(tmp_path / "sheet.stl")
    (tmp_path / "broken.obj").write_text("v 0 0 0\nf 1 2 3\n")
    done = check_folder(tmp_path, "--cuts", "5")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = {line.split("|")[1].strip(): line for line in done.stdout.splitlines() if line.startswith("| ")}
    assert "| 5,120 | yes |" in lines["ball.ply"] and "| ok |" in lines["ball.ply"]
    assert "| 128 | no |" in lines["sheet.stl"]
    assert "refused: " in lines["broken.obj"]
    assert "3 of 3 meshes pass" in done.stdout


def test_an_empty_folder_is_an_error(tmp_path: Path):
    assert check_folder(tmp_path).returncode == 1
