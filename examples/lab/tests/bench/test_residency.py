"""The residency suite at tiny sizes: every row is there, no pool is exceeded, and no bound undercut."""

from __future__ import annotations

from pathlib import Path

import pytest

from hra_lab.bench.residency.residency_suite import residency_suite
from hra_lab.bench.suite import run


@pytest.fixture(scope="module")
def record() -> dict:
    return run(residency_suite(Path("nowhere")), repeat=1, scale="small", names=["skull*", "globe*"])


def test_rows_that_need_fetched_data_at_full_size_are_skipped() -> None:
    names = {row.name for row in residency_suite(Path("nowhere"))}
    assert names >= {"skull_42k", "bumpy_328k", "dragon_871k", "globe_textured", "oculus-touch_textured"}
    dragon = next(row for row in residency_suite(Path("nowhere")) if row.name == "dragon_871k")
    assert [entry["name"] for entry in run([dragon], repeat=1, scale="full")["skipped"]] == ["dragon_871k"]


def test_no_rule_beats_the_bound_and_ours_holds_no_more_than_the_pool(record: dict) -> None:
    row = next(row for row in record["rows"] if row["name"] == "skull_42k")
    assert row["steps_per_s"] > 0 and row["slot_bytes"] <= 2**15
    for name, pool in row["pools"].items():
        rules = row["rules"][name]
        assert set(rules) == {"hra", "hra, hysteresis", "drawn bytes", "LRU", "age", "refusing", "bound"}
        least = rules.pop("bound")["error_px2"]
        assert all(rule["error_px2"] >= least * (1 - 1e-9) for rule in rules.values())
        assert all(rule["peak_bytes"] <= pool for rule in rules.values())


def test_one_pool_is_as_good_as_any_fixed_split(record: dict) -> None:
    row = next(row for row in record["rows"] if row["name"] == "globe_textured")
    for one in row["pools"].values():
        assert one["bound"] * (1 - 1e-9) <= one["one pool"] <= one["best fixed split"] + 1e-12
        assert one["peak_bytes"] <= one["bytes"]
