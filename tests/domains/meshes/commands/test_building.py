from __future__ import annotations

import json
from pathlib import Path

import pytest

from hra.domains import meshes
from tests.helpers.mesh_commands_cases import result, run


def test_build_and_info_tell_the_same(ball: Path) -> None:
    built, known = json.loads((ball / "build.json").read_text()), result(ball, "info")
    assert built == known
    assert known["triangles"] == 20 * 4**5
    assert known["build_source"] == "ball.ply"
    assert known["build_cpu_s"] > 0 and known["build_wall_s"] > 0
    assert known["pages"] >= 2 and known["page_bytes"] <= known["pages"] * 2**17


def test_info_reads_no_page(ball: Path, tmp_path: Path) -> None:
    content = bytearray((ball / "ball.hra").read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "spoilt.hra").write_bytes(content)
    assert run("info", tmp_path / "spoilt.hra") == 0
    assert run("check", tmp_path / "spoilt.hra") == 2


def test_building_with_other_threads_gives_the_same_mesh(ball: Path, tmp_path: Path) -> None:
    arguments = ("--threads", 1, "--cluster-size", 32, "--group-size", 4)
    assert run("build", ball / "ball.ply", "-o", tmp_path / "a.hra", *arguments) == 0
    asset = meshes.open_asset(tmp_path / "a.hra")
    assert asset.facts["certified"] and asset.report is not None
    assert asset.report.threads == 1 and asset.report.settings["cluster_size"] == 32
    assert asset.triangles_per_cluster.max() <= 32


def test_check_passes(ball: Path) -> None:
    report = result(ball, "check", "--cuts", 30)
    assert report["sound"] and report["cuts"] == 30 and report["closed"]


def test_a_build_is_silent_in_a_pipe(ball: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("build", ball / "ball.ply", "-o", ball / "again.hra") == 0
    assert capsys.readouterr().err == ""
