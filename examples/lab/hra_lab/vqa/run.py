"""Every method on every question; what was answered before a run was killed is not asked again.

A file for each question is written whole after each answer, so that a kill loses the answer under way and no more. More
methods, budgets or questions go on from what is there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hra.domains import tokens
from hra.errors import BudgetTooSmall, HraError, InfeasibleShares
from hra.files.atomic_write import write_atomically
from hra.files.images import load_image
from hra.files.job_folder import open_job
from hra.files.json_text import parse_object
from hra.files.local_files import read_regular
from hra_lab.vqa.methods import BASELINE, BLANK, FULL, ORACLE, Way, relevance_for
from hra_lab.vqa.models import PROMPT, Model, Question, Told
from hra_lab.vqa.sets import QuestionSet, Sample

# Raised whenever answers to the same questions would come out otherwise.
_VERSION = 1
TARGET = "target"

Row = dict[str, Any]
"""An answer: method, budget, region, score, and what `Told` holds; or method, budget and why it was ``skipped``."""


@dataclass(frozen=True)
class Plan:
    """What is compared.

    Attributes
    ----------
    relevance : by name, or "oracle".
    """

    methods: tuple[str, ...]
    budgets: tuple[int, ...]
    relevance: str

    def cells(self) -> list[tuple[str, int]]:
        """Method and budget of each answer to a question; the model as it is, and without seeing, first."""
        return [(FULL, 0), (BLANK, 0), *((method, budget) for method in self.methods for budget in self.budgets)]


def answered(
    asked: QuestionSet, model: Model, plan: Plan, folder: Path, progress: Callable[[int], None]
) -> list[list[Row]]:
    """The rows of each question of a set, in their order.

    Parameters
    ----------
    folder : that keeps the answers. progress : called with the questions that are done.

    Raises
    ------
    HraError : the folder holds answers of another model, set or relevance; or of the model or relevance.
    """
    facts = {"set": asked.name, "measure": asked.measure, "model": model.name, "relevance": plan.relevance}
    open_job(folder, {**facts, "prompt": PROMPT, "version": _VERSION})
    found = []
    for number, sample in enumerate(asked.samples):
        progress(number)
        found.append(_rows(asked, sample, model, plan, folder / f"{_digest(sample)}.json"))
    progress(len(asked.samples))
    return found


def _digest(sample: Sample) -> str:
    """A name that changes with what is asked."""
    told = [sample.identity, sample.image.name, sample.question, sample.answers, sample.boxes, sample.others]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:24]


def _rows(asked: QuestionSet, sample: Sample, model: Model, plan: Plan, file: Path) -> list[Row]:
    rows: list[Row] = parse_object(read_regular(file), "answers", str(file))["rows"] if file.exists() else []
    known = {(row["method"], row["budget"]) for row in rows}
    missing = [cell for cell in plan.cells() if cell not in known]
    relevance = None
    for method, budget in missing:
        if relevance is None:
            size = load_image(sample.image).shape[:2]
            relevance = relevance_for(plan.relevance, (size[0], size[1]), sample.boxes)
        way = None if method in (FULL, BLANK) else Way(method, budget, relevance)
        try:
            rows = [*rows, *_answers(asked, sample, model, method, way)]
        except (BudgetTooSmall, InfeasibleShares) as error:
            rows = [*rows, {"method": method, "budget": budget, "skipped": error.what}]
        write_atomically(file, json.dumps({"question": sample.identity, "rows": rows}).encode())
    order = {cell: number for number, cell in enumerate(plan.cells())}
    return sorted(
        (row for row in rows if (row["method"], row["budget"]) in order),
        key=lambda row: order[row["method"], row["budget"]],
    )


def _answers(asked: QuestionSet, sample: Sample, model: Model, method: str, way: Way | None) -> Iterator[Row]:
    """The answer to the question, and from the same tokens to those that lie elsewhere."""
    blank = method == BLANK
    regions = [(TARGET, sample.question, sample.answers), *(() if blank else sample.others)]
    for region, question, answers in regions:
        told = model.ask(Question(sample.image, question, sample.question, blank), way)
        score = round(asked.score(told.text, answers), 6)
        cell = {"method": method, "budget": 0 if way is None else way.budget, "region": region}
        yield {**cell, "score": score, **_rounded(told)}


def _rounded(told: Told) -> dict[str, Any]:
    return {name: round(value, 6) if isinstance(value, float) else value for name, value in asdict(told).items()}


def check_plan(plan: Plan) -> None:
    """Refuse what no verdict could be made of, before a model is loaded and asked.

    Raises
    ------
    HraError : no method or budget, one of them twice, no T1, a budget below 1, a method or relevance that is not known.
    """
    for name, values in (("--methods", plan.methods), ("--budgets", plan.budgets)):
        if not values or len(set(values)) != len(values):
            raise HraError(f"{name} names none, or one of them twice", where=name, fix="name each once")
    if BASELINE not in plan.methods:
        raise HraError("nothing to compare with", where="--methods", fix="name grid (T1) among them")
    if min(plan.budgets) < 1:
        raise HraError(f"a budget of {min(plan.budgets)} tokens", where="--budgets", fix="ask for 1 or more")
    for method in plan.methods:
        tokens.preset(method)
    if plan.relevance != ORACLE:
        relevance_for(plan.relevance, (1, 1), ())
