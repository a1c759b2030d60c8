"""Cuts beside other viewers' rules, and whole clouds made smaller."""

from __future__ import annotations

import numpy as np
import pytest

from hra import samples
from hra.domains.points import PointCloud
from hra.lab.evaluation.points import comparing, sources


@pytest.fixture
def cloud() -> PointCloud:
    """Every tenth of the lit skull's points."""
    skull = sources.lit(samples.path("skull.ply"))
    return PointCloud(skull.positions[::10], skull.colors[::10])


def test_all_keep_the_count_and_the_picture_error_leads(cloud: PointCloud, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(comparing, "VIEWS", 3)
    monkeypatch.setattr(comparing, "VIEWPORT", (96, 96))
    records = list(comparing.compare(cloud, (0.05, 0.2)))
    methods = {*comparing.METRICS, *comparing.PEERS, *comparing.BASELINES}
    assert len(records) == 3 * 2 * len(methods)
    for record in records:
        assert 0 < record["count"] <= record["share"] * len(cloud)
        assert (record["gap"] is None) == (record["method"] not in comparing.METRICS)
        assert record["gap"] is None or record["gap"] < 0.01
    found = comparing.table(records)
    for share in (0.05, 0.2):
        best = np.array([found[share, "by the picture"][0], -found[share, "by the picture"][1]])
        for method in methods - {"by the picture"}:
            psnr, flip = found[share, method]
            assert (best > [psnr, -flip]).all()
