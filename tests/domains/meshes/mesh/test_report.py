from __future__ import annotations

import subprocess
import sys

import pytest

from hra.domains import meshes


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
    # In a process of its own: here the collector may meanwhile free more than is kept.
    program = """
import numpy as np
from hra.domains.meshes.mesh.report import Meter
meter = Meter()
kept = np.ones(2**24)
print(meter.read()["rss_mb"])
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert float(run.stdout) >= 0.9 * 128
