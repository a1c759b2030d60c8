"""``hra warm-up``: what ran, what was skipped, and what failed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hra.cli import warm_up
from hra.plugins import available
from tests.helpers.command import run_hra

FINE = ("-c", "import hra")
LACKS = ("-c", "import sys; print(\"error: the package 'x' is not installed\", file=sys.stderr); sys.exit(2)")
FAILS = ("-c", "raise ValueError('broken')")


def run(chores: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[int, dict]:
    monkeypatch.setattr(warm_up, "_chores", lambda folder: chores)
    code = run_hra("warm-up", "--json", tmp_path / "w.json")
    return code, json.loads((tmp_path / "w.json").read_text())


def test_what_an_extra_lacks_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    code, record = run({"a": [FINE], "b": [LACKS, FAILS]}, tmp_path, monkeypatch)
    assert code == 0 and "skipped: the package 'x' is not installed" in capsys.readouterr().out
    assert list(record) == ["a", "b"] and record["a"]["seconds"] > 0
    assert (record["a"]["skipped"], record["b"]["skipped"]) == (False, True)


def test_what_fails_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    code, _ = run({"a": [FAILS], "b": [FINE]}, tmp_path, monkeypatch)
    assert code == 2 and "a: ValueError: broken" in capsys.readouterr().err


def test_the_commands_exist_and_each_domain_has_some(tmp_path: Path) -> None:
    chores = warm_up._chores(tmp_path)
    assert set(chores) == {"meshes", "tokens", "core", "textures", "points"}
    words = {command[0] for commands in chores.values() for command in commands} - {"-c"}
    assert words <= set(available("hra.commands"))
