"""What tells hierarchies apart by their content, in other processes and after reading a file."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from hra.model.hierarchy import Hierarchy


def structure_digest(hierarchy: Hierarchy) -> str:
    """SHA-256 of costs, their unit, and what adds, removes and precedes what."""
    digest = hashlib.sha256(repr((hierarchy.cost_unit, len(hierarchy))).encode())
    for array in (hierarchy.node_cost, hierarchy.added_by, hierarchy.removed_by, hierarchy.edges):
        _add(digest, array)
    return digest.hexdigest()


def digest(hierarchy: Hierarchy) -> str:
    """SHA-256 of the structure and of all node attributes that are numbers, which are those that files keep."""
    whole = hashlib.sha256(hierarchy.structure_digest.encode())
    for name in sorted(hierarchy.node):
        if hierarchy.node[name].dtype.kind in "biuf":
            whole.update(name.encode())
            _add(whole, hierarchy.node[name])
    return whole.hexdigest()


def _add(digest: hashlib._Hash, array: np.ndarray) -> None:
    digest.update(f"{array.dtype.str} {array.shape}".encode())
    digest.update(np.ascontiguousarray(array).data)
