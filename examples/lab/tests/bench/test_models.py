"""The models suite runs in its small sizes, and its rows mean what they say."""

from __future__ import annotations

import json

import pytest
from transformers import LlavaConfig

from hra.domains import tokens
from hra.integrations.transformers import Timed
from hra_lab.bench.models.model import SMALL, Subject
from hra_lab.bench.models.model_suite import model_suite
from hra_lab.bench.suite import run
from tests.helpers.command import run_hra
from tests.helpers.scripts import script

pytestmark = pytest.mark.filterwarnings("ignore")


def test_rows_hold_times_ratios_and_counts():
    record = run(model_suite(), repeat=1, scale="small")
    rows = {row["name"]: row for row in record["rows"]}
    inside = ["inside_fastv", "inside_pyramiddrop", "answer_mask_64", "answer_remove_64"]
    calibration = rows.pop("calibration")
    assert [each["tokens"] for each in calibration["lengths"]] == [6, 12, 26, 39, 56, 78, 100]
    assert all(calibration[name] >= 0 for name in ("encoder", "prefill", "weight", "error"))
    assert list(rows) == ["prefill_all", "prefill_576", "prefill_273", "prefill_64", *inside] and not record["skipped"]
    assert [row["tokens"] for row in rows.values()] == [100, 56, 26, 6, 100, 100, 100, 100]
    # Of the two layers of the small model only the second can lose tokens.
    assert rows["inside_fastv"]["layer_average"] == 75 and rows["inside_pyramiddrop"]["layer_average"] == 56
    assert 1 < rows["inside_fastv"]["flops_ratio"] < rows["inside_pyramiddrop"]["flops_ratio"]
    assert all(rows[name]["kept"] == 6 and rows[name]["reallocation_s"] > 0 for name in inside[2:])
    assert rows["prefill_all"]["flops_ratio"] == rows["prefill_all"]["total_flops_ratio"] == 1
    assert rows["prefill_all"]["selection_s"] == 0
    ratios = [row["flops_ratio"] for row in rows.values()][:4]
    assert ratios == sorted(ratios) and ratios[-1] > 2
    assert rows["prefill_all"]["decode_bytes_ratio"] == 1 and rows["prefill_64"]["decode_bytes_ratio"] > 1
    assert all(row["reachable_ratio"] > 0 and row["products_s"] > 0 for row in list(rows.values())[:4])
    for row in rows.values():
        assert row["total_s"] >= row["prefill_s"] > 0 and row["speedup"] > 0
        assert row["selection_share"] == pytest.approx(row["selection_s"] / row["prefill_s"])


def test_rates_of_a_record_are_read_for_another_model(tmp_path, capsys):
    file = tmp_path / "rates.json"
    command = ["bench", "models", "--scale", "small", "--repeat", "2", "--names", "calibration", "--json", str(file)]
    assert run_hra(*command) == 0 and "calibration" in capsys.readouterr().out
    (row,) = json.loads(file.read_text())["rows"]
    timed = Timed.read(file, LlavaConfig())
    assert timed.error == row["error"] and timed.milliseconds(64, 576, [576]) > timed.milliseconds(64, 64, [576]) > 0
    own = Timed.read(file, Subject(SMALL).config)
    for length in row["lengths"]:
        assert own.milliseconds(48, length["tokens"], [100]) == pytest.approx(length["predicted_ms"])
    limit = tokens.Milliseconds(row["lengths"][3]["predicted_ms"] * (1 + 1e-9), own)
    assert limit.tokens(text=48, cells=100, patches=[100]) == row["lengths"][3]["tokens"]


def test_the_command_writes_them(tmp_path, capsys):
    file = tmp_path / "models.json"
    command = ["bench", "models", "--scale", "small", "--repeat", "1", "--names", "prefill_64", "--json", str(file)]
    assert run_hra(*command) == 0 and "prefill_64" in capsys.readouterr().out
    assert json.loads(file.read_text())["rows"][0]["method"] == "visionzip"


def test_first_tokens_are_measured_beside_what_operations_promise():
    measuring = script("examples/lab/scripts/measure_first_token.py")
    subject = Subject(SMALL, 2)
    assert subject.visual == 200 and subject.inputs["pixel_values"].shape[0] == 2
    rows = measuring.measured(subject, budget=20, rounds=1)
    assert [row["method"] for row in rows] == list(measuring.METHODS) and {row["kept"] for row in rows} == {40}
    for row in rows:
        assert row["first_promised"] > row["causal_promised"] > 1 and row["step_promised"] > 1
        assert row["first_share"] == pytest.approx(row["first_speedup"] / row["first_promised"])
        assert row["selection_s"] > 0 and measuring.line(row).count("|") == 15
