"""One reader trained on a mixture of cells, and what it answers on the validation split.

The test split is for the day when hypotheses are written down; nothing here touches it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hra.lab.evidence.canvas import KINDS
from hra.lab.evidence.cells import BLIND, Cell
from hra.lab.evidence.judging import right
from hra.lab.evidence.reader import FULL as FULL_READER
from hra.lab.evidence.reader import QUICK, Size
from hra.lab.evidence.shards import Shard, shards
from hra.lab.evidence.training import Plan, train

_BUDGETS = (16, 37, 68, 137)
CELLS = (
    *(Cell(method, budget, "oracle") for method in ("pyramid", "grid") for budget in _BUDGETS),
    *(Cell(method, budget) for method in BLIND for budget in _BUDGETS),
    Cell("foveated", 68, "oracle"),
    Cell("log-polar", 37, "oracle"),
)
"""What a reader is trained on, so that no method is read by one that has not seen its tokens."""


@dataclass(frozen=True)
class Extent:
    """How much is made, trained and asked.

    Attributes
    ----------
    trained, validated : canvases. steps : gradients. size : of the reader. cells : of the mixture.
    """

    trained: int
    validated: int
    steps: int
    size: Size
    cells: tuple[Cell, ...] = CELLS


FULL = Extent(24_000, 2_000, 12_000, FULL_READER)
SMALL = Extent(64, 32, 20, QUICK, (Cell("pyramid", 68, "oracle"), Cell("downsample", 68)))


def run(
    folder: Path, extent: Extent, progress: Callable[[str], None], *, seed: int = 0, device: str = "cpu"
) -> dict[str, Any]:
    """Make tokens, train a reader and ask it; what is in ``folder`` already is not made again.

    Returns
    -------
    Sizes, and for each cell the share of right answers of each of `KINDS`, with the share that the commonest answers
    of the training split would give.

    Raises
    ------
    MissingExtra : what the extra ``learn`` brings is not installed.
    """
    mixture = shards(folder, "train", extent.trained, extent.cells, progress)
    asked = shards(folder, "validation", extent.validated, extent.cells, progress)
    plan = Plan(extent.size, extent.steps, seed=seed)
    reader = train(plan, mixture, progress, device=device, checkpoint=folder / f"reader-{seed}.safetensors")
    chance = _majority(next(iter(mixture.values())), next(iter(asked.values())))
    rows = [
        {"cell": cell.name, "tokens": cell.budget, **_by_kind(right(reader, shard, device=device))}
        for cell, shard in asked.items()
    ]
    parameters = sum(value.numel() for value in reader.parameters())
    sizes = {"trained": extent.trained, "validated": extent.validated, "steps": extent.steps, "seed": seed}
    return {**sizes, "parameters": parameters, "commonest": _by_kind(chance), "rows": rows}


def _by_kind(answers: np.ndarray) -> dict[str, float]:
    return {kind: round(float(share), 4) for kind, share in zip(KINDS, answers.mean(axis=0), strict=True)}


def _majority(trained: Shard, asked: Shard) -> np.ndarray:
    """Whether the commonest answer to the same first two words is right [N, 4]; codes are never guessed in whole."""
    best: dict[tuple[int, ...], int] = {}
    keys = trained.words[..., :2].reshape(-1, 2)
    for key in {tuple(pair) for pair in keys.tolist()}:
        best[key] = int(np.bincount(trained.answers.reshape(-1)[(keys == key).all(axis=1)]).argmax())
    guess = np.array([[best.get(tuple(words[:2]), -1) for words in row] for row in asked.words.tolist()])
    return (guess == asked.answers) & (asked.seconds < 0)
