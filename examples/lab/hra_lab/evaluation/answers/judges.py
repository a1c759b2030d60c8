"""Both judges as plain data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hra_lab.evaluation.answers.run import gathered, gathered_splits


@dataclass(frozen=True)
class AnswerSizes:
    """How many images are asked."""

    tasks: int = 60


FULL = AnswerSizes()
# Shows that everything runs.
SMALL = AnswerSizes(tasks=2)


def run_reading(
    sizes: AnswerSizes, progress: Callable[[str], None], parts: Path | None = None, seed: int | None = None
) -> dict[str, Any]:
    """Scores of OCR by measure, method and tokens; see `hra_lab.evaluation.answers.reading.scored_pages`."""
    from hra_lab.evaluation.answers.reading import SEED, scored_pages

    return record("reading", scored_pages(sizes.tasks, parts, progress, SEED if seed is None else seed))


def run_seeing(
    sizes: AnswerSizes, progress: Callable[[str], None], parts: Path | None = None, seed: int | None = None
) -> dict[str, Any]:
    """Scores of an image network; see `hra_lab.evaluation.answers.seeing.scored_scenes`."""
    from hra_lab.evaluation.answers.seeing import SEED, scored_scenes

    return record("seeing", scored_scenes(sizes.tasks, parts, progress, SEED if seed is None else seed))


def record(suite: str, scored: list[dict[str, Any]]) -> dict[str, Any]:
    """The scores of a suite by measure, method and tokens; and by group and setting, where those were asked for."""
    made = {"suite": suite, "tasks": len(scored), "names": [one["name"] for one in scored], "scores": gathered(scored)}
    splits = gathered_splits(scored)
    return made | ({"splits": splits} if splits else {})
