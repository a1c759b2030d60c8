"""The evaluation of the solver: every rule on every case, summed up by budget.

The problems of the evaluation: token pyramids over image crops, and the demo mesh seen from around.

How far every rule's answer to one problem is from the best.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hra import samples
from hra.allocating.allocation import Allocation
from hra.camera import Camera
from hra.domains import meshes, tokens
from hra.model.precise import ceiling, precise_difference, precise_total, up
from hra.model.problem import Problem
from hra.model.solution import Solution
from hra.solvers.duals import shortfall_of
from hra.traversals.base import Traversal
from hra.traversals.hull import Hull
from hra_lab.evaluation.rules import RULES
from hra_lab.evaluation.sizes import Sizes
from hra_lab.inputs.crops import crops


@dataclass(frozen=True)
class Loss:
    """Shares of what is possible, 0 at best.

    Attributes
    ----------
    gain_lost : (bound - gain) / bound.
    residual_excess : (residual - least residual) / least residual; infinite if only the latter is 0.
    unspent : share of the budget that was not spent.
    """

    gain_lost: float
    residual_excess: float
    unspent: float


@dataclass(frozen=True)
class Judged:
    """Losses of all rules on one problem.

    Attributes
    ----------
    losses : by rule.
    proven : whether some rule reached the bound, so that losses are exact and not only upper limits.
    """

    losses: dict[str, Loss]
    proven: bool


def judge(problem: Problem, rules: Mapping[str, Traversal]) -> Judged:
    """Solve ``problem`` by every rule and compare with the least bound that any of them proves.

    Raises
    ------
    HraError : an answer breaks the partial order or the budget.
    """
    solutions = {name: rule.solve(problem) for name, rule in rules.items()}
    best = min(solutions.values(), key=lambda solution: _bound(problem, solution))
    short = shortfall_of(problem, best)
    judged = {name: _bounded(problem, s, best, short) for name, s in solutions.items()}
    answers = {name: Allocation(problem, s, 0.0) for name, s in judged.items()}
    losses = {name: Loss(a.gap, a.residual_gap, 1 - a.utilisation) for name, a in answers.items()}
    return Judged(losses, any(a.status == "optimal" for a in answers.values()))


def _bound(problem: Problem, solution: Solution) -> float:
    """What the rule itself proves that no choice gains more than."""
    return ceiling((*precise_total(problem.gain, solution.selected), shortfall_of(problem, solution)))


def _bounded(problem: Problem, solution: Solution, best: Solution, shortfall: float) -> Solution:
    """``solution`` with what the ``best`` proven one and its shortfall say of it."""
    more = precise_difference(problem.gain, best.selected, solution.selected)
    return replace(solution, shortfall=max(up(more) + shortfall, 0.0) if more else shortfall, upper_bound=None)


@dataclass(frozen=True, eq=False)
class Case:
    """A problem that every rule gets.

    Attributes
    ----------
    data : "tokens" or "mesh".
    budget : the budget in words; cases of equal words are summed up together.
    source : the crop or the view.
    """

    data: str
    budget: str
    source: str
    problem: Problem


def token_cases(sizes: Sizes) -> Iterator[Case]:
    """Every crop at every budget; the error is the mean squared error of the image, all patches being as relevant."""
    allocator = tokens.TokenAllocator(
        tokens.PyramidBuilder(), tokens.RelevanceError(), Hull(), relevance=tokens.UniformRelevance()
    )
    for name, image in crops(sizes.crops, sizes.side):
        context = allocator.context(image, "")
        problem = allocator.problem(context, np.inf)
        for budget in sizes.tokens:
            yield Case("tokens", f"{budget:,} tokens", name, replace(problem, budget=float(budget)))


def mesh_cases(sizes: Sizes) -> Iterator[Case]:
    """Every view at every budget; the error is in squared pixels (see `hra.domains.meshes.ScreenError`).

    Thresholds go by the same error as budgets, so that rules are compared and not errors.
    """
    clusters = meshes.build(samples.path("skull.ply"), certified=False)
    allocator = meshes.MeshAllocator(clusters, meshes.ScreenError("quadric"))
    for azimuth in np.arange(sizes.cameras) * (360 / sizes.cameras):
        camera = Camera.orbit(clusters.bounds, azimuth=float(azimuth), elevation=20, up=(0, 0, 1))
        problem = allocator.problem(camera, np.inf)
        for share in sizes.triangles:
            budget = np.floor(share * clusters.hierarchy.total_cost)
            words = f"{100 * share:.0f} % of triangles"
            yield Case("mesh", words, f"azimuth {azimuth:.0f}", replace(problem, budget=budget))


def run(sizes: Sizes, progress: Callable[[str], None]) -> dict[str, Any]:
    """All losses as plain data: ``rows``, one per data, budget and rule, and how many problems were ``proven``.

    Parameters
    ----------
    progress : is told what is being worked on.
    """
    judged: dict[tuple[str, str], list[Judged]] = defaultdict(list)
    for case in itertools.chain(token_cases(sizes), mesh_cases(sizes)):
        progress(f"{case.data}: {case.source}, {case.budget}")
        judged[case.data, case.budget].append(_judge(case))
    rows = [_row(data, budget, rule, of) for (data, budget), of in judged.items() for rule in RULES]
    everything = list(itertools.chain(*judged.values()))
    return {"problems": len(everything), "proven": sum(one.proven for one in everything), "rows": rows}


def _judge(case: Case) -> Judged:
    return judge(case.problem, RULES)


def _row(data: str, budget: str, rule: str, judged: Sequence[Judged]) -> dict[str, Any]:
    """Mean and worst of one rule, and every single loss in the order of the cases."""
    losses = [one.losses[rule] for one in judged]
    row: dict[str, Any] = {"data": data, "budget": budget, "rule": rule, "n": len(losses)}
    for name in ("gain_lost", "residual_excess", "unspent"):
        values = [getattr(loss, name) for loss in losses]
        row[name] = {"mean": float(np.mean(values)), "worst": max(values), "all": values}
    return row
