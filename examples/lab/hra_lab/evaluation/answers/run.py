"""All methods on all tasks, judged; what was judged before a run was killed is not judged again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from hra.files.atomic_write import write_atomically
from hra.files.job_folder import open_job
from hra.files.json_text import parse_object
from hra.files.local_files import read_regular
from hra_lab.evaluation.answers.methods import METHODS, pictures, split_pictures
from hra_lab.evaluation.answers.tasks import Task

BUDGETS = (16, 64, 137, 273, 529)
FULL = "the image itself"
# Raised whenever scores of the same tasks would come out otherwise.
_VERSION = 2

Scored = dict[str, Any]


def judged(
    tasks: Iterable[Task], facts: dict[str, Any], parts: Path | None, progress: Callable[[str], None]
) -> list[Scored]:
    """One record per task: its ``name``, ``scores`` by measure, method and tokens, and where asked ``splits``.

    Parameters
    ----------
    facts : that tell these tasks from others.
    parts : folder with a file per task that is done; None keeps nothing.

    Raises
    ------
    HraError : the folder holds the parts of other tasks, or cannot be written.
    """
    if parts is not None:
        open_job(parts, {**facts, "budgets": BUDGETS, "methods": METHODS, "version": _VERSION})
    made = []
    for number, task in enumerate(tasks):
        progress(task.name)
        made.append(_kept(None if parts is None else parts / f"{number:05}.json", task))
    return made


def _kept(file: Path | None, task: Task) -> Scored:
    if file is not None and file.exists():
        return parse_object(read_regular(file), "part", str(file))
    scored: Scored = {"name": task.name, "scores": _scores(task)}
    if task.brief is not None:
        scored["splits"] = _splits(task, task.brief)
    if file is not None:
        write_atomically(file, json.dumps(scored).encode())
    return scored


def _scores(task: Task) -> dict[str, dict[str, dict[str, float]]]:
    """Measure, method, tokens: score; the image itself counts as 0 tokens."""
    scores: dict[str, dict[str, dict[str, float]]] = {}
    for measure, score in task.judge(task.image).items():
        scores[measure] = {FULL: {"0": round(score, 4)}}
    for method, budget, picture in pictures(task, BUDGETS):
        for measure, score in task.judge(picture).items():
            scores[measure].setdefault(method, {})[str(budget)] = round(score, 4)
    return scores


def _splits(task: Task, brief: Callable[[np.ndarray], float]) -> dict[str, dict[str, float]]:
    """Group, setting: score by the measure that counts; without the settings that the image is too small for."""
    scores: dict[str, dict[str, float]] = {}
    for group, name, picture in split_pictures(task):
        scores.setdefault(group, {})[name] = round(brief(picture), 4)
    return scores


def gathered(scored: list[Scored]) -> dict[str, dict[str, dict[str, list[float]]]]:
    """Measure, method, tokens: the scores of all tasks that have the measure, in their order."""
    measures = dict.fromkeys(measure for one in scored for measure in one["scores"])
    return {
        measure: _gather([one["scores"][measure] for one in scored if measure in one["scores"]]) for measure in measures
    }


def _gather(scores: list[dict[str, dict[str, float]]]) -> dict[str, dict[str, list[float]]]:
    return {
        method: {budget: [one[method][budget] for one in scores] for budget in by_budget}
        for method, by_budget in scores[0].items()
    }


def gathered_splits(scored: list[Scored]) -> dict[str, dict[str, list[float]]]:
    """Group, setting: the scores of all tasks; only settings that every one of them has."""
    of = [one["splits"] for one in scored if "splits" in one]
    return {
        group: {
            name: [one[group][name] for one in of] for name in of[0][group] if all(name in one[group] for one in of)
        }
        for group in (of[0] if of else ())
    }
