"""``hra train reader``: tokens, weights and a table, and nothing made twice."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

pytest.importorskip("torch")


def test_a_reader_is_trained_asked_and_kept(tmp_path):
    from hra.lab.commands.train import app

    arguments = ["reader", "-o", str(tmp_path), "--scale", "small", "--json", str(tmp_path / "record.json")]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert "commonest answer" in done.output
    record = json.loads((tmp_path / "record.json").read_text())
    assert [row["tokens"] for row in record["rows"]] == [68, 68]
    assert all(0 <= row["target"] <= 1 for row in record["rows"])
    files = {file.name: file.stat().st_mtime_ns for file in tmp_path.glob("*.npz")}
    assert len(files) == 4
    again = CliRunner().invoke(app, arguments)
    assert again.exit_code == 0
    assert files == {file.name: file.stat().st_mtime_ns for file in tmp_path.glob("*.npz")}
