from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers.mesh_commands_cases import result, run


def test_a_pixel_error_is_a_bound_or_called_an_estimate(ball: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bound = result(ball, "cut", "--pixels", 3)
    assert (bound["error"], bound["certified"]) == ("certified", True)
    assert capsys.readouterr().err == ""
    for name, chosen in (("plain", ()), ("ball", ("--error", "quadric"))):
        arguments = (ball / f"{name}.hra", "--pixels", 3, *chosen, "--json", ball / "estimate.json")
        assert run("cut", *arguments) == 0
        estimate = json.loads((ball / "estimate.json").read_text())
        assert (estimate["error"], estimate["certified"]) == ("quadric", False)
        assert "estimate" in capsys.readouterr().err
    assert result(ball, "info")["certified"] is True


def test_a_budget_needs_no_bound(ball: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("cut", ball / "plain.hra", "--triangles", 5000, "--json", ball / "estimate.json") == 0
    assert json.loads((ball / "estimate.json").read_text())["certified"] is False
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("suffix", ["glb", "obj", "ply"])
@pytest.mark.parametrize("limit", [30_000, 64_000, 200_000])
def test_bytes_are_those_of_the_file(ball: Path, suffix: str, limit: int) -> None:
    record = result(ball, "cut", "--bytes", limit, "-o", ball / f"b.{suffix}")
    size = (ball / f"b.{suffix}").stat().st_size
    # A step is a group: some 400 triangles.
    assert limit - 8_000 < size == record["file_bytes"] <= limit


def test_bytes_for_everything_take_everything(ball: Path) -> None:
    assert result(ball, "cut", "--bytes", "50MB", "-o", ball / "b.glb")["triangles"] == 20 * 4**5


def test_bytes_below_the_coarsest_cut_are_refused(ball: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("cut", ball / "ball.hra", "--bytes", 500, "-o", ball / "never.glb") == 2
    assert "the coarsest cut takes" in capsys.readouterr().err and not (ball / "never.glb").exists()


def test_numbers_have_suffixes(ball: Path) -> None:
    short, long = (result(ball, "cut", "--triangles", number) for number in ("5k", 5000))
    assert short["triangles"] == long["triangles"]


def test_a_tolerance_that_the_budget_does_not_allow_is_said(ball: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("cut", ball / "ball.hra", "--triangles", 2000, "--pixels", 1, "--json", ball / "unmet.json")
    assert run(*arguments) == 1
    record = json.loads((ball / "unmet.json").read_text())
    assert record["tolerance_met"] is False and record["largest_error_px"] > record["tolerance_px"] == 1
    assert capsys.readouterr().out.splitlines()[-1].startswith("tolerance NOT met: ")
    assert result(ball, "cut", "--pixels", 1)["tolerance_met"] is True
    assert capsys.readouterr().out.splitlines()[-1].startswith("tolerance met: ")
