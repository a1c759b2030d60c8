"""A tree over a cloud, and a budget over ten million nodes; beside the heap by size over distance that viewers run."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import hra
from hra.allocating.allocation import Allocation
from hra.allocating.modifiers import in_sequence
from hra.domains import points
from hra_lab.bench.memory import peak_bytes
from hra_lab.evaluation.points.peers import spark

# Leaves; with eight children at most, a surface has 1.6 nodes for each of them.
_FULL, _SMALL = 6_260_000, 20_000
_SHARE, _STEP = 0.05, 0.2


def cloud(count: int) -> points.PointCloud:
    """Points of a bumpy, coloured surface, the same ones every time."""
    rng = np.random.default_rng(0)
    x, y = rng.random((2, count))
    z = 0.1 * np.sin(9 * x) * np.cos(7 * y) + 0.01 * np.sin(60 * x)
    colors = np.column_stack([0.5 + 0.5 * np.sin(20 * x), y, 0.5 + 0.5 * np.cos(31 * y)])
    return points.PointCloud(np.column_stack([x, y, z]), colors.astype(np.float32))


@cache
def _tree(count: int) -> points.CloudTree:
    return points.build(cloud(count))


@dataclass(frozen=True)
class BuildBenchmark:
    """The tree over a cloud of a million points."""

    name: str
    needs: tuple[str, ...] = ()

    def measure(self, scale: str, repeat: int, bandwidth: float) -> dict[str, Any]:
        """Medians; ``points_per_s`` is by the clock, the limit writes every node once."""
        given = cloud(1_000_000 if scale == "full" else _SMALL)
        tree = points.build(given)  # loads compiled code
        wall, cpu = _medians(lambda: points.build(given), repeat)
        stored = sum(values.nbytes for values in tree.hierarchy.node.values())
        memory = peak_bytes(lambda: points.build(given))
        return {
            "name": self.name,
            "n": len(given),
            "nodes": len(tree.parent),
            "ours_s": wall,
            "ours_cpu_s": cpu,
            "points_per_s": len(given) / wall,
            "limit_s": (given.positions.nbytes + stored) / bandwidth,
            "rss_mb": None if memory is None else memory / 2**20,
            **dict.fromkeys(("warm_s", "errors_s", "gap", "peer", "peer_s")),
        }


@dataclass(frozen=True)
class BudgetBenchmark:
    """A twentieth of the leaves for a camera, over a tree of ten million nodes."""

    name: str
    needs: tuple[str, ...] = ()

    def measure(self, scale: str, repeat: int, bandwidth: float) -> dict[str, Any]:
        """Medians of processor seconds: ``ours_s`` chooses, ``warm_s`` after a last step, ``errors_s`` measures."""
        tree = _tree(_FULL if scale == "full" else _SMALL)
        allocator, bounds = points.PointAllocator(tree), tree.bounds
        budget = int(_SHARE * len(tree.leaves))
        problems = [allocator.problem(_camera(bounds, number), budget) for number in range(repeat + 1)]
        solved = [_cpu(lambda problem=problem: allocator.traversal.solve(problem)) for problem in problems][1:]
        found = Allocation(problems[-1], solved[-1][1], 0.0)
        peer, cut = _cpu(lambda: spark(tree, _camera(bounds, repeat), budget))
        return {
            "name": self.name,
            "n": len(tree.parent),
            "budget": budget,
            "ours_s": statistics.median(seconds for seconds, _ in solved),
            "warm_s": self._warm(allocator, bounds, budget, repeat),
            "errors_s": _cpu(lambda: allocator.problem(_camera(bounds, 0), budget))[0],
            "gap": found.gap,
            "spent": found.cost / budget,
            "limit_s": 16 * len(tree.hierarchy) / bandwidth,  # the gain and the cost of each refinement are read
            "peer": "heap by size over distance, in Python",
            "peer_s": peer,
            "residual_of_peer": found.residual / _residual(allocator, tree, _camera(bounds, repeat), cut),
        }

    @staticmethod
    def _warm(allocator: points.PointAllocator, bounds: np.ndarray, budget: int, repeat: int) -> float:
        """The next steps of a sequence, from gains to nodes."""
        near, seconds = hra.Coherent(allocator.traversal), []
        previous = allocator.allocate(_camera(bounds, 0), budget)
        for number in range(1, repeat + 2):
            problem = allocator.problem(_camera(bounds, number), budget)
            problem = in_sequence(problem, previous)
            taken, solution = _cpu(lambda problem=problem: near.solve(problem))
            previous = Allocation(problem, solution, taken)
            seconds.append(taken)
        return statistics.median(seconds[1:])


def _residual(allocator: points.PointAllocator, tree: points.CloudTree, camera: hra.Camera, cut: np.ndarray) -> float:
    """What a cut leaves, by our metric."""
    return float(allocator.metric.evaluate(tree.hierarchy, camera)[cut].sum())


def _camera(bounds: np.ndarray, number: int) -> hra.Camera:
    return hra.Camera.orbit(bounds, azimuth=20 + _STEP * number, elevation=30, up=(0, 0, 1))


def _medians(call: Callable[[], Any], repeat: int) -> tuple[float, float]:
    """Seconds by the clock and of all processors."""
    rows = []
    for _ in range(repeat):
        begin = time.perf_counter(), time.process_time()
        call()
        rows.append((time.perf_counter() - begin[0], time.process_time() - begin[1]))
    wall, cpu = zip(*rows, strict=True)
    return statistics.median(wall), statistics.median(cpu)


def _cpu(call: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.process_time()
    result = call()
    return time.process_time() - begin, result


def points_suite() -> tuple[BuildBenchmark | BudgetBenchmark, ...]:
    """All rows, in the order of the table."""
    return BuildBenchmark("build_1e6"), BudgetBenchmark("budget_1e7")
