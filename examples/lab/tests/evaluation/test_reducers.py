"""The page about reducers: every one is measured, and the counts are exact."""

from __future__ import annotations

from hra.domains import tokens
from hra_lab.evaluation.reducers.reducer_page import render
from hra_lab.evaluation.reducers.run import SMALL, run


def test_every_reducer_is_measured_and_described():
    record = run(SMALL, lambda name: None)
    assert [row["name"] for row in record["rows"]] == list(tokens.REDUCERS)
    assert all(row["exact"] and row["cpu_s"] >= 0 for row in record["rows"])
    text = render(record)["reducers.md"].decode()
    assert "$" not in text
    assert all(text.count(f"`{name}`") >= 3 for name in tokens.REDUCERS)


def test_layers_that_run_twice_are_counted():
    row = {"name": "fastv", "exact": True, "needs": "language", "cpu_s": 0.001, "plain_cpu_s": None}
    record = {"side": 32, "width": 8, "budgets": (64,), "rows": [row]}
    assert "| 64 | 128 |" in render(record)["reducers.md"].decode()  # 64 + 2 x 1024 / 32
