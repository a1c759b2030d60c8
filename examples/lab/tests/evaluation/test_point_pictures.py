"""Cuts beside other viewers' rules, and whole clouds made smaller."""

from __future__ import annotations

import pytest

from hra_lab.evaluation.points.comparing import BASELINES, METRICS, OURS, PEERS
from hra_lab.evaluation.points.point_pictures import render, table
from hra_lab.evaluation.points.run import SMALL, PointSizes, run


@pytest.fixture(scope="module")
def record() -> dict:
    return run(SMALL, lambda name: None)


def test_all_keep_the_count_and_only_ours_have_a_gap(record):
    methods = {*METRICS, *PEERS, *BASELINES}
    assert len(record["rows"]) == len(SMALL.shares) * len(methods)
    for row in record["rows"]:
        assert 0 < row["count"] <= row["share"] * record["counts"]["skull"]
        assert (row["gap"] is None) == (row["method"] not in METRICS)
        assert row["gap"] is None or row["gap"] < 0.01


def test_the_picture_error_leads_in_every_view(record):
    ours = [row for row in record["rows"] if row["method"] == OURS]
    assert len(ours) == 2 and all(row["least_lead"] > 0 for row in ours)
    for row in ours:
        others = [other for other in record["rows"] if other["share"] == row["share"] and other["method"] != OURS]
        assert all(row["flip"] < other["flip"] for other in others)


def test_the_page_shows_every_case(record):
    text = render(record)["point-pictures.md"].decode()
    assert table(record) in text and "$" not in text and text.count("| skull") == len(SMALL.shares) + 1


def test_what_is_missing_is_said(tmp_path):
    sizes = PointSizes(fetched=("armadillo.off",), stride=40, shares=(0.2,), views=1, viewport=(32, 32))
    found = run(sizes, lambda name: None, tmp_path)["skipped"]
    assert {entry["cloud"] for entry in found} == {"armadillo", "splats"} and "splats.ply" in found[1]["reason"]
