"""Readers trained on tokens of all methods, and what they answer about each cell of the experiment.

What a reader answers: right or wrong for every question of a shard.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from hra.errors import BackendUnavailable
from hra.files.job_folder import open_job
from hra_lab.evidence.batches import of_shard, without
from hra_lab.evidence.canvas import KINDS, Canvas, canvases
from hra_lab.evidence.cells import BLIND, METHODS, Cell
from hra_lab.evidence.reader import SMALL as SMALL_READER
from hra_lab.evidence.reader import Reader, Size
from hra_lab.evidence.shards import Shard, make_shard
from hra_lab.evidence.sprites import Split
from hra_lab.evidence.stock import Stock
from hra_lab.evidence.training import Plan, train
from hra_lab.evidence.weights import load_reader, save_reader

BUDGETS = (10, 17, 34, 68)
MAIN = 10


def right(
    reader: Reader, shard: Shard, *, values: bool = True, places: bool = True, device: str = "cpu", batch: int = 100
) -> np.ndarray:
    """Whether each answer is right, bool [N, 4]; without ``values`` in grey, without ``places`` from anywhere."""
    found = []
    with torch.no_grad():
        for start in range(0, len(shard), batch):
            part = of_shard(shard, np.arange(start, min(start + batch, len(shard))))
            shown = without(part, values=values, places=places)
            scores = reader(shown.pixels.to(device), shown.boxes.to(device), shown.words.to(device))
            found.append(scores.argmax(-1).cpu().numpy() == part.answers.numpy())
    return np.concatenate(found)


"""Tokens of the tests: the budget at which down-sampling is neither too good nor too bad on the validation split."""
SEEING = tuple(method for method in METHODS if method not in BLIND)
NOISY = ("uniform", "0.6", "0.75", "0.9")
ALL = Cell("grid", 256, "oracle")
"""Every finest token: what a reader can do at best."""
MIXED = (*(Cell(method, budget, "oracle") for budget in (17, 34, 68, 10) for method in METHODS), ALL)
"""What readers are trained on beside views (`hra_lab.evidence.batches`)."""
CELLS = (
    ALL,
    *(Cell(method, budget, "oracle") for method in SEEING for budget in BUDGETS),
    *(Cell(method, budget) for method in BLIND for budget in BUDGETS),
    *(Cell(method, budget, known) for method in ("pyramid", "grid") for budget in (MAIN, 17) for known in NOISY),
)
CONTROLS = (ALL, Cell("pyramid", MAIN, "oracle"), Cell("downsample", MAIN))
"""Asked again in grey, and without places either."""
DOWNSAMPLED = Cell("downsample", MAIN)
"""The cell that a gate asks to be neither too good nor too bad."""


@dataclass(frozen=True)
class Extent:
    """How much is made, trained and asked.

    Attributes
    ----------
    trained, mixed, asked : canvases for views, for tokens of `MIXED`, and to be asked about.
    alone, steps : gradients of the stem on tokens one by one, and of all else. seeds : readers.
    size : of a reader. cells, mixture : that are asked about, and trained on.
    """

    trained: int
    mixed: int
    asked: int
    alone: int
    steps: int
    seeds: int
    size: Size = SMALL_READER
    cells: tuple[Cell, ...] = CELLS
    mixture: tuple[Cell, ...] = MIXED

    @property
    def trains(self) -> dict[str, Any]:
        """What decides a reader, beside its seed."""
        facts = {name: getattr(self, name) for name in ("trained", "mixed", "alone", "steps")}
        return {**facts, "size": asdict(self.size), "mixture": [cell.name for cell in self.mixture]}


FULL = Extent(2000, 400, 500, 700, 1100, 5)
SMALL = Extent(800, 100, 200, 400, 300, 1)
"""Some minutes; what it prints is marked as not converged."""


def run(
    extent: Extent, folder: Path, progress: Callable[[str], None], *, device: str = "cpu", seed: int = 0
) -> dict[str, Any]:
    """Train readers in ``folder``, or take them from there, and ask them about the test split; what `ask` returns."""
    readers = [trained_reader(folder, extent, seed, progress, device=device) for seed in range(extent.seeds)]
    return ask(readers, "test", extent, progress, device=device, seed=seed)


def trained_reader(
    folder: Path, extent: Extent, seed: int, progress: Callable[[str], None], *, device: str = "cpu"
) -> Reader:
    """The reader of a seed, from ``folder`` where it is; training goes on from its last state there.

    Raises
    ------
    FileError : what is there is damaged. HraError : it is of another extent.
    BackendUnavailable : torch has no such device here.
    MissingExtra : what the extra ``learn`` brings is not installed.
    """
    _check_device(device)
    open_job(folder, extent.trains, "*.safetensors")
    if (weights := folder / f"reader-{seed}.safetensors").exists():
        return load_reader(weights).to(device)
    progress(f"{extent.trained + extent.mixed} canvases to train on")
    stock = Stock.of(canvases("train", extent.trained))
    mixed = list(canvases("train", extent.mixed, start=extent.trained))
    shards = [make_shard(cell, mixed, 1000 * i, mixed=True) for i, cell in enumerate(extent.mixture)]
    plan = Plan(extent.size, extent.alone, extent.steps, seed=seed)
    reader = train(plan, stock, shards, progress, device=device, checkpoint=folder / f"state-{seed}.safetensors")
    save_reader(weights, reader)
    return reader


def _check_device(name: str) -> None:
    """Refuse at once what torch would refuse after minutes of making canvases."""
    try:
        torch.empty(1, device=name).cpu()
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        what = f"torch cannot run on {name!r}: {str(error).partition(chr(10))[0][:200]}"
        raise BackendUnavailable(
            what, where="device", fix="use cpu, or a device that this build of torch has"
        ) from error


def ask(
    readers: Sequence[Reader],
    split: Split,
    extent: Extent,
    progress: Callable[[str], None],
    *,
    device: str = "cpu",
    seed: int = 0,
) -> dict[str, Any]:
    """What readers answer about the cells of ``extent`` on a split, whose canvases are drawn from ``seed``.

    Returns
    -------
    ``cells``: for each cell, and each cell of `CONTROLS` in grey and without places, for each reader whether the answer
    is right, in hexadecimal bits, canvases times `KINDS`. ``commonest``: what the commonest answer to the same words
    gives. ``sizes``: of the targets, large to small.
    """
    made = list(canvases(split, extent.asked, seed))
    rows = []
    for cell in extent.cells:
        progress(f"asking about {cell.name}")
        shard = make_shard(cell, made)
        shown = ({}, {"values": False}, {"values": False, "places": False}) if cell in CONTROLS else ({},)
        for parts in shown:
            answers = [right(reader, shard, device=device, **parts) for reader in readers]
            named = {"method": cell.method, "budget": cell.budget, "relevance": _relevance(cell)}
            rows.append({**named, "shown": _SHOWN[len(parts)], "right": [_hex(answer) for answer in answers]})
    sizes = "".join(str(next(t.size for t in canvas.things if t.ask() == canvas.questions[0])) for canvas in made)
    head = {"canvases": len(made), "split": split, "steps": extent.steps, "converged": extent.steps >= FULL.steps}
    return {**head, "commonest": _commonest(made), "sizes": sizes, "rows": rows}


_SHOWN = ("all", "places", "question")


def _relevance(cell: Cell) -> str:
    return "none" if cell.method in BLIND else str(cell.relevance)


def _hex(answers: np.ndarray) -> str:
    return np.packbits(answers.reshape(-1)).tobytes().hex()


def unpacked(bits: Sequence[str], count: int) -> np.ndarray:
    """Right or wrong of each reader, bool [readers, canvases, kinds], of a row that `ask` wrote."""
    rows = [np.unpackbits(np.frombuffer(bytes.fromhex(text), np.uint8))[: count * len(KINDS)] for text in bits]
    return np.array(rows, bool).reshape(len(rows), count, len(KINDS))


def _commonest(made: Sequence[Canvas]) -> dict[str, float]:
    """How often the commonest answer to the same words is right, counted on what is asked itself."""
    answers: dict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
    for canvas in made:
        for question in canvas.questions:
            answers[question.words[:2]][question.answer] += 1
    asked = [[answers[q.words[:2]].most_common(1)[0][0] == q.answer for q in canvas.questions] for canvas in made]
    return dict(zip(KINDS, np.mean(asked, axis=0).round(4).tolist(), strict=True))
