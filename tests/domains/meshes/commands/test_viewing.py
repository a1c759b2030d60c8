from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.helpers.mesh_commands_cases import result, run


@pytest.mark.gl
def test_pictures_and_windows_take_them_too(ball: Path) -> None:
    options = ("--triangles", 3000, "--viewport", "80x60", "--traversal", "hull:finish=none")
    options = (*options, "--metric", "screen_error")
    assert result(ball, "render", "-o", ball / "t.png", *options)["triangles"] <= 3000
    assert run("view", ball / "ball.hra", *options, "--screenshot", ball / "t.png") == 0


@pytest.mark.gl
@pytest.mark.parametrize("color", ["shaded", "cluster", "level", "error"])
def test_render_draws_the_ball(ball: Path, color: str) -> None:
    record = result(
        ball, "render", "-o", ball / "r.png", "--color", color, "--triangles", 3000, "--viewport", "320x240"
    )
    assert record["triangles"] <= 3000
    picture = np.asarray(Image.open(ball / "r.png"))
    assert picture.shape == (240, 320, 3)
    # The ball fills the narrower half of the view: its centre is drawn, the corners are not.
    background = picture[0, 0].astype(int)
    covered = np.abs(picture.astype(int) - background).sum(axis=2) > 30
    assert covered[120, 160] and not covered[::239, ::319].any()
    assert 0.15 < covered[:, :270].mean() < 0.6
    colors = len(np.unique(picture[100:140, 140:180].reshape(-1, 3), axis=0))
    assert colors > 10


@pytest.mark.gl
def test_a_picture_in_a_missing_folder_is_refused(ball: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("render", ball / "ball.hra", "-o", ball / "no" / "x.png", "--viewport", "40x30") == 2
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.gl
def test_view_saves_a_screenshot(ball: Path) -> None:
    arguments = ("--screenshot", ball / "v.png", "--triangles", 2000, "--viewport", "400x300")
    assert run("view", ball / "ball.hra", *arguments) == 0
    assert Image.open(ball / "v.png").size == (400, 300)


def test_view_without_a_display_is_refused(ball: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    assert run("view", ball / "ball.hra") == 2
    said = capsys.readouterr().err
    assert "no display" in said and "--screenshot PNG" in said


def test_without_pyvista_the_extra_is_named(ball: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setitem(sys.modules, "pyvista", None)
    assert run("render", ball / "ball.hra", "-o", ball / "x.png") == 2
    assert "hra[viz]" in capsys.readouterr().err


def test_a_view_without_either_library_names_both_extras(ball: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    for name in ("imgui_bundle", "pyvista"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setenv("DISPLAY", ":0")
    assert run("view", ball / "ball.hra") == 2
    said = capsys.readouterr().err
    assert "note: drawn by PyVista" in said and "hra[window]" in said and "hra[viz]" in said
    assert run("view", ball / "ball.hra", "--pool", "1MB") == 2
    said = capsys.readouterr().err
    assert "hra[window]" in said and "hra[viz]" not in said


@pytest.mark.gl
def test_a_screenshot_falls_back_to_pyvista(ball: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setitem(sys.modules, "moderngl", None)
    options = ("--triangles", 2000, "--viewport", "80x60", "--screenshot", ball / "p.png")
    assert run("view", ball / "ball.hra", *options) == 0
    assert "note: drawn by PyVista" in capsys.readouterr().err and Image.open(ball / "p.png").size == (80, 60)


@pytest.mark.gl
def test_a_screenshot_waits_for_the_pool(ball: Path, capsys) -> None:
    options = ("--pixels", 1, "--color", "overdraw", "--viewport", "80x60", "--screenshot", ball / "p.png")
    assert run("view", ball / "ball.hra", *options, "--pool", "1MB") == 0
    said = capsys.readouterr().out
    assert "of 1." in said or "of 0." in said
    assert "to come" not in said and np.asarray(Image.open(ball / "p.png")).max() > 0
