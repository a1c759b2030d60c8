"""Error metrics: a context (camera, image and query, frame) becomes one number per node."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from hra.errors import ArrayError, MetricError, UnitMismatch
from hra.model.arrays import to_numpy
from hra.model.hierarchy import Hierarchy


class ErrorMetric(ABC):
    """What it costs in quality to represent a region by a node, seen from a context.

    Subclasses state three facts and implement `evaluate`. Metrics combine: ``a + b``, ``a * b``, ``a.maximum(b)``.

    Attributes
    ----------
    unit : of the values; only equal units are added, compared or pooled.
    kind : "error", the error of a node's region while the node represents it; or "gain", what adding the node gains.
    additive : whether the errors of disjoint regions add up. If not, no allocation claims a certificate.

    Examples
    --------
    >>> import hra
    >>> class Blur(hra.ErrorMetric):
    ...     unit = "px2"
    ...     def evaluate(self, hierarchy, context):
    ...         return hierarchy.attribute("size") ** 2 * context
    >>> tree = hra.Hierarchy.tree([-1, 0, 0], [1, 1, 1], attributes={"size": [4.0, 2.0, 1.0]})
    >>> (Blur() * 0.5).evaluate(tree, 1.0).tolist()
    [8.0, 2.0, 0.5]
    >>> (Blur() + Blur()).unit
    'px2'
    """

    unit: str = "error"
    kind: Literal["error", "gain"] = "error"
    additive: bool = True

    @abstractmethod
    def evaluate(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        """Error or gain of every node [N], >= 0, for the sum objective."""

    def gains_each(
        self, hierarchy: Hierarchy, contexts: Sequence[Any], gain: np.ndarray, least_error: np.ndarray
    ) -> bool:
        """Fill in what follows from `evaluate` in each of B contexts, if many at once are faster so.

        Parameters
        ----------
        gain : float64 [R, B], error that each refinement removes, >= 0.
        least_error : float64 [B], error that remains at full detail.

        Returns
        -------
        Whether it did; by default it does not, and `evaluate` is asked for one context after the other.
        """
        return False

    def inherited(self, hierarchy: Hierarchy, context: Any) -> np.ndarray | None:
        """Error over each node's region while its parent represents it [N]; None shares a split's gain evenly."""
        return None

    def peak(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        """Error of every node [N] for the max objective (thresholds); by default the same values as `evaluate`."""
        return self.evaluate(hierarchy, context)

    def inherited_peak(self, hierarchy: Hierarchy, context: Any) -> np.ndarray | None:
        """Peak error over each node's region while its parent represents it [N]; None takes the parent's peak."""
        return None

    def __add__(self, other: ErrorMetric) -> ErrorMetric:
        """Sum of two metrics of one kind and unit."""
        return _combine(np.add, self, other, _same_unit(self, other, "+"))

    def __mul__(self, other: ErrorMetric | float) -> ErrorMetric:
        """Product with a weight: another metric of the same kind, or a number."""
        if isinstance(other, (int, float, np.integer, np.floating)):
            return Scaled(self, float(other))
        return _combine(np.multiply, self, other, _product_unit(self, other))

    __rmul__ = __mul__

    def maximum(self, other: ErrorMetric) -> ErrorMetric:
        """Larger of two metrics of one kind and unit, node by node."""
        return _combine(np.maximum, self, other, _same_unit(self, other, "maximum"))


@dataclass(frozen=True, eq=False)
class Scaled(ErrorMetric):
    """A metric times a constant weight >= 0."""

    metric: ErrorMetric
    weight: float

    def __post_init__(self) -> None:
        if not 0 <= self.weight < np.inf:
            raise MetricError(f"the weight {self.weight} of a metric must be finite and >= 0")
        _inherit_facts(self, self.metric, self.metric.unit, self.metric.additive)

    def evaluate(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        """The metric's values times the weight [N]."""
        return returned(self.metric, self.metric.evaluate(hierarchy, context)) * self.weight

    def inherited(self, hierarchy: Hierarchy, context: Any) -> np.ndarray | None:
        """The metric's inherited values times the weight [N]."""
        values = self.metric.inherited(hierarchy, context)
        return None if values is None else returned(self.metric, values) * self.weight

    def peak(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        """The metric's peak values times the weight [N]."""
        return returned(self.metric, self.metric.peak(hierarchy, context)) * self.weight

    def inherited_peak(self, hierarchy: Hierarchy, context: Any) -> np.ndarray | None:
        """The metric's inherited peak values times the weight [N]."""
        values = self.metric.inherited_peak(hierarchy, context)
        return None if values is None else returned(self.metric, values) * self.weight


@dataclass(frozen=True, eq=False)
class Combined(ErrorMetric):
    """Two metrics joined node by node with a NumPy function (add, multiply, maximum)."""

    function: np.ufunc
    left: ErrorMetric
    right: ErrorMetric

    def evaluate(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        """Both metrics' values joined [N]."""
        return self._join(self.left.evaluate(hierarchy, context), self.right.evaluate(hierarchy, context))

    def inherited(self, hierarchy: Hierarchy, context: Any) -> np.ndarray | None:
        """Both metrics' inherited values joined [N]; see `_join_inherited`."""
        return self._join_inherited("inherited", "evaluate", hierarchy, context)

    def peak(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        """Both metrics' peak values joined [N]."""
        return self._join(self.left.peak(hierarchy, context), self.right.peak(hierarchy, context))

    def inherited_peak(self, hierarchy: Hierarchy, context: Any) -> np.ndarray | None:
        """Both metrics' inherited peak values joined [N]; see `_join_inherited`."""
        return self._join_inherited("inherited_peak", "peak", hierarchy, context)

    def _join_inherited(self, inherited: str, own: str, hierarchy: Hierarchy, context: Any) -> np.ndarray | None:
        """A factor that inherits nothing (a weight of the region) counts with its own value; a summand leaves none."""
        parts = (self.left, self.right)
        values = [getattr(part, inherited)(hierarchy, context) for part in parts]
        if self.function is np.multiply and any(value is not None for value in values):
            pairs = zip(parts, values, strict=True)
            values = [getattr(part, own)(hierarchy, context) if value is None else value for part, value in pairs]
        return None if any(value is None for value in values) else self._join(*values)

    def _join(self, left: Any, right: Any) -> np.ndarray:
        left, right = returned(self.left, left), returned(self.right, right)
        if left.shape != right.shape:
            raise MetricError(f"metrics of shapes {left.shape} and {right.shape} cannot be combined")
        return self.function(left.astype(np.float64), right)


def returned(metric: ErrorMetric, values: Any) -> np.ndarray:
    """What a ``metric`` returned, as an array.

    Raises
    ------
    MetricError : no array of numbers, such as None where a return is missing; it names the metric.
    """
    try:
        return to_numpy(values)
    except ArrayError as error:
        name = type(metric).__name__
        what = f"{name} returned a {type(values).__name__}, expected one number per node: {error.what}"
        raise MetricError(what, where=error.where or name, fix="" if values is None else error.fix) from error


def _combine(function: np.ufunc, left: ErrorMetric, right: Any, unit: str) -> Combined:
    if left.kind != right.kind:
        raise MetricError("a metric of errors and one of gains cannot be combined", where=f"{left.kind}, {right.kind}")
    metric = Combined(function, left, right)
    _inherit_facts(metric, left, unit, left.additive and right.additive)
    return metric


def _inherit_facts(metric: ErrorMetric, source: ErrorMetric, unit: str, additive: bool) -> None:
    # Frozen dataclasses whose class attributes depend on their parts: set once, at construction.
    for name, value in (("unit", unit), ("kind", source.kind), ("additive", additive)):
        object.__setattr__(metric, name, value)


def _same_unit(left: ErrorMetric, right: Any, symbol: str) -> str:
    if not isinstance(right, ErrorMetric):
        raise MetricError(f"{symbol} needs two metrics", where=type(right).__name__)
    if left.unit != right.unit:
        raise UnitMismatch(f"{symbol} needs equal units", where=f"{left.unit!r} and {right.unit!r}")
    return left.unit


def _product_unit(left: ErrorMetric, right: Any) -> str:
    if not isinstance(right, ErrorMetric):
        raise MetricError("* needs a metric or a number", where=type(right).__name__)
    return " ".join(unit for unit in (left.unit, right.unit) if unit != "weight") or "weight"
