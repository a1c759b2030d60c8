"""Tokens of many canvases by one cell, made once and kept as compressed arrays."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

import numpy as np

from hra.errors import HraError
from hra.lab.evidence.canvas import KINDS, Canvas, canvases
from hra.lab.evidence.cells import Cell
from hra.lab.evidence.shown import shown
from hra.lab.evidence.sprites import Split
from hra.safety.atomic_write import write_atomically


@dataclass(frozen=True, eq=False)
class Shard:
    """Tokens of N canvases, and what is asked of each.

    Attributes
    ----------
    pixels : uint8 [N, K, 192]; boxes : int16 [N, K, 4], (x0, y0, x1, y1).
    shown : int8 [N, K, 5], what each token shows (`hra.lab.evidence.shown`).
    asked : int8 [N], number of the question that the tokens were made for.
    words : int8 [N, Q, 4]; answers, seconds : int8 [N, Q], of all that is asked: in training everything that can be,
        repeated where a canvas has less, else one question of each of `KINDS`.
    """

    pixels: np.ndarray
    boxes: np.ndarray
    shown: np.ndarray
    asked: np.ndarray
    words: np.ndarray
    answers: np.ndarray
    seconds: np.ndarray

    def __len__(self) -> int:
        """Canvases."""
        return len(self.pixels)


_FIELDS = ("pixels", "boxes", "shown", "asked", "words", "answers", "seconds")


def make_shard(cell: Cell, made: Sequence[Canvas], seed: int, *, training: bool) -> Shard:
    """Tokens of ``made`` canvases, for training each for one of its questions at random, else for the target."""
    random = np.random.default_rng((seed, 1))
    asked = random.integers(0, len(KINDS) if training else 1, len(made)).astype(np.int8)
    rows = [cell.tokens_of(canvas, int(j), seed + i) for i, (canvas, j) in enumerate(zip(made, asked, strict=True))]
    questions = [canvas.everything if training else canvas.questions for canvas in made]
    most = max(map(len, questions))
    questions = [tuple(islice(cycle(asked), most)) for asked in questions]
    return Shard(
        np.stack([pixels for pixels, _ in rows]),
        np.stack([boxes for _, boxes in rows]),
        np.stack([shown(boxes, canvas.things) for canvas, (_, boxes) in zip(made, rows, strict=True)]),
        asked,
        np.array([[q.words for q in row] for row in questions], np.int8),
        np.array([[q.answer for q in row] for row in questions], np.int8),
        np.array([[q.second for q in row] for row in questions], np.int8),
    )


def shards(
    folder: Path, split: Split, count: int, cells: Sequence[Cell], progress: Callable[[str], None], *, seed: int = 0
) -> dict[Cell, Shard]:
    """One shard for each cell, read from ``folder`` where it was made before.

    Test canvases are always allocated for their target, so that the kinds of `KINDS` keep their meaning.
    """
    made: list[Canvas] = []
    found: dict[Cell, Shard] = {}
    for cell in cells:
        file = folder / f"{split}-{count}-{seed}-{cell.name}.npz"
        if not file.exists():
            made = made or list(canvases(split, count, seed))
            progress(f"tokens of {count} {split} canvases by {cell.name}")
            _write(file, make_shard(cell, made, seed, training=split == "train"))
        found[cell] = _read(file)
    return found


def _write(file: Path, shard: Shard) -> None:
    buffer = io.BytesIO()
    np.savez(buffer, **{name: getattr(shard, name) for name in _FIELDS})
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, buffer.getvalue())


def _read(file: Path) -> Shard:
    with np.load(file, allow_pickle=False) as stored:
        if missing := set(_FIELDS) - set(stored):
            raise HraError(
                f"made by an earlier version, without {sorted(missing)}", where=str(file), fix="use a new folder"
            )
        return Shard(*(stored[name] for name in _FIELDS))
