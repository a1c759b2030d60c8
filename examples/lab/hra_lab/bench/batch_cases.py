"""Exact answers for a batch of token pyramids over one hierarchy."""

from __future__ import annotations

import numpy as np

from hra.model.problem import Problem
from hra_lab.bench import peers
from hra_lab.bench.harness import Case, CaseAt, Contender
from hra_lab.bench.judges import judge_batch
from hra_lab.inputs import instances

_NOISE = 0.05


def exact_batch(size: int, count: int = 64) -> CaseAt:
    """All pyramids at the same budget, each solved to the optimum or to a certificate."""
    from hra.allocating.exact_batch import exact_solutions

    pyramids = instances.token_pyramids(size, count)
    hierarchy = pyramids[0].hierarchy
    others = (
        peers.one_by_one(peers.heap_best_first(hierarchy)),
        peers.one_by_one(peers.compiled_best_first()),
        peers.highs(1 / count),
    )

    def case(share: float) -> Case:
        def inputs(number: int) -> list[Problem]:
            fresh = enumerate(pyramids, start=count * number)
            return [pyramid.problem(pyramid.fresh_gain(seed, _NOISE), share) for seed, pyramid in fresh]

        budget = float(np.floor(share * hierarchy.total_cost))
        own = Contender("hra", lambda gains: exact_solutions(hierarchy, gains, budget), _stack)
        # Gains are read once, a byte per refinement is written; the hierarchy is small.
        return Case((own, *others), inputs, judge_batch, size, 9 * count * size)

    return case


def _stack(problems: list[Problem]) -> np.ndarray:
    """Gains of all problems, [B, R]."""
    return np.stack([problem.gain for problem in problems])
