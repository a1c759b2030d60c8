"""A forest of nodes in the form that bottom-up reductions need, from any parent array or over a regular grid."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from hra.compiling import njit
from hra.errors import ArrayError, HierarchyError, HraError
from hra.kernels.backends import adopt, load_warp, on_host
from hra.kernels.pyramids.levels.pyramid import Layout


@dataclass(frozen=True, eq=False)
class Tree:
    """A parent array with its levels and children; make one and keep it where many reductions share it.

    Positions 0 .. N - 1 run through the nodes in level order (breadth first), so that the children of a node are side
    by side. Arrays are NumPy on the host and Warp on a CUDA device.

    Attributes
    ----------
    parent : int32 [N], the parent of each node, -1 for a root: what `hra.Hierarchy.tree` takes.
    leaf : int32 [L], the node that each row of leaf values belongs to.
    node : int32 [N], the node at each position.
    first_child : int32 [N + 1], the children of the node at position p are at ``first_child[p] .. first_child[p + 1]``.
    level_offsets : where each level begins among the positions, and last N.
    """

    parent: Any
    leaf: Any
    node: Any
    first_child: Any
    level_offsets: tuple[int, ...]

    @classmethod
    def of(cls, parent: Any) -> Tree:
        """The tree of any parent array, children before or after their parents; its leaves in ascending order.

        Parameters
        ----------
        parent : int [N], -1 for a root, on the host.

        Raises
        ------
        ArrayError : not a vector of integers, or out of range. HierarchyError : the parents form a cycle.
        """
        checked = _checked_parents(parent)
        children = np.bincount(checked[checked >= 0], minlength=checked.size)
        node, first_child = np.empty(checked.size, np.int32), np.empty(checked.size + 1, np.int32)
        offsets = np.zeros(checked.size + 1, np.int64)
        levels = _breadth_first(checked, children, node, first_child, offsets)
        if offsets[levels] < checked.size:
            where = f"node {np.setdiff1d(np.arange(checked.size), node[: offsets[levels]])[0]}"
            raise HierarchyError("the parents form a cycle: no root is above a node", where=where)
        leaf = np.flatnonzero(children == 0).astype(np.int32)
        return cls(checked, leaf, node, first_child, tuple(offsets[: levels + 1].tolist()))

    @classmethod
    def of_runs(cls, offsets: np.ndarray) -> Tree:
        """Sets 0 .. G - 1, and below each the leaves of one run: one level of a cluster hierarchy.

        Parameters
        ----------
        offsets : int [G + 1], where the leaves of each set begin, and their number; no set is empty.

        Raises
        ------
        HierarchyError : a set without leaves.
        """
        sizes = np.diff(offsets)
        if (sizes <= 0).any() or offsets[0] != 0:
            raise HierarchyError("a set has no leaves", where=f"set {int(np.argmax(sizes <= 0))}")
        sets, count = len(sizes), len(sizes) + int(offsets[-1])
        parent = np.concatenate([np.full(sets, -1), np.repeat(np.arange(sets), sizes)]).astype(np.int32)
        node = np.arange(count, dtype=np.int32)
        first_child = np.full(count + 1, count, np.int32)
        first_child[:sets] = sets + np.asarray(offsets[:-1])
        return cls(parent, node[sets:], node, first_child, (0, sets, count) if sets else (0,))

    def __len__(self) -> int:
        """Number of nodes N."""
        return self.parent.shape[0]

    @property
    def levels(self) -> list[tuple[int, int]]:
        """Begin and end of every level, coarse to fine."""
        return list(zip(self.level_offsets, self.level_offsets[1:], strict=False))

    def to(self, device: str) -> Tree:
        """The same tree on a Warp device; "cpu" gives NumPy arrays."""
        wp = load_warp()
        names = [field.name for field in fields(self) if field.name != "level_offsets"]
        arrays = {name: wp.array(getattr(self, name), dtype=wp.int32, device=device) for name in names}
        if wp.get_device(device).is_cpu:
            arrays = {name: array.numpy() for name, array in arrays.items()}
        return replace(self, **arrays)


def _checked_parents(parent: Any) -> np.ndarray:
    array = adopt(parent, "parent") if hasattr(parent, "__dlpack_device__") else np.asarray(parent)
    if not on_host(array):
        fix = "copy it to the host once; the tree goes back with Tree.to(device)"
        raise ArrayError("the parents lie on a CUDA device", where="argument parent", fix=fix)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise ArrayError(f"{array.dtype} of shape {array.shape} is not a vector of integers", where="argument parent")
    bad = np.flatnonzero((array < -1) | (array >= array.size))
    if bad.size:
        where = f"parent[{bad[0]}]"
        raise ArrayError(f"{where} = {array[bad[0]]} is out of range", where=where, fix=f"use -1 .. {array.size - 1}")
    return np.array(array, np.int32)


@njit(cache=True, nogil=True)
def _breadth_first(parent, children, node, first_child, offsets):
    """Nodes from the roots down, the children of each in ascending order. Returns the number of levels."""
    size = parent.size
    starts = np.zeros(size + 1, np.int64)  # where the children of each node begin; those of -1, the roots, come last
    for v in range(size):  # one by one, here and below: assigned slices would take seconds to compile
        starts[v + 1] = starts[v] + children[v]
    # A counting sort by parent, which keeps siblings in ascending order.
    listed, free = np.empty(size, np.int32), starts.copy()
    for v in range(size):
        listed[free[parent[v]]] = v  # index -1 is the last entry
        free[parent[v]] += 1
    count = size - starts[size]
    for k in range(count):
        node[k] = listed[starts[size] + k]
    levels, p = 0, 0
    # Ends with the last level that has children. A cycle hangs under no root and is never queued, so that ``count``
    # stays below N, which tells the caller.
    while p < count:
        levels += 1
        offsets[levels] = count
        # ``node`` is the queue: a level is read while the next one is written behind it.
        for q in range(p, offsets[levels]):
            first_child[q] = count
            for k in range(starts[node[q]], starts[node[q] + 1]):
                node[count] = listed[k]
                count += 1
        p = offsets[levels]
    first_child[count:] = count
    return levels


def grid_tree(height: int, width: int) -> Tree:
    """The quadtree over a grid of features, from one cell for all of it down to the single features.

    Cell (y, x) has the children (2y, 2x), (2y, 2x + 1), (2y + 1, 2x) and (2y + 1, 2x + 1) as far as they exist. Nodes
    are numbered level by level from coarse to fine, row by row; row ``y * width + x`` of leaf values is feature (y, x).
    One tree serves a batch: values are [B, height * width, C].

    Raises
    ------
    HraError : height or width below 1.
    """
    for name, size in (("height", height), ("width", width)):
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 1:
            raise HraError(f"{name} is {size!r}", where=f"argument {name}", fix="a whole number >= 1")
    sizes = Layout.of((int(height), int(width), 1), None).sizes[::-1]
    first = np.cumsum([0] + [rows * columns for rows, columns in sizes])
    parents = [np.full(1, -1)]
    for begin, (_, above), (rows, columns) in zip(first, sizes, sizes[1:], strict=False):
        y, x = np.indices((rows, columns)).reshape(2, -1)
        parents.append(begin + y // 2 * above + x // 2)
    return Tree.of(np.concatenate(parents))
