"""What a rule of picking is, and what it reads of a problem."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from hra.errors import MetricError
from hra.model.problem import Problem


class Picker(ABC):
    """Takes refinements one after another. Rules are small frozen dataclasses that implement `pick`."""

    @abstractmethod
    def pick(self, problem: Problem, taken: np.ndarray, count: int) -> np.ndarray:
        """``count`` refinements that are not ``taken`` bool [R], in the order of picking, int64 [count]."""


def attribute(problem: Problem, name: str) -> Any:
    """A node attribute [R, ...] by the refinement that adds the node."""
    hierarchy = problem.hierarchy
    added = hierarchy.added_by >= 0
    values = hierarchy.attribute(name)
    if np.array_equal(hierarchy.added_by, np.arange(len(values))):
        return values
    result = np.empty((len(hierarchy), *values.shape[1:]), values.dtype)
    result[hierarchy.added_by[added]] = values[added]
    return result


def vectors(problem: Problem, name: str) -> np.ndarray:
    """A node attribute as vectors, float32 [R, D].

    Raises
    ------
    MetricError : the attribute holds no finite vectors.
    """
    values = attribute(problem, name)
    if values.ndim != 2 or not np.isfinite(values).all():
        what = f"attribute {name!r} has shape {values.shape}, expected finite vectors [nodes, D]"
        raise MetricError(what, where=name, fix="give each node a vector of features")
    return values.astype(np.float32, copy=False)


def directions(problem: Problem, name: str) -> np.ndarray:
    """`vectors` of length 1, float32 [R, D]; zeros stay zeros."""
    values = vectors(problem, name)
    return values / np.maximum(np.linalg.norm(values, axis=1, keepdims=True), np.finfo(np.float32).tiny)
