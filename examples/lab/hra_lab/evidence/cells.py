"""Cells of the experiment: which method makes how many tokens of a canvas, and what it knows of the question."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from hra.domains import tokens
from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.context.context import Relevance
from hra.errors import HraError
from hra_lab.evidence.canvas import PATCH, Canvas
from hra_lab.evidence.questions import Question

METHODS: Mapping[str, Callable[[Relevance], TokenAllocator[Any]]] = MappingProxyType(
    {
        "pyramid": lambda relevance: tokens.PyramidSampling(relevance, patch=PATCH),
        "grid": lambda relevance: tokens.GridTopK(relevance, patch=PATCH),
        "foveated": lambda relevance: tokens.FoveatedPyramid(relevance, patch=PATCH),
        "log-polar": lambda relevance: tokens.LogPolar(relevance, patch=PATCH),
        "downsample": lambda _: tokens.Downsample(patch=PATCH),
        "uniform-grid": lambda _: tokens.UniformGrid(patch=PATCH),
        "random": lambda _: tokens.Random(patch=PATCH),
    }
)
"""Methods by name, each made from a relevance; the last three are baselines that ask for none."""
BLIND = ("downsample", "uniform-grid", "random")


@dataclass(frozen=True)
class Cell:
    """One way to make tokens.

    Attributes
    ----------
    method : name of one of `METHODS`.
    budget : tokens.
    relevance : "uniform", "cues", "oracle", a number as "0.9", the area under the ROC curve of a noisy oracle, or what
        scores patches itself.
    """

    method: str
    budget: int
    relevance: str | Relevance = "uniform"

    @property
    def name(self) -> str:
        """For files and tables."""
        return f"{self.method}-{self.budget}" + ("" if self.method in BLIND else f"-{self.relevance}")

    def tokens_of(self, canvas: Canvas, asked: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Pixels uint8 [K, 768] and boxes int16 [K, 4] of the tokens made for question number ``asked``."""
        question = canvas.questions[asked]
        allocator = METHODS[self.method](self._relevance(question, seed))
        image = canvas.image.astype(np.float32) / 255
        chosen = allocator.realize(allocator.allocate((image, question.text), self.budget))
        if len(chosen) != self.budget:
            raise HraError(f"{len(chosen)} tokens in place of {self.budget}", where=f"cell {self.name}")
        return np.round(255 * chosen.values.clip(0, 1)).astype(np.uint8), chosen.boxes.astype(np.int16)

    def _relevance(self, question: Question, seed: int) -> Relevance:
        if not isinstance(self.relevance, str):
            return self.relevance
        if self.relevance == "cues":
            return tokens.CueRelevance()
        if self.relevance == "uniform" or question.box is None:
            return tokens.UniformRelevance()
        auc = 1.0 if self.relevance == "oracle" else float(self.relevance)
        return tokens.OracleRelevance([question.box], auc, seed)
