"""Both evaluations of questions as plain data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hra_lab.evaluation.questions.pairs import pairs
from hra_lab.evaluation.questions.reading import read_rows
from hra_lab.evaluation.questions.showing import shown_rows


@dataclass(frozen=True)
class QuestionSizes:
    """How much of the evaluation to run.

    Attributes
    ----------
    documents : pages that OCR reads from their tokens.
    pages, canvases : images with two questions each, of which the share of the answer's box is measured.
    """

    documents: int = 100
    pages: int = 12
    canvases: int = 10


FULL = QuestionSizes()
# Shows that everything runs.
SMALL = QuestionSizes(documents=2, pages=1, canvases=1)


def run(sizes: QuestionSizes, progress: Callable[[str], None], seed: int | None = None) -> dict[str, Any]:
    """``read``, one row per page, method and budget; ``shown``, one per pair, preset, relevance and budget; ``pairs``.

    Parameters
    ----------
    progress : is told what is being worked on.
    seed : of the pages that are read; that of the shipped tables unless given.

    Raises
    ------
    MissingExtra : RapidOCR, Pillow or Matplotlib is not installed.
    """
    read = list(read_rows(sizes.documents, progress, seed))
    asked = list(pairs(sizes.pages, sizes.canvases))
    shown = [row for number, pair in enumerate(asked) for row in shown_rows(pair, number, progress)]
    about = [{"kind": pair.kind, "query": pair.query, "adversarial": pair.adversarial} for pair in asked]
    return {"read": read, "shown": shown, "pairs": about}
