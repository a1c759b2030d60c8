"""The core suite: the solver on trees, batches, cluster DAGs and from camera to cut.

Exact answers for a batch of token pyramids over one hierarchy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from hra.model.problem import Problem
from hra.traversals.coherent import Coherent
from hra.traversals.hull import Hull
from hra_lab.bench import allocate_cases, peers, soft_cases, tree_cases
from hra_lab.bench.harness import Case, CaseAt, Contender
from hra_lab.bench.judges import judge_batch
from hra_lab.bench.suite import Benchmark
from hra_lab.inputs import cluster_dag, instances
from hra_lab.inputs.instances import Quadtree

_MILLION = 1_000_000
# Refinements of the quadtree over 1024 x 1024 leaves.
_SEQUENCE = 349_525
_SMALL = 1365
_BATCHES = "hra.allocating.exact_batch:exact_solutions"
_SOFT = "hra.solvers.soft.distribution:CutDistribution"
_IMAGES = "PIL.Image:open"
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


def core_suite() -> tuple[Benchmark, ...]:
    """All benchmarks, in the order of the table."""
    return (
        *_on_trees("", instances.rough_quadtree, ()),
        *_on_trees("_smooth", instances.smooth_quadtree, (_IMAGES,)),
        Benchmark("batch64_n1365", exact_batch, 1365, 85, (_BATCHES, _IMAGES)),
        Benchmark("batch64_n5461", exact_batch, 5461, 85, (_BATCHES, _IMAGES)),
        Benchmark("soft_batch64_n5461", soft_cases.soft_batch, 5461, 85, (_SOFT, _IMAGES)),
        Benchmark("dag_33k_smooth", lambda side: tree_cases.cold(cluster_dag.smooth_dag(side)), 512, 32),
        Benchmark("dag_33k_heavy", lambda side: tree_cases.cold(cluster_dag.heavy_dag(side)), 512, 32),
        Benchmark("allocate_1e6", allocate_cases.allocate, _MILLION, _SMALL, (_IMAGES,)),
        Benchmark("allocate_warm_1e6", allocate_cases.allocate_again, _MILLION, _SMALL, (_IMAGES,)),
    )


def _on_trees(suffix: str, make: Callable[[int], Quadtree], needs: tuple[str, ...]) -> Iterator[Benchmark]:
    """The benchmarks that every kind of quadtree goes through."""

    def cold(size: int) -> CaseAt:
        return tree_cases.cold(make(size))

    def cold_without_heap(size: int) -> CaseAt:
        return tree_cases.cold(make(size), heap=False)

    def warm(size: int) -> CaseAt:
        return tree_cases.warm(make(size), Hull())

    def coherent(size: int) -> CaseAt:
        return tree_cases.warm(make(size), Coherent(Hull()))

    yield Benchmark("tree_1e5" + suffix, cold, 100_000, _SMALL, needs)
    yield Benchmark("tree_cold_1e6" + suffix, cold, _MILLION, _SMALL, needs)
    yield Benchmark("tree_warm_1e6" + suffix, warm, _MILLION, _SMALL, needs)
    yield Benchmark("tree_1e7" + suffix, cold_without_heap, 10 * _MILLION, _SMALL, needs, memory=True)
    yield Benchmark("pava_1e6" + suffix, lambda size: tree_cases.slopes(make(size)), _MILLION, _SMALL, needs)
    yield Benchmark("proof_1e6" + suffix, lambda size: tree_cases.certificate(make(size)), _MILLION, _SMALL, needs)
    yield Benchmark("select_1e6" + suffix, lambda size: tree_cases.selection(make(size)), _MILLION, _SMALL, needs)
    yield Benchmark("threshold_1e6" + suffix, lambda size: tree_cases.threshold(make(size)), _MILLION, _SMALL, needs)
    yield Benchmark("sequence_350k" + suffix, coherent, _SEQUENCE, _SMALL, needs)
