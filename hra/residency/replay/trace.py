"""Traces: which items every frame of a recording demands, and what each item costs to hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.caching import cached_property
from hra.compiling import njit
from hra.errors import ArrayError
from hra.model.arrays import EXACT_LIMIT, frozen, indices, numbers, to_numpy


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """The demands of F frames over N items (pages, tiles, mesh clusters) in D references.

    Parameters
    ----------
    frames : int [F + 1], rising from 0 to D: frame f demands ``demands[frames[f]:frames[f + 1]]``.
    demands : int [D], item ids 0 .. N - 1; no item twice in one frame.
    cost : int [N], bytes that each item takes while it is resident, > 0.
    weights : float [D] or None, how much each demand matters, >= 0; None for all alike.
    parents : int [N] or None, the coarser item that must be resident before each item, -1 for the coarsest, which are
        always resident; a parent has the smaller id. None if the items do not depend on each other.

    Raises
    ------
    ArrayError : arrays of other shapes or ranges; all arrays are copied and read-only.
    """

    frames: np.ndarray
    demands: np.ndarray
    cost: np.ndarray
    weights: np.ndarray | None = None
    parents: np.ndarray | None = None

    def __post_init__(self) -> None:
        cost = _whole("cost", self.cost, 1)
        if float(cost.sum(dtype=np.float64)) > EXACT_LIMIT:
            raise ArrayError("the costs add up to more than 2**53", where="cost")
        demands = indices("demands", self.demands, 0, cost.size)
        frames = _frame_offsets(self.frames, demands.size)
        object.__setattr__(self, "frames", frozen(frames))
        object.__setattr__(self, "demands", frozen(demands))
        object.__setattr__(self, "cost", frozen(cost))
        object.__setattr__(self, "weights", _checked_weights(self.weights, demands.size))
        object.__setattr__(self, "parents", _checked_parents(self.parents, cost.size))
        repeated = _first_repeat(frames, demands, cost.size)
        if repeated >= 0:
            what = f"a frame demands item {demands[repeated]} twice"
            raise ArrayError(what, where=f"demands[{repeated}]", fix="demand every item once per frame")

    def __len__(self) -> int:
        """Number of frames."""
        return self.frames.size - 1

    def __repr__(self) -> str:
        return (
            f"{len(self):,} frames, {self.demands.size:,} references to {self.distinct:,} items, "
            f"{self.per_frame:.1f} per frame"
        )

    @cached_property
    def distinct(self) -> int:
        """Number of items that are demanded at all."""
        return int(np.unique(self.demands).size)

    @property
    def per_frame(self) -> float:
        """Mean number of demands of a frame; 0 without frames."""
        return self.demands.size / len(self) if len(self) else 0.0

    def frame(self, index: int) -> np.ndarray:
        """The items that one frame demands, int32 [n].

        Raises
        ------
        ArrayError : no such frame.
        """
        (index,) = indices("index", [index], 0, len(self)).tolist()
        return self.demands[self.frames[index] : self.frames[index + 1]]


def _whole(name: str, values: Any, least: int) -> np.ndarray:
    """``values`` as int64 [n], each at least ``least``; floats that are whole count, as costs of hierarchies are."""
    array = to_numpy(values)
    whole = array.dtype.kind in "iu" or (array.dtype.kind == "f" and bool((array == np.floor(array)).all()))
    if array.ndim != 1 or not (whole or not array.size):
        raise ArrayError(f"{name} must be a vector of integers, got shape {array.shape} of {array.dtype}", where=name)
    bad = np.flatnonzero((array < least) | (array > EXACT_LIMIT))
    if bad.size:
        where = f"{name}[{bad[0]}]"
        raise ArrayError(f"{where} = {array[bad[0]]} is out of range", where=where, fix=f"use {least} .. 2**53")
    return array.astype(np.int64)


def _frame_offsets(values: Any, count: int) -> np.ndarray:
    frames = _whole("frames", values, 0)
    if frames.size == 0 or frames[0] != 0 or frames[-1] != count or (np.diff(frames) < 0).any():
        raise ArrayError(f"frames must rise from 0 to the number of demands, {count}", where="frames")
    return frames


def _checked_weights(values: Any, count: int) -> np.ndarray | None:
    if values is None:
        return None
    weights = numbers("weights", values, count)
    if (weights < 0).any():
        raise ArrayError("a weight is negative", where=f"weights[{int((weights < 0).argmax())}]")
    return frozen(weights)


def _checked_parents(values: Any, count: int) -> np.ndarray | None:
    if values is None:
        return None
    parents = indices("parents", values, -1, count, count)
    late = parents >= np.arange(count)
    if late.any():
        raise ArrayError("an item comes before its parent", where=f"parents[{int(late.argmax())}]", fix="sort by level")
    return frozen(parents)


@njit(cache=True)
def _first_repeat(frames, demands, count):
    """Position of the first demand that its frame has already made, or -1."""
    seen = np.full(count, -1, np.int64)
    for f in range(frames.size - 1):
        for r in range(frames[f], frames[f + 1]):
            if seen[demands[r]] == f:
                return r
            seen[demands[r]] = f
    return -1
