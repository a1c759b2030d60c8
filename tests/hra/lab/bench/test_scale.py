"""The scale suite: rows are there and well formed; nothing here depends on time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hra.lab.bench.scale.suite import scale_suite
from hra.lab.commands.bench_columns import TABLES
from tests.helpers.command import run_hra


@pytest.mark.parametrize("name", ["tokens_two_jobs", pytest.param("tokens_beside_ray", marks=pytest.mark.slow)])
def test_a_row_has_seconds_of_both_ways(name: str):
    row = next(row for row in scale_suite() if row.name == name).measure("small", 1, 1e9)
    assert row["n"] == 4 and row["rate"] == pytest.approx(4 / row["ours_s"])
    assert row["ratio"] == pytest.approx(row["peer_s"] / row["ours_s"]) and row["ours_cpu_s"] > 0


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
