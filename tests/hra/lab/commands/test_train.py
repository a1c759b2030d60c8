"""``hra train reader``: weights and a table, and no training twice."""

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
    assert [row["tokens"] for row in record["rows"]] == [256, 17, 17]
    assert all(0 <= row[part]["target"] <= 1 for row in record["rows"] for part in ("values", "boxes"))
    (weights,) = tmp_path.glob("*.safetensors")
    written = weights.stat().st_mtime_ns
    again = CliRunner().invoke(app, arguments)
    assert again.exit_code == 0
    assert json.loads((tmp_path / "record.json").read_text()) == record
    assert weights.stat().st_mtime_ns == written
