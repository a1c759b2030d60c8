"""Cases on quadtrees: cold, warm, and the parts of the solver on their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.allocating.allocation import Allocation
from hra.allocating.modifiers import in_sequence
from hra.model.problem import Problem
from hra.model.solution import Solution
from hra.solvers.duals import Certificate, certify
from hra.solvers.forest.pava import hull_slopes
from hra.solvers.selection import select_threshold
from hra.traversals.base import Traversal
from hra.traversals.hull import Hull
from hra.traversals.threshold import Threshold
from hra_lab.bench import peers
from hra_lab.bench.harness import Case, CaseAt, Contender, Gaps
from hra_lab.bench.judges import judge_solutions, relative_excess
from hra_lab.inputs.instances import Quadtree, SyntheticProblem

_NOISE = 0.05
_HRA = "hra"
_BISECTION_STEPS = 50


def cold(instance: SyntheticProblem, *, heap: bool = True) -> CaseAt:
    """Solve for gains that were never seen, without any memory of an earlier answer.

    ``heap`` includes the pure Python peer, whose lists take a hundred bytes per node.
    """
    contenders = (Contender(_HRA, Hull().solve), *_solvers(instance, heap))

    def case(share: float) -> Case:
        def inputs(number: int) -> Problem:
            return instance.problem(instance.fresh_gain(number, _NOISE), share)

        return Case(contenders, inputs, judge_solutions, instance.gain.size, _moved_bytes(instance))

    return case


def warm(quadtree: Quadtree, traversal: Traversal) -> CaseAt:
    """Solve again after the camera moved a little and noise changed every gain, from what the last answer took."""
    solvers = _solvers(quadtree, heap=True)

    def case(share: float) -> Case:
        def inputs(number: int) -> Problem:
            camera = np.array([0.2 + 0.004 * number, 0.5])
            return quadtree.problem(quadtree.seen_from(camera, quadtree.fresh_gain(number, _NOISE)), share)

        own = _Sequence(traversal)
        contenders = (Contender(_HRA, own.solve, own.prepare), *solvers)
        return Case(contenders, inputs, judge_solutions, quadtree.gain.size, _moved_bytes(quadtree))

    return case


def slopes(quadtree: Quadtree) -> CaseAt:
    """Pool adjacent violators alone: the slopes that answer every budget."""
    hierarchy = quadtree.hierarchy

    def case(share: float) -> Case:
        def inputs(number: int) -> np.ndarray:
            return quadtree.fresh_gain(number, _NOISE)

        contenders = (
            Contender(_HRA, lambda gain: hull_slopes(hierarchy.first_child, gain, hierarchy.slope_cost)),
            Contender("sort by ratio", lambda gain: np.argsort(-(gain / hierarchy.cost))),
        )
        return Case(contenders, inputs, _no_gaps, len(hierarchy), _moved_bytes(quadtree) + quadtree.gain.nbytes)

    return case


def certificate(instance: SyntheticProblem) -> CaseAt:
    """Make the proof of an answer, which is left to those who read it, beside the solve that it belongs to."""

    def solved(problem: Problem) -> tuple[Problem, Solution]:
        return problem, Hull().solve(problem)

    def proven(answer: tuple[Problem, Solution]) -> Certificate:
        problem, solution = answer
        return certify(problem, solution.selected, solution.price or 0.0, solution.share)

    contenders = (Contender(_HRA, proven, solved), Contender("the solve itself", Hull().solve))

    def case(share: float) -> Case:
        def inputs(number: int) -> Problem:
            return instance.problem(instance.fresh_gain(number, _NOISE), share)

        return Case(contenders, inputs, _no_gaps, instance.gain.size, _moved_bytes(instance))

    return case


def selection(instance: SyntheticProblem) -> CaseAt:
    """Find the price alone: where keys in falling order exhaust a capacity."""
    weight = instance.hierarchy.cost

    def case(share: float) -> Case:
        capacity = float(np.floor(share * weight.sum()))

        def inputs(number: int) -> np.ndarray:
            return instance.fresh_gain(number, _NOISE) / weight

        contenders = (
            Contender(_HRA, lambda key: select_threshold(key, weight, capacity)),
            Contender("sort and sum up", lambda key: peers.sorted_threshold(key, weight, capacity)),
        )
        return Case(contenders, inputs, _judge_thresholds, weight.size, 2 * weight.nbytes)

    return case


def threshold(quadtree: Quadtree) -> CaseAt:
    """The least largest error within a budget; bisection is what engines do."""
    cost = quadtree.hierarchy.cost

    def bisect(problem: Problem) -> np.ndarray:
        tau = peers.bisected_threshold(problem.peak, cost, problem.capacity, _BISECTION_STEPS)
        return problem.peak > tau

    def sort(problem: Problem) -> np.ndarray:
        return problem.peak > peers.sorted_threshold(problem.peak, cost, problem.capacity)

    def case(share: float) -> Case:
        def inputs(number: int) -> Problem:
            gain = quadtree.fresh_gain(number, _NOISE)
            return quadtree.problem(gain, share, quadtree.peaks(gain))

        contenders = (Contender(_HRA, Threshold().solve), Contender("bisection", bisect), Contender("sort", sort))
        return Case(contenders, inputs, _judge_largest, cost.size, 2 * cost.nbytes + cost.size)

    return case


@dataclass
class _Sequence:
    """A traversal that is given its last answer."""

    traversal: Traversal
    last: tuple[Problem, Solution] | None = None

    def prepare(self, problem: Problem) -> Problem:
        """The problem as the step after the last one."""
        return problem if self.last is None else in_sequence(problem, Allocation(*self.last, seconds=0.0))

    def solve(self, problem: Problem) -> Solution:
        """The traversal's answer, remembered."""
        self.last = problem, self.traversal.solve(problem)
        return self.last[1]


def _solvers(instance: SyntheticProblem, heap: bool) -> tuple[Contender, ...]:
    compiled = (peers.compiled_best_first(), peers.sort_by_ratio())
    return (peers.heap_best_first(instance.hierarchy), *compiled) if heap else compiled


def _moved_bytes(instance: SyntheticProblem) -> int:
    """Gains, costs and predecessors are read once, a byte per refinement is written."""
    hierarchy = instance.hierarchy
    order = hierarchy.edges if hierarchy.parent is None else hierarchy.parent
    return instance.gain.nbytes + hierarchy.cost.nbytes + order.nbytes + instance.gain.size


def _no_gaps(given: Any, outputs: Mapping[str, Any]) -> dict[str, Gaps]:
    """For a part that does not choose anything yet."""
    return {name: Gaps(0.0, 0.0) for name in outputs}


def _judge_thresholds(given: Any, outputs: Mapping[str, float]) -> dict[str, Gaps]:
    least = outputs.get("sort and sum up", outputs[_HRA])
    return {name: relative_excess(value, least) for name, value in outputs.items()}


def _judge_largest(problem: Problem, outputs: Mapping[str, Any]) -> dict[str, Gaps]:
    """The largest error that remains, against that of the sorted answer."""
    left = {name: problem.peak[~getattr(out, "selected", out)].max(initial=0.0) for name, out in outputs.items()}
    least = left.get("sort", left[_HRA])
    return {name: relative_excess(value, least) for name, value in left.items()}
