"""``hra explore``: one page for everything that it is given."""

from __future__ import annotations

import socket

import numpy as np
import pytest
from typer.testing import CliRunner

from hra.cli import app
from hra.errors import HraError
from hra.files.images import save_png


@pytest.fixture
def picture(tmp_path):
    path = tmp_path / "picture.png"
    save_png(path, np.random.default_rng(0).random((64, 80, 3)))
    return path


def test_a_page_is_written_for_images_as_tokens_and_as_texture(picture, tmp_path):
    for view in ("tokens", "texture"):
        page = tmp_path / f"{view}.html"
        result = CliRunner().invoke(app, ["explore", str(picture), "--view", view, "-o", str(page)])
        assert result.exit_code == 0, result.output
        assert f'"kind": "{view}"' in page.read_text("utf-8")


def test_an_unknown_view_is_refused_before_anything_is_written(picture, tmp_path):
    result = CliRunner().invoke(app, ["explore", str(picture), "--view", "cube", "-o", str(tmp_path / "page.html")])
    assert isinstance(result.exception, HraError) and "cube" in str(result.exception)
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize("name", ["cloud.laz", "cloud.copc.laz", "cloud.hpt", "splats.SPZ", "cloud.e57"])
def test_points_are_refused_as_points(name, tmp_path):
    result = CliRunner().invoke(app, ["explore", name, "-o", str(tmp_path / "page.html")])
    assert isinstance(result.exception, HraError) and "points" in result.exception.what
    assert "hra points" in result.exception.fix


def test_a_page_has_the_suffix_of_one(picture, tmp_path):
    result = CliRunner().invoke(app, ["explore", str(picture), "-o", str(tmp_path / "page.png")])
    assert isinstance(result.exception, HraError) and ".html" in str(result.exception)


def test_a_port_that_is_taken_is_told_before_the_page_is_made(picture, monkeypatch):
    pytest.importorskip("uvicorn")
    monkeypatch.setattr("hra.pages.explore.request.views_of", lambda *given: pytest.fail("a page was made"))
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        result = CliRunner().invoke(app, ["explore", str(picture), "--serve", "--port", str(port)])
    assert isinstance(result.exception, HraError) and str(port) in result.exception.what
    assert result.exception.where == "--port" and "open http" not in result.output


@pytest.mark.parametrize(
    ("options", "name"),
    [
        (["--view", "texture", "--query", "what?"], "--query"),
        (["--port", "9000"], "--port"),
        (["--serve", "-o", "page.html"], "--out"),
    ],
)
def test_an_option_that_would_be_ignored_is_refused(picture, options, name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["explore", str(picture), *options])
    assert isinstance(result.exception, HraError) and result.exception.where == name


def test_a_mesh_has_no_views_of_images(tmp_path):
    mesh = tmp_path / "triangle.obj"
    mesh.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    result = CliRunner().invoke(app, ["explore", str(mesh), "--view", "texture", "-o", str(tmp_path / "page.html")])
    assert isinstance(result.exception, HraError) and result.exception.where == "--view"


def test_sliders_begin_at_a_budget_of_zero(picture, tmp_path):
    page = tmp_path / "page.html"
    result = CliRunner().invoke(app, ["explore", str(picture), "--budget", "0", "-o", str(page)])
    assert result.exit_code == 0 and '"start": 0' in page.read_text("utf-8")
