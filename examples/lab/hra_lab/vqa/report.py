"""The report of a verdict: Markdown and a record, made of the answers alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from hra_lab.bootstrap import Interval, difference, mean_of, ratio
from hra_lab.evaluation.answers.methods import DOWN
from hra_lab.evaluation.answers.run import FULL as IMAGE
from hra_lab.evaluation.answers.table import Curves, failed_table
from hra_lab.templates import template
from hra_lab.vqa.methods import BASELINE, BLANK, FULL, LABELS
from hra_lab.vqa.run import TARGET, Plan, Row
from hra_lab.vqa.sets import QuestionSet
from hra_lab.vqa.verdict import Against, Verdict, decide

_READS = 2.0
"""Points by which the image has to help, all tokens against a grey image, by the lower end."""
_PAGE = template(__package__, "report.page.txt")


@dataclass(frozen=True, eq=False)
class Answered:
    """A set with the rows of its questions."""

    set: QuestionSet
    rows: list[list[Row]]

    @property
    def images(self) -> list[str]:
        """What each question's image is: its questions are drawn together."""
        return [str(sample.image) for sample in self.set.samples]

    def cells(self) -> list[tuple[str, int]]:
        """Method and budget of all that no question skipped."""
        skipped = {(row["method"], row["budget"]) for rows in self.rows for row in rows if "skipped" in row}
        every = dict.fromkeys((row["method"], row["budget"]) for rows in self.rows for row in rows)
        return [cell for cell in every if cell not in skipped]

    def skipped(self) -> dict[tuple[str, int], str]:
        """Why a cell was skipped."""
        return {
            (row["method"], row["budget"]): row["skipped"] for rows in self.rows for row in rows if "skipped" in row
        }

    def of(self, cell: tuple[str, int], name: str, region: str = TARGET) -> list[Any]:
        """A number of each question that has the region; None where nobody says."""
        return [
            row[name]
            for rows in self.rows
            for row in rows
            if (row["method"], row["budget"]) == cell and row["region"] == region
        ]

    def seconds(self, cell: tuple[str, int]) -> list[float]:
        """Selection and answer together."""
        chosen, answers = self.of(cell, "selection_s"), self.of(cell, "answer_s")
        return [a + b for a, b in zip(chosen, answers, strict=True)]


def blindness(one: Answered) -> str | None:
    """Why nothing can be said: the model answers as well without seeing, or no interval has a width."""
    if len(set(one.images)) == 1:
        return f"on {one.set.name} all questions are to one image, of which no interval can be told"
    gain = _gain(one, (FULL, 0), (BLANK, 0))
    if gain.low > _READS:
        return None
    found = f"{gain.value:+.1f} points ({gain.low:+.1f} to {gain.high:+.1f})"
    return f"on {one.set.name} the image helps the model by {found}, which is not surely more than {_READS:.0f}"


def _gain(one: Answered, cell: tuple[str, int], other: tuple[str, int]) -> Interval:
    """Points of score more."""
    found = difference(one.of(cell, "score"), one.of(other, "score"), one.images)
    return Interval(*(100 * value for value in (found.value, found.low, found.high)))


def verdict(answered: Sequence[Answered], plan: Plan) -> Verdict:
    """The decision rule on all sets; sets that the model cannot read are named and left out."""
    blind = [why for one in answered if (why := blindness(one)) is not None]
    seen = [one for one in answered if blindness(one) is None]
    found = [against for one in seen for against in _against(one, plan)]
    made = decide(found, "; ".join(blind) if blind and not found else None)
    left_out = tuple(f"Left out: {why}." for why in blind) if found else ()
    return Verdict(made.use, made.sentence, made.tiers, (*made.notes, *left_out))


def _against(one: Answered, plan: Plan) -> list[Against]:
    reference, cells = (BASELINE, max(plan.budgets)), one.cells()
    found = []
    for method in plan.methods:
        own = [cell for cell in cells if cell[0] == method and method != BASELINE]
        if (method, reference[1]) in own and reference in cells:
            points = {budget: _gain(one, (method, budget), reference) for _, budget in own}
            times = {
                budget: ratio(one.seconds(reference), one.seconds((method, budget)), one.images) for _, budget in own
            }
            found.append(Against(one.set.name, one.set.kind, method, points, times, len(set(one.images))))
    return found


def record(answered: Sequence[Answered], plan: Plan, model: str, made: Verdict) -> dict[str, Any]:
    """All of it as plain data."""
    return {
        "model": model, "relevance": plan.relevance, "methods": plan.methods, "budgets": plan.budgets,
        "verdict": asdict(made),
        "sets": [
            {
                "name": one.set.name, "kind": one.set.kind, "measure": one.set.measure, "questions": len(one.rows),
                "images": len(set(one.images)),
                "cells": [_cell(one, cell) for cell in one.cells()],
                "skipped": [[*cell, why] for cell, why in one.skipped().items()],
                "answers": [
                    {"id": sample.identity, "rows": rows}
                    for sample, rows in zip(one.set.samples, one.rows, strict=True)
                ],
            }
            for one in answered
        ],
    }  # fmt: skip


def _cell(one: Answered, cell: tuple[str, int]) -> dict[str, Any]:
    score = mean_of(one.of(cell, "score"), one.images)
    regions = {
        region: float(np.mean(found))
        for region in ("secondary", "periphery")
        if (found := one.of(cell, "score", region))
    }
    return {"method": cell[0], "budget": cell[1], "score": asdict(score), "regions": regions, **_costs(one, cell)}


def _costs(one: Answered, cell: tuple[str, int]) -> dict[str, float | None]:
    """Means over the questions; None where nobody says."""

    def mean(name: str) -> float | None:
        known = [value for value in one.of(cell, name) if value is not None]
        return float(np.mean(known)) if known else None

    count, length, seconds = mean("tokens"), mean("length"), mean("answer_s")
    score = 100 * float(np.mean(one.of(cell, "score")))
    peaks = [value for value in one.of(cell, "peak_bytes") if value is not None]
    return {
        "tokens": count,
        "tokens_per_s": length / seconds if length and seconds else None,
        "first_s": mean("first_s"),
        "answer_s": seconds,
        "selection_s": mean("selection_s"),
        "peak_mb": max(peaks) / 1e6 if peaks else None,
        "points_per_100_tokens": 100 * score / count if count else None,
        "covered": mean("covered"),
    }


def page(answered: Sequence[Answered], plan: Plan, model: str, made: Verdict) -> str:
    """The report as Markdown."""
    tiers = [
        f"- Tier {tier.number}: {'reached' if tier.reached else 'not reached' if tier.reached is False else 'open'}. "
        f"{tier.why[:1].upper()}{tier.why[1:]}."
        for tier in made.tiers
    ]
    return _PAGE.substitute(
        verdict=made.sentence,
        tiers="\n".join([*tiers, *(f"- {note}" for note in made.notes)]) or "- No tier was looked at.",
        model=model,
        relevance=plan.relevance,
        reference=max(plan.budgets),
        sets="\n\n".join(_set(one, plan) for one in answered),
    )


def _set(one: Answered, plan: Plan) -> str:
    reference = (BASELINE, max(plan.budgets))

    def shown(cell: tuple[str, int]) -> str:
        found = mean_of(one.of(cell, "score"), one.images)
        return f"{100 * found.value:.1f} ({100 * found.low:.1f} to {100 * found.high:.1f})"

    def against(other: Callable[[int], tuple[str, int]]) -> Callable[[tuple[str, int]], str]:
        def cell_of(cell: tuple[str, int]) -> str:
            if cell == other(cell[1]) or other(cell[1]) not in one.cells():
                return "-"
            gain = _gain(one, cell, other(cell[1]))
            return f"{gain.value:+.1f} ({gain.low:+.1f} to {gain.high:+.1f})"

        return cell_of

    parts = [
        f"## {one.set.name}: {len(one.rows)} questions, {len(set(one.images))} images, {one.set.kind}",
        f"Score in percent: {one.set.measure}. All tokens: {shown((FULL, 0))}. A grey image: {shown((BLANK, 0))}.",
        _table(one, plan, shown),
        f"Points against T1 with {reference[1]} tokens:",
        _table(one, plan, against(lambda _: reference)),
    ]
    if "downsample" in plan.methods:
        parts.append("Points against down-sampling with as many tokens:")
        parts.append(_table(one, plan, against(lambda budget: ("downsample", budget))))
        parts.append("Where down-sampling with as many tokens scores below one half, percent:")
        parts.append(failed_table(_curves(one, plan)))
    if regional := _regions(one, plan):
        parts += ["By region, percent: tokens are chosen for the target and asked about what lies elsewhere.", regional]
    parts += ["Costs, means over the questions; selection is apart from the answer:", _cost_table(one)]
    parts += [f"Skipped: {LABELS.get(m, m)} at {b} tokens ({why})." for (m, b), why in one.skipped().items()]
    return "\n\n".join(parts)


def _curves(one: Answered, plan: Plan) -> Curves:
    """Scores as the tables of other suites take them."""
    cells = one.cells()
    methods = [m for m in plan.methods if all((m, b) in cells for b in plan.budgets)]
    curves: Curves = {IMAGE: {"0": one.of((FULL, 0), "score")}}
    for method in methods:
        curves[LABELS.get(method, method)] = {str(b): one.of((method, b), "score") for b in plan.budgets}
    return curves if DOWN in curves else {**curves, DOWN: {}}


def _table(one: Answered, plan: Plan, cell: Callable[[tuple[str, int]], str]) -> str:
    cells, budgets = one.cells(), plan.budgets
    lines = ["| method | " + " | ".join(f"{budget} tokens" for budget in budgets) + " |"]
    lines.append("| --- |" + " ---: |" * len(budgets))
    for method in plan.methods:
        shown = [cell((method, budget)) if (method, budget) in cells else "skipped" for budget in budgets]
        lines.append(f"| {LABELS.get(method, method)} | {' | '.join(shown)} |")
    return "\n".join(lines)


def _regions(one: Answered, plan: Plan) -> str:
    """Scores of target, secondary and periphery; nothing where no boxes are known."""
    counts = {region: len(one.of((FULL, 0), "score", region)) for region in ("secondary", "periphery")}
    if not any(counts.values()):
        return ""
    head = " | ".join(f"{region} ({count})" for region, count in counts.items())
    lines = [f"| method | tokens | target ({len(one.rows)}) | {head} |", "| --- |" + " ---: |" * 4]
    for cell in one.cells():
        if cell[0] != BLANK:
            scores = [one.of(cell, "score", region) for region in (TARGET, *counts)]
            shown = (f"{100 * np.mean(found):.1f}" if found else "-" for found in scores)
            lines.append(f"| {LABELS.get(cell[0], cell[0])} | {cell[1] or 'all'} | {' | '.join(shown)} |")
    return "\n".join(lines)


_COSTS = {
    "tokens": ("visual tokens", "{:.0f}"),
    "tokens_per_s": ("tokens/s of the answer", "{:.1f}"),
    "first_s": ("first token, s", "{:.3f}"),
    "answer_s": ("answer, s", "{:.3f}"),
    "selection_s": ("selection, s", "{:.3f}"),
    "peak_mb": ("peak, MB", "{:.0f}"),
    "points_per_100_tokens": ("points per 100 tokens", "{:.2f}"),
    "covered": ("image covered", "{:.0%}"),
}


def _cost_table(one: Answered) -> str:
    lines = ["| method | budget | " + " | ".join(head for head, _ in _COSTS.values()) + " |"]
    lines.append("| --- |" + " ---: |" * (1 + len(_COSTS)))
    for cell in one.cells():
        costs = _costs(one, cell)
        shown = ("-" if (value := costs[name]) is None else form.format(value) for name, (_, form) in _COSTS.items())
        lines.append(f"| {LABELS.get(cell[0], cell[0])} | {cell[1] or '-'} | {' | '.join(shown)} |")
    return "\n".join(lines)
