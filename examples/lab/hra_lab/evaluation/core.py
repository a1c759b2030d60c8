"""The evaluation of the solver: every rule on every case, summed up by budget."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hra_lab.evaluation.cases import Case, mesh_cases, token_cases
from hra_lab.evaluation.losses import Judged, judge
from hra_lab.evaluation.rules import RULES
from hra_lab.evaluation.sizes import Sizes


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
