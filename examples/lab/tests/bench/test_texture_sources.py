"""Rows of plans and tile reads at tiny sizes."""

from __future__ import annotations

import pytest

from hra_lab.bench.textures.sources import PlanBenchmark, TileReadBenchmark


def test_the_plan_is_close_to_the_bound_and_better_than_a_bias():
    row = PlanBenchmark("plan").measure("small", 2, 1e9)
    assert row["n"] == 539 and row["ours_s"] > 0 and row["peer_s"] > 0
    assert 0 <= row["results"]["gap"] < 0.01
    assert 0 < row["results"]["residual"] < row["results"]["residual of uniform bias"]


def test_tiles_are_read_as_they_were_written():
    pytest.importorskip("OpenImageIO")
    row = TileReadBenchmark("tile_read").measure("small", 1, 1e9)
    assert row["n"] == 16 and row["results"]["tiles per s"] > 0
