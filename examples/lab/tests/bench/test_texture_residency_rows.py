"""The rows of residency: well formed at tiny sizes, and their rules against plain loops. Nothing depends on time."""

from __future__ import annotations

import numpy as np
import pytest

from hra_lab.bench.textures.replay_row import ReplayBenchmark
from hra_lab.bench.textures.split_row import Chains, SplitBenchmark, _largest_first, _uniform_bias, made_up_chains


@pytest.mark.parametrize("row", [ReplayBenchmark("replay_kitti_like"), SplitBenchmark("split_2000", 2000)])
def test_rows_have_what_the_table_shows(row):
    record = row.measure("small", 1, 1e9)
    assert {"name", "n", "ours_s", "peer", "peer_s", "ratio", "results"} <= set(record)
    assert all(np.isfinite(value) for value in record["results"].values())


def test_streaming_refuses_nothing():
    assert ReplayBenchmark("r").measure("small", 1, 1e9)["results"]["refused"] == 0


def test_no_rule_beats_the_bound_and_the_solver_is_next_to_it():
    results = SplitBenchmark("s", 60).measure("full", 1, 1e9)["results"]
    assert all(error >= 1 - 1e-9 for error in results.values())
    for share in ("50%", "25%", "10%"):
        assert results[f"hra at {share}"] < 1.1
        assert results[f"hra at {share}"] <= min(
            results[f"{rule} at {share}"] for rule in ("Godot's rule", "uniform bias")
        )


@pytest.fixture(params=range(3))
def chains(request: pytest.FixtureRequest) -> Chains:
    return made_up_chains(20, seed=request.param)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.6, 1.0])
def test_the_rules_of_engines(chains: Chains, share: float):
    cost, capacity = chains.hierarchy.cost, share * chains.hierarchy.cost.sum()
    kept = set(range(cost.size))
    while sum(cost[k] for k in kept) > capacity:
        kept.remove(max(kept, key=lambda k: (cost[k], k)))
    assert set(np.flatnonzero(_largest_first(chains, capacity))) == kept
    bias = 0
    while cost[chains.steps >= bias].sum() > capacity:
        bias += 1
    assert np.array_equal(_uniform_bias(chains, capacity), chains.steps >= bias)
    for chosen in (_largest_first(chains, capacity), _uniform_bias(chains, capacity)):
        assert chains.hierarchy.is_valid(chosen)
