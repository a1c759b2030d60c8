"""The models suite runs in its small sizes, and its rows mean what they say."""

from __future__ import annotations

import json

import pytest

from hra.lab.bench.models.row import model_suite
from hra.lab.bench.suite import run
from tests.helpers.command import run_hra

pytestmark = pytest.mark.filterwarnings("ignore")


def test_rows_hold_times_ratios_and_counts():
    record = run(model_suite(), repeat=1, scale="small")
    rows = {row["name"]: row for row in record["rows"]}
    assert list(rows) == ["prefill_all", "prefill_576", "prefill_273", "prefill_64"] and not record["skipped"]
    assert [row["tokens"] for row in rows.values()] == [100, 56, 26, 6]
    assert rows["prefill_all"]["flops_ratio"] == rows["prefill_all"]["total_flops_ratio"] == 1
    assert rows["prefill_all"]["selection_s"] == 0
    ratios = [row["flops_ratio"] for row in rows.values()]
    assert ratios == sorted(ratios) and ratios[-1] > 2
    for row in rows.values():
        assert row["total_s"] >= row["prefill_s"] > 0 and row["speedup"] > 0
        assert row["selection_share"] == pytest.approx(row["selection_s"] / row["prefill_s"])


def test_the_command_writes_them(tmp_path, capsys):
    file = tmp_path / "models.json"
    command = ["bench", "models", "--scale", "small", "--repeat", "1", "--names", "prefill_64", "--json", str(file)]
    assert run_hra(*command) == 0 and "prefill_64" in capsys.readouterr().out
    assert json.loads(file.read_text())["rows"][0]["method"] == "visionzip"
