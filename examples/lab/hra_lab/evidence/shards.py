"""Tokens of many canvases by one cell, to ask a reader about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hra_lab.evidence.canvas import Canvas
from hra_lab.evidence.cells import Cell


@dataclass(frozen=True, eq=False)
class Shard:
    """Tokens of N canvases, made for their targets, and what is asked of each.

    Attributes
    ----------
    pixels : uint8 [N, K, 768]; boxes : int16 [N, K, 4], (x0, y0, x1, y1).
    words : int8 [N, 4, 3]; answers : int8 [N, 4], one question of each of `hra_lab.evidence.canvas.KINDS`.
    """

    pixels: np.ndarray
    boxes: np.ndarray
    words: np.ndarray
    answers: np.ndarray

    def __len__(self) -> int:
        """Canvases."""
        return len(self.pixels)


def make_shard(cell: Cell, made: Sequence[Canvas], seed: int = 0, *, mixed: bool = False, asked: int = 0) -> Shard:
    """Tokens of ``made`` canvases, made for the target, so that secondary and periphery keep their meaning.

    Or for the question of another number ``asked``.

    If ``mixed``, to train on, they are made for one of the first three questions at random: else what is shown best
    would be what is asked, and nobody had to read the question.
    """
    number = np.random.default_rng(seed).integers(3, size=len(made)) if mixed else np.full(len(made), asked)
    rows = [cell.tokens_of(canvas, int(number[i]), seed + i) for i, canvas in enumerate(made)]
    return Shard(
        np.stack([pixels for pixels, _ in rows]),
        np.stack([boxes for _, boxes in rows]),
        np.array([[q.words for q in canvas.questions] for canvas in made], np.int8),
        np.array([[q.answer for q in canvas.questions] for canvas in made], np.int8),
    )
