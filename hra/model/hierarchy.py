"""The hierarchy: a partial order of refinements over nodes, as a struct of arrays in level order."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from hra.caching import Scratch, cached_property
from hra.errors import ArrayError, HierarchyError, MetricError, wrong_kind
from hra.model import topology
from hra.model.arrays import EXACT_LIMIT, frozen, group, indices, numbers, offsets_of, to_numpy
from hra.model.sets import active, cost_step, is_down_closed, total
from hra.model.topology import Topology, level_order
from hra.model.units import Units, rounded_up_sum, swap_units

Mode = Literal["replace", "child", "add"]


@dataclass(frozen=True, eq=False, repr=False)
class Hierarchy:
    """Nodes at several levels of detail, and the refinements that lead from coarse to fine.

    A refinement is one indivisible step: it adds nodes, may remove the nodes that they replace, costs ``cost[r]`` (less
    than 0 where its fine nodes are cheaper than what they replace) and can be taken only after its predecessors. Nodes
    that no refinement adds are the base. Build one with `tree`, `chains`, `flat`, `dag`, `groups` or `from_networkx`;
    all arrays are copied and read-only. `dataclasses.replace` may change costs, attributes and the unit; it raises
    `HierarchyError` where fields contradict each other.

    Attributes
    ----------
    node_cost : float64 [N], cost of a node while it is active, in ``cost_unit``.
    added_by, removed_by : int32 [N], the refinement that activates or deactivates a node; -1 for base or never.
    node_parent : int32 [N] or None, the coarser node that a node refines (trees), -1 for roots.
    parent : int32 [R] or None, the predecessor of each refinement of a forest; None for a DAG.
    edges : int32 [E, 2], (predecessor, successor), sorted by successor.
    level_offsets : int32 [L + 1], where each level of refinements begins.
    node : node attributes by name, each with leading dimension N; `MetricError` where there is none of a name.

    Examples
    --------
    >>> import hra
    >>> quadtree = hra.Hierarchy.tree([-1, 0, 0, 0, 0], [1, 1, 1, 1, 1], cost_unit="tokens")
    >>> quadtree
    Hierarchy(forest of 1 refinements over 5 nodes, cost in tokens)
    >>> quadtree.base_cost, quadtree.total_cost, quadtree.added_by.tolist()
    (1.0, 4.0, [-1, 0, 0, 0, 0])
    >>> one_by_one = hra.Hierarchy.tree([-1, 0, 0, 0, 0], [1, 1, 1, 1, 1], mode="child")
    >>> mips = hra.Hierarchy.chains([3, 2], [4, 16, 64, 4, 16], cost_unit="bytes")
    >>> len(quadtree), len(one_by_one), len(mips)
    (1, 4, 3)
    """

    node_cost: np.ndarray
    added_by: np.ndarray
    removed_by: np.ndarray
    node_parent: np.ndarray | None
    parent: np.ndarray | None
    edges: np.ndarray
    level_offsets: np.ndarray
    cost_unit: str = "units"
    node: Mapping[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Constructors check what they are given and go by `_made`; `dataclasses.replace` comes here, with any fields.
        size = int(indices("level_offsets", self.level_offsets, 0, 2**31).max(initial=0))
        shape = Topology(size, self.added_by, self.removed_by, self.edges)
        optional = {"node_parent": self.node_parent, "attributes": self.node, "cost_unit": self.cost_unit}
        made = Hierarchy.from_topology(self.node_cost, shape, **optional)
        for name in ("added_by", "removed_by", "parent", "edges", "level_offsets"):
            if not _equal(getattr(self, name), getattr(made, name)):
                what = f"the field {name} does not belong to the refinements of the others"
                fix = "build another hierarchy by Hierarchy.tree, dag, groups or from_topology"
                raise HierarchyError(what, where=name, fix=fix)
        vars(self).update(vars(made))

    @classmethod
    def _made(cls, **fields: Any) -> Hierarchy:
        """A hierarchy of fields that are known to belong together; their arrays become read-only."""
        made = object.__new__(cls)
        node = _Attributes(fields["node"])
        for array in (*(value for value in fields.values() if isinstance(value, np.ndarray)), *node.values()):
            array.flags.writeable = False
        vars(made).update(fields, node=MappingProxyType(node))
        return made

    # ---- construction -------------------------------------------------------------------------------------------

    @classmethod
    def tree(
        cls,
        parent: Any,
        cost: Any,
        *,
        mode: Mode = "replace",
        order: Any = None,
        attributes: Mapping[str, Any] | None = None,
        cost_unit: str = "units",
    ) -> Hierarchy:
        """A forest of nodes, in any order (children may come before their parents).

        Parameters
        ----------
        parent : int [N], the coarser node of each node, -1 for a root. Roots are the base.
        cost : [N], cost of each node while it is active, >= 0.
        mode : "replace", a node is swapped for all its children at once; "child", its children are added one by one in
            falling ``order`` and the node leaves with the last; "add", children are added and the node stays.
        order : [N], only for "child"; defaults to the given order of the nodes.

        Raises
        ------
        HraError : attributes that are not a mapping, a cost unit that is not text.
        HierarchyError : a cycle, an unknown mode, or an order in another mode than "child".
        ArrayError : parents out of range, costs negative or not finite.
        """
        cost = _costs(cost)
        parent = indices("parent", parent, -1, cost.size, cost.size)
        if mode == "child":
            rank = numbers("order", np.zeros(cost.size) if order is None else order, cost.size)
            shape = topology.child_by_child(parent, rank)
        elif mode in ("replace", "add"):
            if order is not None:
                what = f"mode={mode!r} has no order: only children that are added one by one have"
                raise HierarchyError(what, where="order", fix="use mode='child', or leave order out")
            shape = topology.replace(parent) if mode == "replace" else topology.add(parent)
        else:
            raise HierarchyError(f"unknown mode {mode!r}", where="mode", fix="use 'replace', 'child' or 'add'")
        try:
            return cls._ordered(cost, shape, node_parent=parent, attributes=attributes, cost_unit=cost_unit)
        except HierarchyError:
            # A cycle was found among refinements, whose numbers the caller does not know: name the nodes instead.
            level_order(topology.pairs(parent, np.arange(cost.size, dtype=np.int32)), cost.size)
            raise

    @classmethod
    def chains(
        cls, lengths: Any, cost: Any, *, attributes: Mapping[str, Any] | None = None, cost_unit: str = "units"
    ) -> Hierarchy:
        """Independent chains stored one after the other, coarsest node first (mip chains); each step adds one node.

        Parameters
        ----------
        lengths : int [C], nodes per chain, each >= 1; ``sum(lengths) == N``.
        cost : [N].
        """
        cost = _costs(cost)
        lengths = indices("lengths", lengths, 1, cost.size + 1)
        if lengths.sum() != cost.size:
            raise HierarchyError(f"chains of {lengths.sum()} nodes, but {cost.size} costs", where="lengths")
        parent = np.arange(cost.size) - 1
        parent[offsets_of(lengths)[:-1]] = -1
        return cls.tree(parent, cost, mode="add", attributes=attributes, cost_unit=cost_unit)

    @classmethod
    def flat(cls, cost: Any, *, attributes: Mapping[str, Any] | None = None, cost_unit: str = "units") -> Hierarchy:
        """Independent nodes [N], each one a refinement; the base is empty (grid top-K)."""
        cost = _costs(cost)
        return cls._ordered(cost, topology.flat(cost.size), attributes=attributes, cost_unit=cost_unit)

    @classmethod
    def dag(
        cls, cost: Any, edges: Any, *, attributes: Mapping[str, Any] | None = None, cost_unit: str = "units"
    ) -> Hierarchy:
        """Each node [N] is a refinement that may have several predecessors; the base is empty.

        Parameters
        ----------
        edges : int [E, 2], (predecessor, successor) pairs of nodes.
        """
        cost = _costs(cost)
        shape = topology.dag(cost.size, topology.edge_pairs(edges, cost.size))
        return cls._ordered(cost, shape, attributes=attributes, cost_unit=cost_unit)

    @classmethod
    def groups(
        cls,
        cost: Any,
        added_by: Any,
        removed_by: Any,
        *,
        attributes: Mapping[str, Any] | None = None,
        cost_unit: str = "units",
    ) -> Hierarchy:
        """A group DAG (cluster level of detail): refinement g swaps the nodes that it removes for those that it adds.

        Parameters
        ----------
        cost : [N]; added_by, removed_by : int [N], refinement numbers 0 .. R-1 in any order, -1 for none.
        """
        cost = _costs(cost)
        limit = 2 * cost.size + 1
        added = indices("added_by", added_by, -1, limit, cost.size)
        removed = indices("removed_by", removed_by, -1, limit, cost.size)
        return cls._ordered(cost, topology.groups(added, removed), attributes=attributes, cost_unit=cost_unit)

    @classmethod
    def from_networkx(cls, graph: Any, *, cost: str = "cost", mode: Mode | Literal["dag"] = "replace") -> Hierarchy:
        """A hierarchy from a ``networkx.DiGraph`` with edges from coarse to fine; its nodes keep their order.

        Parameters
        ----------
        graph : every node has the attribute named by ``cost``. Further attributes that all nodes share and that are
            numbers become node attributes.
        mode : as in `tree`, or "dag" where a node may have several predecessors and every node is optional.

        Raises
        ------
        HierarchyError : an undirected or multi graph, a missing cost, a cycle, or two parents in a tree.
        """
        from hra.model.networkx_bridge import from_networkx

        costs, order, attributes = from_networkx(graph, cost, dag=mode == "dag")
        if mode == "dag":
            return cls.dag(costs, order, attributes=attributes)
        return cls.tree(order, costs, mode=mode, attributes=attributes)

    def to_networkx(self) -> Any:
        """The refinements as a ``networkx.DiGraph``: node r carries ``cost``, ``adds`` and ``removes`` (node ids)."""
        from hra.model.networkx_bridge import to_networkx

        return to_networkx(self.cost, self.added_nodes, self.removed_nodes, self.edges)

    @classmethod
    def from_topology(
        cls,
        cost: np.ndarray,
        shape: Topology,
        *,
        node_parent: np.ndarray | None = None,
        attributes: Mapping[str, Any] | None = None,
        cost_unit: str = "units",
    ) -> Hierarchy:
        """A hierarchy from refinements that are known already.

        Refinements that are given in level order, the successors of each side by side, keep their numbers.

        Parameters
        ----------
        cost : [N].
        node_parent : int [N] or None, the coarser node that each node refines, -1 for the base: what comes with the
            node, or right before it, is the parent or a node of the same parent.

        Raises
        ------
        HraError : no topology.
        ArrayError : costs that are no finite numbers; refinements, edges or parents out of range.
        HierarchyError : a negative cost, a cycle, a node that is not added before it is removed, or parents that
            contradict the refinements.
        """
        cost, shape = _costs(cost), topology.checked(shape, np.size(cost))
        if node_parent is None:
            return cls._ordered(cost, shape, attributes=attributes, cost_unit=cost_unit)
        node_parent = indices("node_parent", node_parent, -1, cost.size, cost.size)
        made = cls._ordered(cost, shape, node_parent=node_parent, attributes=attributes, cost_unit=cost_unit)
        topology.check_parents(node_parent, made.added_by, made.removed_by, made.predecessors)
        return made

    @classmethod
    def _ordered(
        cls,
        cost: np.ndarray,
        shape: Topology,
        *,
        node_parent: np.ndarray | None = None,
        attributes: Mapping[str, Any] | None = None,
        cost_unit: str = "units",
    ) -> Hierarchy:
        """What all constructors end in: parts that are checked but for their order, put into level order."""
        if not isinstance(cost_unit, str):
            raise wrong_kind("cost_unit", cost_unit, str, "say what costs count, such as cost_unit='bytes'")
        cost = np.array(cost, np.float64)
        order, level = level_order(shape.edges, shape.size)
        rank = np.empty(shape.size + 1, np.int32)
        rank[order], rank[-1] = np.arange(shape.size, dtype=np.int32), -1
        edges = rank[shape.edges]
        edges = edges[np.lexsort((edges[:, 0], edges[:, 1]))]
        _check_total(cost)
        added_by, removed_by = rank[shape.added_by], rank[shape.removed_by]
        parent, node = _forest(edges, shape.size), _attributes(attributes, cost.size)
        predecessors = offsets_of(np.bincount(edges[:, 1], minlength=shape.size)), np.ascontiguousarray(edges[:, 0])
        level_offsets = offsets_of(np.bincount(level))
        topology.check_changes(Topology(shape.size, added_by, removed_by, edges), predecessors)
        made = cls._made(
            node_cost=cost,
            added_by=added_by,
            removed_by=removed_by,
            node_parent=None if node_parent is None else np.array(node_parent, np.int32),
            parent=parent,
            edges=edges,
            level_offsets=level_offsets,
            cost_unit=cost_unit,
            node=node,
        )
        vars(made)["predecessors"] = _read_only(*predecessors)  # known already, and most traversals ask for them
        return made

    # ---- queries ------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        """Number of refinements."""
        return int(self.level_offsets[-1])

    def __repr__(self) -> str:
        kind = "DAG" if self.parent is None else "forest"
        return (
            f"Hierarchy({kind} of {len(self)} refinements over {self.node_cost.size} nodes, cost in {self.cost_unit})"
        )

    @cached_property
    def cost(self) -> np.ndarray:
        """Cost of each refinement in ``cost_unit``, float64 [R], in level order (predecessors come first)."""
        return frozen(self.units.costs(self.unit_cost))

    @cached_property
    def base_cost(self) -> float:
        """Cost of the base: the smallest budget that can be served."""
        if self.units.exact:
            return self.units.cost(self._base_units[0])
        return rounded_up_sum(self.node_cost, self.added_by < 0)

    @cached_property
    def total_cost(self) -> float:
        """Cost of full detail."""
        if self.units.exact:
            return self.units.cost(self._base_units[0] + float(self.unit_cost.sum()))
        return rounded_up_sum(self.node_cost, self.removed_by < 0)

    @cached_property
    def largest_cost(self) -> float:
        """What no cut exceeds: the cost of full detail, or more where some refinements cost less than nothing."""
        return self.units.cost(self._most_units[1]) if self.shrinks else self.total_cost

    @cached_property
    def units(self) -> Units:
        """The unit in which all costs are whole numbers, see `hra.model.units`."""
        return Units.of(self.node_cost)

    @cached_property
    def unit_cost(self) -> np.ndarray:
        """Cost of each refinement in whole units, float64 [R]; rounded down where costs have no common unit."""
        return self._unit_costs[0]

    @cached_property
    def unit_cost_high(self) -> np.ndarray:
        """`unit_cost` rounded up, float64 [R]; the same array where costs have a common unit."""
        return self._unit_costs[1]

    @cached_property
    def _unit_costs(self) -> tuple[np.ndarray, np.ndarray]:
        return _read_only(*swap_units(self.units, self.node_cost, self.added_by, self.removed_by, len(self)))

    @cached_property
    def _base_units(self) -> tuple[float, float]:
        base = self.added_by < 0
        return total(self.units.low, base), total(self.units.high, base)

    @cached_property
    def shrinks(self) -> bool:
        """Whether some refinement costs less than nothing."""
        return bool(self.unit_cost.min(initial=0.0) < 0)

    @cached_property
    def slope_cost(self) -> np.ndarray:
        """Unit costs to divide by, float64 [R]: those of free refinements are too small to be felt in any sum."""
        return divisible(self.unit_cost)

    @cached_property
    def unreplaced(self) -> slice | np.ndarray:
        """Index of the nodes of full detail: a slice where they follow each other, as in level order, else int64."""
        nodes = np.flatnonzero(self.removed_by < 0)
        together = nodes.size > 0 and nodes[-1] - nodes[0] == nodes.size - 1
        return slice(int(nodes[0]), int(nodes[-1]) + 1) if together else nodes

    @cached_property
    def scratch(self) -> Scratch:
        """Working memory for solvers of this hierarchy."""
        return Scratch()

    @cached_property
    def least_unit_cost(self) -> float:
        """The smallest of the unit costs, inf without any."""
        return float(self.unit_cost.min(initial=np.inf))

    @cached_property
    def cost_step(self) -> float:
        """Greatest common divisor of all unit costs, in which every total comes; 0 if all are free."""
        return float(cost_step(self.unit_cost))

    def capacity(self, budget: float, paid: float = 0.0, *, strict: bool = False) -> float:
        """What ``budget`` leaves for refinements beyond the base and ``paid``, in units: what sums can reach of it.

        Finite, because more than all refinements cost is never needed. Where costs have no common unit, every set that
        the budget admits costs no more than that by `unit_cost`, and if ``strict``, the budget admits every set that
        costs no more than that by `unit_cost_high`.
        """
        limit = self.units.floor(budget) if strict or self.units.exact else self.units.ceil(budget)
        left = min(limit, self._most_units[strict]) - self._base_units[strict] - paid
        return left // self.cost_step * self.cost_step if self.cost_step and self.units.exact else left

    @cached_property
    def _most_units(self) -> tuple[float, float]:
        """What no cut exceeds, in units: by `unit_cost` and by `unit_cost_high`."""
        low, high = (float(np.maximum(cost, 0.0).sum()) for cost in self._unit_costs)
        return self._base_units[0] + low, self._base_units[1] + high

    def cost_of(self, selected: np.ndarray) -> float:
        """Cost of the cut that ``selected`` [R] leaves, in ``cost_unit``: exact, or the least double above it."""
        if self.units.exact:
            return self.units.cost(self._base_units[0] + total(self.unit_cost, selected))
        return rounded_up_sum(self.node_cost, self.active_nodes(selected))

    @cached_property
    def structure_digest(self) -> str:
        """SHA-256 of all costs and dependencies, without node attributes; equal where selections mean the same."""
        digest = hashlib.sha256(repr((self.cost_unit, len(self))).encode())
        for array in (self.node_cost, self.added_by, self.removed_by, self.edges):
            _add(digest, array)
        return digest.hexdigest()

    @cached_property
    def digest(self) -> str:
        """SHA-256 of structure and node attributes: hierarchies that are equal in every number have the same.

        Of attributes those count that are numbers, which are those that files keep.
        """
        whole = hashlib.sha256(self.structure_digest.encode())
        for name in sorted(self.node):
            if self.node[name].dtype.kind in "biuf":
                whole.update(name.encode())
                _add(whole, self.node[name])
        return whole.hexdigest()

    def same_as(self, other: Hierarchy) -> bool:
        """Whether ``other`` is this hierarchy or a copy of it, such as one from a file or another process."""
        return self is other or self.digest == other.digest

    @property
    def topology(self) -> Topology:
        """What adds and removes each node, and the order of refinements: what `from_topology` takes."""
        return Topology(len(self), self.added_by, self.removed_by, self.edges)

    @cached_property
    def successors(self) -> tuple[np.ndarray, np.ndarray]:
        """Successors of each refinement: offsets [R + 1] and indices [E], both int32."""
        offsets, order = group(self.edges[:, 0], len(self))
        return _read_only(offsets, np.ascontiguousarray(self.edges[order, 1]))

    @cached_property
    def first_child(self) -> np.ndarray:
        """Where the children of each refinement of a forest begin, int32 [R + 1]; they lie side by side."""
        first = self.successors[0] + np.int32(len(self) - self.edges.shape[0])
        first.flags.writeable = False
        return first

    @cached_property
    def predecessors(self) -> tuple[np.ndarray, np.ndarray]:
        """Predecessors of each refinement: offsets [R + 1] and indices [E], both int32."""
        counts = np.bincount(self.edges[:, 1], minlength=len(self))
        return _read_only(offsets_of(counts), np.ascontiguousarray(self.edges[:, 0]))

    @cached_property
    def added_nodes(self) -> tuple[np.ndarray, np.ndarray]:
        """Nodes that each refinement adds: offsets [R + 1] and node ids, both int32."""
        return _read_only(*group(self.added_by, len(self)))

    @cached_property
    def removed_nodes(self) -> tuple[np.ndarray, np.ndarray]:
        """Nodes that each refinement removes: offsets [R + 1] and node ids, both int32."""
        return _read_only(*group(self.removed_by, len(self)))

    @cached_property
    def replaces(self) -> bool:
        """Whether every refinement removes what it refines ("replace" trees and group DAGs)."""
        return bool(np.bincount(self.removed_by[self.removed_by >= 0], minlength=len(self)).all())

    def attribute(self, name: str) -> np.ndarray:
        """The node attribute ``name`` [N, ...].

        Raises
        ------
        MetricError : the hierarchy does not carry it.
        """
        return self.node[name]

    def gains(self, errors: Any, inherited: Any = None) -> Any:
        """What each refinement removes of the ``errors`` of nodes, [..., R], differentiable where these are tensors.

        Linear in the errors and not repaired: finer nodes with more error than what they refine give negative gains,
        which `hra.SoftCut` takes as they are and allocations repair.

        Parameters
        ----------
        errors : [..., N], error of each node's region while the node represents it; NumPy (float64 comes back) or a
            torch tensor of any device (its dtype comes back, with its graph).
        inherited : [..., N] or None, the same while the node's parent represents the region; only used where nodes are
            added one at a time.

        Raises
        ------
        ArrayError : another shape, or tensors of whole numbers.

        Examples
        --------
        >>> import hra
        >>> hra.Hierarchy.tree([-1, 0, 0], [1, 1, 1]).gains([5.0, 1.0, 1.5])
        array([2.5])
        """
        from hra.model.linear_gains import gains_of

        return gains_of(self, errors, inherited)

    def is_valid(self, selected: np.ndarray) -> bool:
        """Whether ``selected`` (bool [R]) is down-closed: no refinement without its predecessors."""
        return bool(is_down_closed(self.edges, self._check(selected)))

    def active_nodes(self, selected: np.ndarray) -> np.ndarray:
        """The cut: bool [N], nodes that are active once the refinements ``selected`` [R] are taken."""
        return active(self.added_by, self.removed_by, self._check(selected))

    def _check(self, selected: np.ndarray) -> np.ndarray:
        if not isinstance(selected, np.ndarray) or selected.dtype != np.bool_ or selected.shape != (len(self),):
            raise ArrayError(f"a selection must be a bool array of shape ({len(self)},)", where="selected")
        return selected

    def __reduce__(self) -> tuple[Any, ...]:
        # A mapping proxy cannot be pickled, and pickling forgets that arrays are read-only.
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return _restore, (type(self), {**fields, "node": dict(self.node)})


class _Attributes(dict[str, np.ndarray]):
    """Node attributes, of which a missing one says so."""

    def __missing__(self, name: str) -> np.ndarray:
        raise MetricError(
            f"the hierarchy has no node attribute {name!r}",
            where=f"available: {', '.join(sorted(self)) or 'none'}",
            fix=f"build the hierarchy with attributes={{{name!r}: ...}}, or choose another metric",
        )


# Free refinements count as this part of the least cost where gains are divided by costs: no sum feels it.
FREE_COST = 1e-200


def divisible(cost: np.ndarray) -> np.ndarray:
    """``cost`` [R] with zeros replaced by something that no sum with another cost feels, read-only."""
    paid = cost > 0
    found = cost.view() if paid.all() else np.where(paid, cost, FREE_COST * cost[paid].min(initial=1.0))
    found.flags.writeable = False
    return found


def _add(digest: hashlib._Hash, array: np.ndarray) -> None:
    digest.update(f"{array.dtype.str} {array.shape}".encode())
    digest.update(np.ascontiguousarray(array).data)


def _restore(cls: type[Hierarchy], fields: dict[str, Any]) -> Hierarchy:
    return cls._made(**fields)


def _equal(first: Any, second: np.ndarray | None) -> bool:
    """Whether a field holds what another does, None included."""
    return first is second if first is None or second is None else np.array_equal(first, second)


def _read_only(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    first.flags.writeable = second.flags.writeable = False
    return first, second


def _costs(cost: Any) -> np.ndarray:
    """Validated node costs as a fresh float64 array."""
    cost = to_numpy(cost)
    vector = numbers("cost", cost)
    if cost.dtype.kind in "iu" and (cost > 2**53).any():  # which floats round, maybe down to 2**53
        vector[cost > 2**53] = np.inf
        _check_total(vector)
    bad = np.flatnonzero(vector < 0)
    if bad.size:
        raise HierarchyError(f"cost {vector[bad[0]]:g} is negative", where=f"cost[{bad[0]}]", fix="costs must be >= 0")
    return vector


def _attributes(attributes: Mapping[str, Any] | None, size: int) -> dict[str, np.ndarray]:
    """Copies of the node attributes, each checked to have ``size`` entries."""
    copies = {}
    if attributes is not None and not isinstance(attributes, Mapping):
        raise wrong_kind("attributes", attributes, Mapping, "pass a dict of arrays, such as {'level': [0, 1, 1]}")
    for name, values in (attributes or {}).items():
        array = np.array(to_numpy(values))
        if array.ndim < 1 or array.shape[0] != size:
            raise ArrayError(f"attribute {name!r} has shape {array.shape}, expected {size} entries", where=name)
        copies[name] = array
    return copies


def _check_total(cost: np.ndarray) -> None:
    with np.errstate(over="ignore"):
        total_cost = cost.sum()
    # From the limit on, the sum may have been rounded down to it.
    if total_cost > EXACT_LIMIT or (total_cost == EXACT_LIMIT and math.fsum([*cost.tolist(), -EXACT_LIMIT]) > 0):
        raise HierarchyError(
            "the total cost exceeds 2**53, above which whole units are no longer exact",
            where="cost",
            fix="use a larger cost unit (KiB instead of bytes)",
        )


def _forest(edges: np.ndarray, size: int) -> np.ndarray | None:
    """The predecessor of each refinement if none has two, else None."""
    if edges.shape[0] and np.bincount(edges[:, 1]).max() > 1:
        return None
    parent = np.full(size, -1, np.int32)
    parent[edges[:, 1]] = edges[:, 0]
    return parent
