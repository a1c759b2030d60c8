"""One reader trained on views of canvases, and what it answers on the validation split.

The test split is for the day when hypotheses are written down; nothing here touches it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hra.lab.evidence.canvas import KINDS, Canvas, canvases
from hra.lab.evidence.cells import BLIND, Cell
from hra.lab.evidence.judging import right
from hra.lab.evidence.reader import FULL as FULL_READER
from hra.lab.evidence.reader import QUICK, Reader, Size
from hra.lab.evidence.shards import make_shard
from hra.lab.evidence.stock import Stock
from hra.lab.evidence.training import Plan, train

BUDGETS = (10, 17, 34, 68)
ALL = Cell("grid", 256, "oracle")
"""Every finest token: what the reader could do at best."""
CELLS = (
    ALL,
    *(Cell(method, budget, "oracle") for method in ("pyramid", "grid", "foveated") for budget in BUDGETS),
    *(Cell(method, budget) for method in BLIND for budget in BUDGETS),
    *(Cell(method, 17, auc) for method in ("pyramid", "grid") for auc in ("0.9", "0.75", "0.6")),
    Cell("log-polar", 10, "oracle"),
)
"""What a reader is asked about. It has been trained on tokens of no method in particular (`hra.lab.evidence.views`)."""


@dataclass(frozen=True)
class Extent:
    """How much is made, trained and asked.

    Attributes
    ----------
    trained, validated : canvases. crops, steps : gradients of the stem on crops, and of all on views.
    size : of the reader. cells : that are asked about.
    """

    trained: int
    validated: int
    crops: int
    steps: int
    size: Size
    cells: tuple[Cell, ...] = CELLS


FULL = Extent(24_000, 2_000, 2_000, 12_000, FULL_READER)
SMALL = Extent(64, 32, 5, 20, QUICK, (ALL, Cell("pyramid", 17, "oracle"), Cell("downsample", 17)))


def run(
    folder: Path, extent: Extent, progress: Callable[[str], None], *, seed: int = 0, device: str = "cpu"
) -> dict[str, Any]:
    """Make canvases, train a reader and ask it; training goes on from its last state in ``folder``.

    Returns
    -------
    Sizes, and the record of `ask`.

    Raises
    ------
    MissingExtra : what the extra ``learn`` brings is not installed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    progress(f"{extent.trained} canvases to train on")
    stock = Stock.of(canvases("train", extent.trained))
    plan = Plan(extent.size, extent.steps, extent.crops, seed=seed)
    reader = train(plan, stock, progress, device=device, checkpoint=folder / f"reader-{seed}.safetensors")
    sizes = {"trained": extent.trained, "validated": extent.validated, "steps": extent.steps, "seed": seed}
    parameters = sum(value.numel() for value in reader.parameters())
    return {**sizes, "parameters": parameters, **ask(reader, extent, progress, device=device)}


def ask(reader: Reader, extent: Extent, progress: Callable[[str], None], *, device: str = "cpu") -> dict[str, Any]:
    """What a reader answers about each cell on the validation split.

    Returns
    -------
    For each cell the share of right answers of each of `KINDS`, ``values`` or no more than the places of its tokens
    (``boxes``), and ``commonest``: what the commonest answer to the same first two words would give.
    """
    made = list(canvases("validation", extent.validated))
    rows = []
    for cell in extent.cells:
        progress(f"asking about {cell.name}")
        shard = make_shard(cell, made)
        values, boxes = (_by_kind(right(reader, shard, values=shown, device=device)) for shown in (True, False))
        rows.append({"cell": cell.name, "tokens": cell.budget, "values": values, "boxes": boxes})
    return {"commonest": _by_kind(_commonest(made)), "rows": rows}


def _by_kind(answers: np.ndarray) -> dict[str, float]:
    return {kind: round(float(share), 4) for kind, share in zip(KINDS, answers.mean(axis=0), strict=True)}


def _commonest(made: Sequence[Canvas]) -> np.ndarray:
    """Whether the commonest answer to the same first two words is right [N, 4], counted on what is asked itself."""
    asked = [question for canvas in made for question in canvas.questions]
    answers: dict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
    for question in asked:
        answers[question.words[:2]][question.answer] += 1
    guessed = [answers[question.words[:2]].most_common(1)[0][0] == question.answer for question in asked]
    return np.array(guessed).reshape(-1, len(KINDS))
