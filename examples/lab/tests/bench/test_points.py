"""The points suite runs in its small sizes, and its rows mean what they say."""

from __future__ import annotations

import json

from tests.helpers.command import run_hra


def test_rows_hold_times_and_gaps(tmp_path, capsys):
    file = tmp_path / "points.json"
    assert run_hra("bench", "points", "--scale", "small", "--repeat", "1", "--json", str(file)) == 0
    shown = capsys.readouterr().out
    rows = {row["name"]: row for row in json.loads(file.read_text())["rows"]}
    assert list(rows) == ["build_1e6", "budget_1e7"] and all(name in shown for name in rows)
    build, budget = rows.values()
    assert build["n"] == 20_000 < build["nodes"] and build["points_per_s"] > 0
    assert 0 <= budget["gap"] < 1e-3 and 0.99 < budget["spent"] <= 1
    assert min(budget["ours_s"], budget["warm_s"], budget["errors_s"], budget["peer_s"]) > 0
