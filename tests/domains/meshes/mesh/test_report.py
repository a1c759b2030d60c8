from __future__ import annotations

import sys

import numpy as np
import pytest

from hra.domains import meshes
from hra.domains.meshes.mesh.report import Meter


def test_a_report_counts_what_was_built(make_grid):
    built = meshes.build(make_grid(40, 40))
    report = built.report
    assert report is not None
    assert (report.triangles, report.root_triangles) == (built.triangle_count, built.root_triangle_count)
    assert (report.clusters, report.groups) == (len(built.offsets) - 1, len(built.hierarchy))
    assert report.wall_s > 0
    assert report.cpu_s > 0


@pytest.mark.skipif(sys.platform != "linux", reason="Linux's counters")
def test_memory_that_was_touched_is_counted():
    meter = Meter()
    kept = np.ones(2**24)
    assert meter.read()["rss_mb"] >= 0.9 * kept.nbytes / 2**20
    del kept
