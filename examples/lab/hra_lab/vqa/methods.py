"""The ways to spend tokens that a verdict compares, and a relevance that is scored once for all of them."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from math import isqrt
from types import MappingProxyType
from typing import Any

import numpy as np

from hra.domains import tokens
from hra.domains.tokens.context.scores import checked_scores
from hra.domains.tokens.relevance.registry import relevance_named
from hra.errors import HraError
from hra_lab.evaluation.answers.methods import DOWN

FULL, BLANK = "all tokens", "a grey image"
"""What the model does as it is, and what it guesses without seeing."""
BASELINE = "grid"
LABELS: Mapping[str, str] = MappingProxyType(
    {
        BASELINE: "T1 grid top-K", "pyramid": "T2 pyramid", "foveated": "T2.5 foveated pyramid",
        "log-polar": "T6 log-polar", "gestalt-saccades": "T11 gestalt and saccades", "downsample": DOWN,
        "uniform-grid": "uniform grid", "random": "random", "semantic-atlas": "T3 semantic atlas",
        "hybrid-atlas": "T3h hybrid atlas", "token-dag": "T4 token DAG", "frequency-aware": "T5 frequency-aware",
    }
)  # fmt: skip
"""What tables call a method; others go by their own names."""
METHODS = ("grid", "pyramid", "foveated", "log-polar", "gestalt-saccades", "downsample", "uniform-grid", "random")
BLIND = ("downsample", "uniform-grid", "random")
"""What knows nothing of the question, not even where a token goes that is left over."""
ORACLE = "oracle"
_ELSEWHERE = 0.003
# Of 529 tokens 256 are the base.
_BASE = 256 / 529


@dataclass(eq=False)
class Remembered:
    """A relevance that scores an image and question once; what that took counts each time that it is asked for."""

    relevance: tokens.Relevance
    unspent: float = 0.0
    known: dict[Any, tuple[np.ndarray, float]] = field(default_factory=dict)

    def __call__(self, context: tokens.TokenContext) -> np.ndarray:
        """Relevance of the finest patches, float64 [rows, columns]."""
        key = (context.image.shape, context.image[::7, ::5].tobytes(), context.query, context.patch)
        if key in self.known:
            self.unspent += self.known[key][1]
        else:
            started = time.perf_counter()
            scores = checked_scores(self.relevance(context), context.grid, context.cover)
            self.known = {key: (scores, time.perf_counter() - started)}
        return self.known[key][0]

    def spared(self) -> float:
        """Seconds that were not spent since the last call."""
        seconds, self.unspent = self.unspent, 0.0
        return seconds


@dataclass(frozen=True)
class Placed:
    """1 where the answer stands, whatever the size that the image is seen at; boxes in shares of its sides."""

    boxes: tuple[tuple[float, float, float, float], ...]

    def __call__(self, context: tokens.TokenContext) -> np.ndarray:
        """Relevance of the finest patches, float64 [rows, columns]."""
        height, width = context.image.shape[:2]
        scaled = [
            (int(x0 * width), int(y0 * height), int(np.ceil(x1 * width)), int(np.ceil(y1 * height)))
            for x0, y0, x1, y1 in self.boxes
        ]
        return tokens.OracleRelevance(scaled)(context)


def function_named(name: str) -> Callable[..., Any]:
    """A function by "module:function", where the working folder counts.

    Raises
    ------
    HraError : there is no such module or function.
    """
    module, _, function = name.partition(":")
    sys.path.insert(0, os.getcwd())
    try:
        return getattr(import_module(module), function)
    except (ImportError, AttributeError) as error:
        fix = "write module:function, as Python would import it from this folder"
        raise HraError(f"{type(error).__name__}: {error}", where=name, fix=fix) from error
    finally:
        sys.path.remove(os.getcwd())


def relevance_for(name: str, size: tuple[int, int], boxes: tuple[tuple[int, int, int, int], ...]) -> Remembered:
    """A relevance by its name or as "module:function"; "oracle" is told boxes, in an image (height, width).

    Raises
    ------
    HraError : an unknown name, or an oracle without boxes.
    """
    if name != ORACLE:
        own = ":" in name and not name.startswith("model:")
        return Remembered(function_named(name) if own else relevance_named(name))
    if not boxes:
        raise HraError("an oracle needs the boxes of answers", where="--relevance", fix="give JSON lines with boxes")
    height, width = size
    return Remembered(Placed(tuple((x0 / width, y0 / height, x1 / width, y1 / height) for x0, y0, x1, y1 in boxes)))


@dataclass(frozen=True, eq=False)
class Way:
    """A method with its tokens and what it knows of the question."""

    method: str
    budget: int
    relevance: Remembered

    def allocator(self, patch: int) -> tokens.TokenAllocator[Any]:
        """The method for tokens of so many pixels along a side.

        Of gestalt and saccades as large a share is the base as 256 is of 529.

        Raises
        ------
        HraError : there is no method of that name.
        """
        if self.method == "gestalt-saccades":
            side = max(1, isqrt(int(self.budget * _BASE)))
            return tokens.GestaltSaccades(self.relevance, patch=patch, gestalt=tokens.ResizedGestalt(side, side))
        made = tokens.preset(self.method)
        own = made.relevance
        if self.method in BLIND:
            made.relevance = tokens.UniformRelevance()
        elif isinstance(own, tokens.FoveatedRelevance):
            made.relevance = replace(own, relevance=self.relevance)
        elif isinstance(own, tokens.CueRelevance):
            made.relevance = self.relevance
        made.patch = patch
        return made
