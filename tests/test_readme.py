"""The README's Python block runs as it stands, and the page stays short."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"


def test_every_python_block_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    blocks = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    assert len(blocks) == 1
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(README), "exec"), names)
    printed = capsys.readouterr().out
    assert re.search(r"of 10,000 triangles, residual .* px2", printed)
    assert (tmp_path / "skull_10k.glb").stat().st_size > 100_000


def test_named_files_exist():
    links = re.findall(r"\]\(([^)#]+)\)", README.read_text("utf-8"))
    missing = [link for link in links if "://" not in link and not (README.parent / link).exists()]
    assert links and not missing


def test_start_lists_all_extras():
    """The page says so; a dozen were missing."""
    project = tomllib.loads((README.parent / "pyproject.toml").read_text("utf-8"))["project"]
    table = (README.parent / "docs/start.md").read_text("utf-8").partition("| extra | for |")[2].partition("\n\n")[0]
    own = {"docs", "fuzz", "test"}  # for those who work on hra
    assert set(project["optional-dependencies"]) - own - set(re.findall(r"`([a-z]+)`", table)) == set()


def test_it_stays_short():
    assert len(README.read_bytes()) <= 5000
