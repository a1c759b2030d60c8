"""The scale suite: rows are there and well formed; nothing here depends on time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hra_lab.bench.scale.scale_suite import scale_suite
from hra_lab.bench.suite import run
from hra_lab.commands.bench_columns import TABLES
from tests.helpers.command import run_hra


def test_a_row_has_seconds_of_both_ways():
    row = measured("tokens_two_jobs")
    assert row["ours_cpu_s"] > 0 and (row["ours_running_s"], row["peer_running_s"]) == (row["ours_s"], row["peer_s"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "size", "started"),
    [
        ("tokens_beside_ray", [640, 480], 1),
        ("tokens_beside_ray_alone", [640, 480], 1),
        ("tokens_two_actors", [640, 480], 2),
    ],
)
def test_what_ray_takes_to_start_is_stated_apart(name: str, size: list[int], started: int):
    row = measured(name)
    assert row["size"] == size and row["budget"] == 273 and row["peer_cpu_s"] is None
    running = [row[f"{side}_running_s"] < row[f"{side}_s"] for side in ("ours", "peer")]
    assert running == [started == 2, True] and (row["ours_cpu_s"] is None) == (started == 2)
    assert row["ratio_running"] == pytest.approx(row["peer_running_s"] / row["ours_running_s"])


def measured(name: str) -> dict[str, Any]:
    row = next(row for row in scale_suite() if row.name == name).measure("small", 1, 1e9)
    assert row["n"] == 4 and row["rate"] == pytest.approx(4 / row["ours_s"])
    assert row["ratio"] == pytest.approx(row["peer_s"] / row["ours_s"]) and len(row["turns"]) == 1
    return row


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "scale.json"
    names = ("--scale", "small", "--repeat", 1, "--names", "tokens_two_jobs")
    assert run_hra("bench", "scale", *names, "--json", file) == 0
    assert "one process" in capsys.readouterr().out
    assert [row["name"] for row in json.loads(file.read_text())["rows"]] == ["tokens_two_jobs"]


def test_the_table_has_a_cell_for_rows_without_a_rate():
    numbers = TABLES["scale"].numbers
    times = {"n": 4, "ours_s": 2.0, "ours_cpu_s": 1.0, "peer_s": 3.0, "peer_cpu_s": None, "ratio": 1.5}
    assert numbers["a second"](times) == "-" and numbers["peak / limit"]({**times, "peak_over_limit": 0.825}) == "0.825"
    assert all(cell(times) for cell in numbers.values())


def test_rows_that_were_measured_stay_where_ray_does_not_start(monkeypatch: pytest.MonkeyPatch):
    ray = pytest.importorskip("ray")

    def fail(**options: Any) -> None:
        raise Exception("the current node timed out during startup")  # as Ray does

    monkeypatch.setattr(ray, "init", fail)
    record = run(scale_suite(), names=["tokens_two_jobs", "tokens_beside_ray"], repeat=1, scale="small")
    assert [row["name"] for row in record["rows"]] == ["tokens_two_jobs"]
    (skipped,) = record["skipped"]
    assert skipped["name"] == "tokens_beside_ray" and "timed out" in skipped["reason"]
