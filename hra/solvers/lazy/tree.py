"""What has been made of a lazy hierarchy so far: a forest that grows node by node."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from hra.errors import HierarchyError, HraError, MetricError
from hra.model.arrays import to_numpy
from hra.model.lazy_hierarchy import LazyHierarchy, LazyMetric
from hra.model.problem import LARGEST_TOTAL, check_facts
from hra.model.units import exactly
from hra.solvers.lazy.visited_tree import VisitedError, VisitedTree

# Rounding of equal sums is not a repair worth a warning.
_TOLERANCE = 1 + 1e-6
# What the difference of two sums of errors may be off by, of the larger.
_ROUNDING = 1e-12


class LazyStep(NamedTuple):
    """One refinement: the nodes that it adds, the node that it removes (-1 for none), its exact cost and its gain."""

    added: range
    removed: int
    cost: Fraction
    gain: float


class LazyTree:
    """The nodes made so far, numbered in the order of their making.

    Errors are repaired as in `hra.model.gains`: siblings that add up to more than their parent are scaled down to it,
    and ``repaired`` counts how often. ``exceeded`` counts nodes below which more was gained than their potential.
    """

    def __init__(self, hierarchy: LazyHierarchy, metric: LazyMetric, context: Any) -> None:
        self._hierarchy, self._metric, self._context = hierarchy, metric, context
        self._known: set[Any] = set()
        self.nodes: list[Any] = []
        self.parent: list[int] = []
        self.depth: list[int] = []
        self.cost: list[float] = []
        self.least_cost: list[float] = []
        self.error: list[float] = []
        self.inherited: list[float] = []
        self.expanded: list[bool] = []
        # What can be gained below, what is known to be gained there, and the exact cost of the cheapest cut with it.
        self.potential: list[tuple[float, ...]] = []
        self.gained: list[float] = []
        self.reach: list[Fraction] = []
        # The least budget that pays for refining the node.
        self.needs: list[float] = []
        self.repaired = self.exceeded = 0
        if hierarchy.mode not in ("replace", "add"):
            what = f"a lazy hierarchy has no mode {hierarchy.mode!r}"
            raise HierarchyError(what, where=type(hierarchy).__name__, fix='use mode "replace" or "add"')
        check_facts(metric.unit, metric.additive, type(metric).__name__)
        roots = _listed("roots", hierarchy.roots())
        error = self._errors(metric.evaluate(roots, context), roots)
        self._append(roots, -1, error, error)
        self._reach([sum(map(self.exact, range(len(roots))), Fraction(0))] * len(roots))

    def expand(self, v: int) -> list[LazyStep]:
        """Make the children of node ``v``; return the refinements that they open: one, or one per child, or none.

        Raises
        ------
        HierarchyError : a child was made before, or refining ``v`` costs less than ``least_cost`` promised.
        HierarchyError, MetricError : costs or errors are not one per node, finite and >= 0.
        """
        children = _listed(f"expand of node {self.nodes[v]!r}", self._hierarchy.expand(self.nodes[v]))
        self.expanded[v] = True
        if not children:
            return []
        steps = self._steps(v, self._append(children, v, *self._child_errors(children, self.error[v])))
        self._check_promise(v, min(step.cost for step in steps))
        self._reach([self.reach[v] + step.cost for step in steps for _ in step.added])
        self._check_potential(v, steps)
        return steps

    def worth(self, v: int) -> float:
        """The most gain per cost that refining node ``v`` could bring, however deep; inf where it may be free."""
        potential, cost = self.potential[v], self.least_cost[v]
        if cost == 0:
            return math.inf if potential[-1] else 0.0
        return max(gain / (cost * k) for k, gain in enumerate(potential, 1))

    def freeze(self) -> VisitedTree:
        """A copy of what has been made, which later growth does not change."""
        return VisitedTree(
            nodes=tuple(self.nodes),
            parent=np.array(self.parent, np.int32),
            depth=np.array(self.depth, np.int32),
            cost=np.array(self.cost),
            least_cost=np.array(self.least_cost),
            error=np.array(self.error),
            inherited=np.array(self.inherited),
            expanded=np.array(self.expanded, np.bool_),
            potential=self._potentials(),
            needs=np.array(self.needs),
            mode=self._hierarchy.mode,
            cost_unit=self._hierarchy.cost_unit,
            metric=VisitedError(self._metric.unit, self._metric.additive),
        )

    def _potentials(self) -> np.ndarray:
        """The potentials of all nodes [N, K]; where one was exceeded, errors, which nothing can exceed."""
        if self.exceeded or not self.nodes:
            return np.array(self.error)[:, None]
        most = max(map(len, self.potential))
        return np.array([gains + gains[-1:] * (most - len(gains)) for gains in self.potential])

    def _steps(self, v: int, added: range) -> list[LazyStep]:
        if self._hierarchy.mode == "add":
            return [LazyStep(range(u, u + 1), -1, self.exact(u), self.inherited[u] - self.error[u]) for u in added]
        cost = sum(map(self.exact, added), Fraction(0)) - self.exact(v)
        return [LazyStep(added, v, cost, self.error[v] - sum(self.error[u] for u in added))]

    def exact(self, v: int) -> Fraction:
        """The cost of node ``v`` as the decimal that it prints as: not all costs are known, so none has a unit yet."""
        return exactly(self.cost[v])

    def _check_promise(self, v: int, cost: Fraction) -> None:
        if cost < exactly(self.least_cost[v]):
            raise HierarchyError(
                f"a refinement costs {float(cost):g}, less than the least cost of {self.least_cost[v]:g}",
                where=f"node {self.nodes[v]!r}",
                fix="return a lower least_cost; children must not cost less than what they replace",
            )

    def _check_potential(self, v: int, steps: list[LazyStep]) -> None:
        """Count nodes below which more is gained now than was said to be possible, up to rounding."""
        potential, least = self.potential[v], exactly(self.least_cost[v])
        for step in steps:
            paid = min(step.cost // least, len(potential)) if least else len(potential)
            self.exceeded += self._exceeds(v, step.gain, potential[paid - 1])
        gain = math.fsum(step.gain for step in steps)
        while gain > 0 and v >= 0:
            self.gained[v] += gain
            self.exceeded += self._exceeds(v, self.gained[v], self.potential[v][-1])
            v = self.parent[v]

    def _exceeds(self, v: int, gain: float, potential: float) -> bool:
        return gain > potential * _TOLERANCE + self.error[v] * _ROUNDING

    def _reach(self, costs: list[Fraction]) -> None:
        for cost in costs:
            self.needs.append(covering(cost + exactly(self.least_cost[len(self.reach)])))
            self.reach.append(cost)

    def _append(self, nodes: list[Any], parent: int, error: np.ndarray, inherited: np.ndarray) -> range:
        cost = _check("cost", self._hierarchy.cost(nodes), nodes, HierarchyError)
        promise = [self._hierarchy.least_cost(node) for node in nodes]
        self._register(nodes)
        first, count = len(self.nodes), len(nodes)
        self.nodes += nodes
        self.parent += [parent] * count
        self.depth += [self.depth[parent] + 1 if parent >= 0 else 0] * count
        self.cost += cost.tolist()
        self.least_cost += _check("least_cost", promise, nodes, HierarchyError).tolist()
        self.error += error.tolist()
        self.inherited += inherited.tolist()
        self.expanded += [False] * count
        self.potential += self._asked_potential(nodes, error)
        self.gained += [0.0] * count
        return range(first, first + count)

    def _register(self, nodes: list[Any]) -> None:
        for node in nodes:
            try:
                known = node in self._known
            except TypeError as error:
                fix = "name nodes by numbers, texts or tuples of them"
                raise HierarchyError(f"a node cannot be a key: {error}", where=f"node {node!r}", fix=fix) from error
            if known:
                raise HierarchyError("a node was made twice", where=f"node {node!r}", fix="nodes must form a forest")
            self._known.add(node)

    def _child_errors(self, nodes: list[Any], limit: float) -> tuple[np.ndarray, np.ndarray]:
        """Own and inherited errors of siblings, scaled down where they exceed ``limit``, the error of their parent."""
        error = self._errors(self._metric.evaluate(nodes, self._context), nodes)
        inherited = self._metric.inherited(nodes, self._context) if self._hierarchy.mode == "add" else None
        if inherited is None:
            error = error * self._scale(error, limit)
            # Without a word of the metric, what the children do not keep of their parent's error is spread evenly:
            # together they gain what it loses.
            return error, error + max(limit - float(error.sum()), 0.0) / error.size
        inherited = self._errors(inherited, nodes)
        self.repaired += int(np.count_nonzero(error > inherited * _TOLERANCE))
        scale = self._scale(inherited, limit)
        # So no gain is negative, and those of siblings add up to no more than their parent's error.
        return np.minimum(error, inherited) * scale, inherited * scale

    def _asked_potential(self, nodes: list[Any], error: np.ndarray) -> list[tuple[float, ...]]:
        """What the metric says can be gained below each of ``nodes``, never falling, and at most its error."""
        values = self._metric.potential(nodes, self._context) if nodes else None
        if values is None:
            return list(zip(error.tolist()))
        name = f"potential of {type(self._metric).__name__}"
        table = to_numpy(values)
        columns = [table] if table.ndim != 2 else table.T
        if not len(columns):
            raise MetricError(f"{name} returned no column", where=f"nodes {nodes[:1]!r} ...")
        stairs = np.stack([_check(name, column, nodes, MetricError) for column in columns], axis=1)
        return list(map(tuple, np.minimum(np.maximum.accumulate(stairs, axis=1), error[:, None]).tolist()))

    def _scale(self, values: np.ndarray, limit: float) -> float:
        total = float(values.sum())
        self.repaired += total > limit * _TOLERANCE
        return limit / total if total > limit else 1.0

    def _errors(self, values: Any, nodes: list[Any]) -> np.ndarray:
        name = type(self._metric).__name__
        errors = _check(name, values, nodes, MetricError)
        if errors.max(initial=0.0) > LARGEST_TOTAL / max(errors.size, 1):
            what = f"{name} returned {errors.max():g}, and {errors.size} such errors are too large to compute with"
            fix = f"scale the metric: all errors together to at most {LARGEST_TOTAL:g}"
            raise MetricError(what, where=f"nodes {nodes[:1]!r} ...", fix=fix)
        return errors


def _listed(name: str, nodes: Any) -> list[Any]:
    """What the hierarchy returned, as a list."""
    if not isinstance(nodes, Iterable):
        what = f"{name} returned a {type(nodes).__name__}, not a list of nodes"
        raise HierarchyError(what, where=name, fix="return a list, which is empty where there is nothing")
    return list(nodes)


def _check(name: str, values: Any, nodes: list[Any], refusal: type[HraError]) -> np.ndarray:
    """``values`` as one finite number >= 0 per node, float64."""
    array = to_numpy(values)
    if array.shape != (len(nodes),) or array.dtype.kind not in "iufb":
        what = f"{name} returned {array.dtype} of shape {array.shape}, expected one number per node ({len(nodes)})"
        raise refusal(what, where=f"nodes {nodes[:1]!r} ...")
    vector = array.astype(np.float64)
    bad = np.flatnonzero(~(np.isfinite(vector) & (vector >= 0)))
    if bad.size:
        raise refusal(f"{name} returned {vector[bad[0]]}", where=f"node {nodes[bad[0]]!r}", fix="finite and >= 0")
    return vector


def covering(cost: Fraction) -> float:
    """The least double that counts as at least ``cost``."""
    nearest = float(cost)
    return nearest if exactly(nearest) >= cost else math.nextafter(nearest, math.inf)
