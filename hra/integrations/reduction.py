"""A reduction by name, as programs that know nothing of allocators configure it, and what tells its results apart."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np

import hra
from hra.caching import cached_property
from hra.domains.tokens import Reducer, TokenAllocator
from hra.domains.tokens.methods.named import named_allocator
from hra.domains.tokens.methods.reducers.bipartite_regions import MergeTreeBuilder
from hra.errors import ArrayError, HraError, InvalidBudget, check_choice, check_kind
from hra.model.arrays import POSITIVE, to_numpy, whole_in

Realisation = Literal["select", "pool", "encode"]
Positions = Literal["original", "compact"]

# What a reducer reads of a model that changes with the question.
_ASKED = ("text", "language")


@dataclass(frozen=True)
class Reduction:
    """Which tokens are kept, and what stands for them.

    Parameters
    ----------
    method : a name of the entry point group ``hra.methods``: "visionzip", "pyramid" ...
    budget : tokens of each image or tile, at least 1.
    realize, positions : see `hra.integrations.transformers.reduce`.
    relevance : by name, for methods that read one; by default theirs.

    Raises
    ------
    HraError : an unknown method, relevance, realisation or kind of positions; names the known ones.
    InvalidBudget : no whole number above 0.

    Examples
    --------
    >>> from hra.integrations.reduction import Reduction
    >>> asked = Reduction("cdpruner", 64)
    >>> asked.key("a.jpg", "how many?") == asked.key("a.jpg", "which colour?")
    False
    >>> plain = Reduction("divprune", 64)
    >>> plain.key("a.jpg", "how many?") == plain.key("a.jpg", "which colour?")
    True
    """

    method: str = "visionzip"
    budget: int = 64
    realize: str = "pool"
    positions: str = "original"
    relevance: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "budget", whole_in("budget", self.budget, POSITIVE, InvalidBudget))
        check_kind("method", self.method, str, "pass a name such as 'divprune'")
        check_known(self.realize, self.positions)
        _ = self.allocator

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Reduction:
        """From a table of names and values, such as a program's configuration.

        Raises
        ------
        HraError : no table, or a name that is not a parameter.
        """
        check_kind("reduction", values, Mapping, "pass a table such as {'method': 'divprune', 'budget': 64}")
        unknown = sorted(set(values) - set(cls.__dataclass_fields__))
        if unknown:
            what = f"a reduction has no {', '.join(map(repr, unknown))}"
            raise HraError(what, where="reduction", fix=f"use {', '.join(cls.__dataclass_fields__)}")
        return cls(**values)

    @cached_property
    def allocator(self) -> TokenAllocator[Any]:
        """The method."""
        return named_allocator(self.method, self.relevance, None, None)[0]

    @property
    def reads_question(self) -> bool:
        """Whether the choice may change with the question: no only where it is known that it does not."""
        if isinstance(self.allocator, Reducer):
            return self.allocator.reads in _ASKED
        return not isinstance(self.allocator.builder, MergeTreeBuilder)

    def count(self, cells: int) -> int:
        """Tokens that an image of this many cells is left with, known before it is encoded."""
        return min(self.budget, cells)

    def key(self, image: str, question: str = "", model: str = "") -> str:
        """A name for the result in a cache, 64 hexadecimal digits: all that decides it, and the question if it may.

        Parameters
        ----------
        image : a name of the image that changes with its content, such as `digest`.
        model : name and revision of the model whose features are reduced.
        """
        asked = question if self.reads_question else None
        parts = {**asdict(self), "image": image, "question": asked, "model": model, "hra": hra.__version__}
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def check_known(realize: Any, positions: Any) -> None:
    """Refuse what is no `Realisation` or no kind of `Positions`.

    Raises
    ------
    ArrayError : names those that there are.
    """
    for name, value, known in (("realize", realize, Realisation), ("positions", positions, Positions)):
        check_choice(name, value, get_args(known), ArrayError)


def digest(pixels: Any) -> str:
    """A name for an image by its content: 64 hexadecimal digits of shape, kind and values.

    Parameters
    ----------
    pixels : an array, or what NumPy makes one of: a Pillow image, whose palette counts.

    Raises
    ------
    ArrayError : no array.
    """
    if getattr(pixels, "mode", None) in ("P", "PA"):  # the pixels of such an image are places in its palette
        pixels = pixels.convert("RGBA")
    array = np.ascontiguousarray(to_numpy(pixels))
    state = hashlib.sha256(f"{array.shape} {array.dtype.str} ".encode())
    state.update(array.tobytes())
    return state.hexdigest()
