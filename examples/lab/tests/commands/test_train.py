"""``hra train reader``: weights and a table, and no training twice."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from hra.errors import BackendUnavailable, HraError

pytest.importorskip("torch")


def test_a_reader_is_trained_asked_and_kept(tmp_path, monkeypatch):
    from hra_lab.commands.train import app
    from hra_lab.evidence import experiment
    from hra_lab.evidence.reader import Size

    few = experiment.Extent(12, 4, 10, 2, 3, 1, Size(32, 1), experiment.CONTROLS, experiment.CONTROLS[1:])
    monkeypatch.setattr(experiment, "SMALL", few)
    arguments = ["reader", "-o", str(tmp_path), "--scale", "small", "--json", str(tmp_path / "record.json")]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert "all 256 finest tokens" in done.output
    record = json.loads((tmp_path / "record.json").read_text())
    assert [row["budget"] for row in record["rows"]] == [256] * 3 + [10] * 6
    assert record["split"] == "validation"
    weights = tmp_path / "reader-0.safetensors"
    written = weights.stat().st_mtime_ns
    again = CliRunner().invoke(app, arguments)
    assert again.exit_code == 0
    assert json.loads((tmp_path / "record.json").read_text()) == record
    assert weights.stat().st_mtime_ns == written
    # Readers of another extent are not taken for those that were asked for.
    monkeypatch.setattr(experiment, "SMALL", replace(few, steps=4))
    other = CliRunner().invoke(app, arguments)
    assert isinstance(other.exception, HraError) and "steps differ" in str(other.exception)


@pytest.mark.parametrize("device", ["foo", "cuda:99", "meta"])
def test_a_device_that_is_not_there_is_refused_before_anything_is_made(device, tmp_path):
    from hra_lab.commands.train import app

    done = CliRunner().invoke(app, ["reader", "-o", str(tmp_path / "out"), "--scale", "small", "--device", device])
    assert isinstance(done.exception, BackendUnavailable) and device in str(done.exception)
    assert not (tmp_path / "out").exists()
