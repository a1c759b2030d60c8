"""Gains of refinements as linear functions of node errors, for arrays that may carry gradients.

The same differences as in `hra.model.gains`, but nothing is repaired: where finer nodes have more error than what they
refine, a gain is negative. So every gain is differentiable by every error.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np

from hra.errors import ArrayError
from hra.model.arrays import to_numpy


class Refinements(Protocol):
    """What is read of a `hra.Hierarchy`: stated here, so that its module imports this one and not both each other."""

    @property
    def node_cost(self) -> np.ndarray:
        """[N]."""
        ...

    @property
    def node_parent(self) -> np.ndarray | None:
        """Int [N], -1 for roots; None where nodes are not tree."""
        ...

    @property
    def added_by(self) -> np.ndarray:
        """Int [N], -1 for the base."""
        ...

    @property
    def removed_by(self) -> np.ndarray:
        """Int [N], -1 for never."""
        ...

    @property
    def removed_nodes(self) -> Any:
        """Offsets [R + 1] and node ids; `Any`, because type checkers do not take cached properties for properties."""
        ...

    @property
    def replaces(self) -> Any:
        """Whether every refinement removes what it refines."""
        ...

    def __len__(self) -> int: ...


def gains_of(hierarchy: Refinements, errors: Any, inherited: Any = None) -> Any:
    """See `Hierarchy.gains`."""
    backend = _Torch if hasattr(errors, "detach") else _NumPy
    error = backend.adopt(errors, hierarchy, "errors")
    above = None if inherited is None else backend.adopt(inherited, hierarchy, "inherited")
    if hierarchy.node_parent is not None and not hierarchy.replaces:
        return _steps(hierarchy, error, above, backend)
    coarse = _over(hierarchy.removed_by, error, len(hierarchy), backend)
    fine = _over(hierarchy.added_by, error, len(hierarchy), backend)
    # What replaces nothing removes the error of what it adds, which counts before it is there.
    sign = np.where(np.diff(hierarchy.removed_nodes[0]) > 0, -1.0, 1.0)
    return coarse + fine * backend.like(sign, error)


def _steps(hierarchy: Refinements, error: Any, inherited: Any, backend: Any) -> Any:
    """Where nodes are added one at a time: inherited less own error, or each split's gain in equal shares."""
    child = np.flatnonzero(hierarchy.added_by >= 0)
    refinement, parent = hierarchy.added_by[child], hierarchy.node_parent[child]  # pyright: ignore[reportOptionalSubscript]
    if inherited is not None:
        return backend.scatter((inherited - error)[..., child], refinement, len(hierarchy))
    below = backend.scatter(error[..., child], parent, hierarchy.node_cost.size)
    children = np.bincount(parent, minlength=hierarchy.node_cost.size)
    share = (error - below)[..., parent] * backend.like(1.0 / children[parent], error)
    return backend.scatter(share, refinement, len(hierarchy))


def _over(by: np.ndarray, error: Any, size: int, backend: Any) -> Any:
    """Errors [..., N] summed over the nodes of each refinement [..., R]."""
    known = np.flatnonzero(by >= 0)
    return backend.scatter(error[..., known], by[known], size)


class _NumPy:
    @staticmethod
    def adopt(values: Any, hierarchy: Refinements, name: str) -> np.ndarray:
        array = to_numpy(values)
        _check_shape(array.shape, hierarchy, name)
        return array.astype(np.float64)

    @staticmethod
    def like(values: np.ndarray, other: np.ndarray) -> np.ndarray:
        return values

    @staticmethod
    def scatter(values: np.ndarray, index: np.ndarray, size: int) -> np.ndarray:
        rows = values.reshape(math.prod(values.shape[:-1]), values.shape[-1])
        sums = np.stack([np.bincount(index, row, size) for row in rows]) if len(rows) else np.zeros((0, size))
        return sums.reshape(*values.shape[:-1], size)


class _Torch:
    @staticmethod
    def adopt(values: Any, hierarchy: Refinements, name: str) -> Any:
        _check_shape(tuple(values.shape), hierarchy, name)
        if not values.is_floating_point():
            raise ArrayError(
                f"{name} are {values.dtype}, expected floating point", where=name, fix="convert them first"
            )
        return values

    @staticmethod
    def like(values: np.ndarray, other: Any) -> Any:
        return other.new_tensor(values)

    @staticmethod
    def scatter(values: Any, index: np.ndarray, size: int) -> Any:
        sums = values.new_zeros((*values.shape[:-1], size))
        return sums.index_add(-1, values.new_tensor(index).long(), values)


def _check_shape(shape: tuple[int, ...], hierarchy: Refinements, name: str) -> None:
    size = hierarchy.node_cost.size
    if not shape or shape[-1] != size:
        raise ArrayError(f"{name} of shape {shape} for {size} nodes", where=name, fix=f"pass [..., {size}]")
