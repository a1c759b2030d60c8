"""What every judge asks: an image, a question, the place of the answer, and how a picture of it is scored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from hra.domains.tokens import Relevance


@dataclass(frozen=True, eq=False)
class Task:
    """One question to one image.

    Attributes
    ----------
    name : of the image, unlike all others.
    image : float32 [H, W, 3] in [0, 1].
    box : pixels (x0, y0, x1, y1), end excluded, of the answer.
    guide : relevance from the question alone.
    judge : from a picture [H, W, 3] to its scores in 0 .. 1; the first is the one that counts.
    brief : from a picture to the score that counts alone, where strata, levels and budgets are asked for, too.
    """

    name: str
    image: np.ndarray
    query: str
    box: tuple[int, int, int, int]
    guide: Relevance
    judge: Callable[[np.ndarray], Mapping[str, float]]
    brief: Callable[[np.ndarray], float] | None = None
