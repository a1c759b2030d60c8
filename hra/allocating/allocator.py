"""The abstract allocator: hierarchy, metric and traversal, joined once for all domains."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from hra.allocating.allocation import Allocation
from hra.allocating.curve import Curve, curve
from hra.allocating.modifiers import in_sequence, pin
from hra.compiling import Stopwatch
from hra.errors import HierarchyError, HookWarning, HraError, InvalidBudget, warn, wrong_kind
from hra.model.builder import HierarchyBuilder
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric
from hra.model.problem import Problem, check_budget, checked_problem, exact_number
from hra.model.short_repr import short_repr
from hra.model.solution import Solution
from hra.traversals.base import Traversal, checked
from hra.traversals.hull import Hull

# The steps that a subclass may replace, and what they are called elsewhere; without underscores.
_HOOKS = ("hierarchy_for", "error_metric", "problem_for", "traverse_and_select", "realize")
_ELSEWHERE = {
    "hierarchy_for": ("build", "buildhierarchy", "gethierarchy", "makehierarchy"),
    "error_metric": ("evaluate", "error", "errors", "metricfor", "getmetric"),
    "traverse_and_select": ("select", "solve", "traverse", "traversal", "choose"),
    "realize": ("realise",),
}
# How alike names are that are taken for one another: "traverse_select" is, `allocate_batch` and "allocate" are not.
_ALIKE = 0.8


class HierarchicalResourceAllocator(ABC):
    """Chooses the subset of nodes with the best quality within a budget.

    The data runs one way: context -> metric -> gains -> traversal -> allocation -> realize. Domains implement
    `realize`. A subclass may replace any step: `hierarchy_for`, `error_metric`, `problem_for` and
    `traverse_and_select`; then nothing needs to be given to the constructor. ``hierarchy``, ``metric`` and
    ``traversal`` may also be attributes of the class.

    Parameters
    ----------
    hierarchy : what can be refined, or a builder that makes it from each context.
    metric : turns a context into the error of every node.
    traversal : chooses the refinements; `Hull` by default.

    Raises
    ------
    HraError : something else in the place of one of the three, or neither an argument nor a method for one of them.

    Warns
    -----
    HookWarning : a method of a subclass is nearly called like one of these steps, and is none.

    Examples
    --------
    >>> import hra
    >>> class Distance(hra.ErrorMetric):
    ...     def evaluate(self, hierarchy, context):
    ...         return hierarchy.attribute("error") / context
    >>> class Names(hra.HierarchicalResourceAllocator):
    ...     def realize(self, allocation):
    ...         return [("whole", "left", "right")[node] for node in allocation.cut]
    >>> halves = hra.Hierarchy.tree([-1, 0, 0], [1, 1, 1], attributes={"error": [4.0, 1.0, 1.0]})
    >>> names = Names(halves, Distance(), hra.Hull())
    >>> allocation = names.allocate(context=2.0, budget=2)
    >>> names.realize(allocation), allocation.residual
    (['left', 'right'], 1.0)

    The same by subclassing alone:

    >>> class Halves(hra.HierarchicalResourceAllocator):
    ...     hierarchy = halves
    ...     def error_metric(self, context):
    ...         return Distance()
    ...     def realize(self, allocation):
    ...         return allocation.cut
    >>> Halves().allocate(context=2.0, budget=2).residual
    1.0
    """

    hierarchy: Hierarchy | HierarchyBuilder
    metric: ErrorMetric
    traversal: Traversal = Hull()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        _warn_of_near_hooks(cls)

    def __init__(
        self,
        hierarchy: Hierarchy | HierarchyBuilder | None = None,
        metric: ErrorMetric | None = None,
        traversal: Traversal | None = None,
    ) -> None:
        arguments = {"hierarchy": hierarchy, "metric": metric, "traversal": traversal}
        vars(self).update({name: value for name, value in arguments.items() if value is not None})
        fix = f"call {type(self).__name__}(hierarchy, metric, traversal) with objects, such as hra.Hull()"
        given = getattr(self, "hierarchy", None)
        if not isinstance(given, (Hierarchy, HierarchyBuilder)) and not self._replaces("hierarchy_for"):
            kinds = (Hierarchy, HierarchyBuilder)
            raise wrong_kind("hierarchy", given, kinds, f"{fix}, or override hierarchy_for(context)")
        given = getattr(self, "metric", None)
        # Whoever replaces the steps that read it needs none, but one that was given is one.
        unread = metric is None and (self._replaces("error_metric") or self._replaces("problem_for"))
        if not isinstance(given, ErrorMetric) and not unread:
            raise wrong_kind("metric", given, ErrorMetric, f"{fix}, or override error_metric(context)")
        if not isinstance(self.traversal, Traversal):
            raise wrong_kind("traversal", self.traversal, Traversal, f"{fix}, or override traverse_and_select(problem)")

    def __repr__(self) -> str:
        """The class with its parts; a subclass may have none of some."""
        return short_repr(self, (part for part in ("hierarchy", "metric", "traversal") if hasattr(self, part)))

    def _replaces(self, step: str) -> bool:
        """Whether a subclass has its own ``step``."""
        return getattr(type(self), step) is not getattr(HierarchicalResourceAllocator, step)

    def allocate(
        self, context: Any, budget: float, *, previous: Allocation | None = None, pinned: Any = None
    ) -> Allocation:
        """The allocation for ``context`` that costs at most ``budget``.

        Parameters
        ----------
        context : what the metric reads: a camera, an image and a query ...
        budget : in the hierarchy's cost unit.
        previous : the allocation of the last step of a sequence, over a hierarchy of the same costs and refinements,
            or of the same nodes one by one in another order of siblings; also one from a file or another process.
            `Coherent` traversals stay close to it, and `Allocation.churn` counts what changed.
        pinned : int [K], nodes that the cut shows at least: what adds them is always taken, with all that comes
            before; what replaces them by finer nodes may be taken, too.

        Raises
        ------
        InvalidBudget : the budget is not a number >= 0.
        BudgetTooSmall : it does not cover the coarsest level and what is pinned.
        MetricError : the metric returned unusable values, or gains whose sum overflows.
        HierarchyError : ``previous`` belongs to a hierarchy of other nodes.
        ArrayError : ``pinned`` are not nodes of the hierarchy.
        """
        watch = Stopwatch()
        problem = self.problem(context, budget)
        if pinned is not None:
            problem = pin(problem, pinned)
        if previous is not None:
            problem = in_sequence(problem, previous)
        if self._replaces("traverse_and_select"):
            solution = checked(self.traverse_and_select, problem, f"{type(self).__name__}.traverse_and_select")
        else:  # what traversals answer, they have checked
            solution = self.traverse_and_select(problem)
        if problem.pinned is not None:  # what is pinned costs and gains nothing more
            solution = replace(solution, selected=solution.selected | problem.pinned)
        return Allocation(problem, solution, watch.wall, context)

    def problem(self, context: Any, budget: float) -> Problem:
        """What `allocate` solves: the hierarchy, the gain of every refinement and the budget, all checked.

        Raises
        ------
        InvalidBudget, BudgetTooSmall, MetricError : see `allocate`.
        """
        hierarchy = hierarchy_of(self, context)
        limit = check_budget(budget, hierarchy)
        problem = checked_problem(self.problem_for(hierarchy, context, limit), type(self).__name__)
        if problem.budget > limit:
            what = f"problem_for raised the budget of {exact_number(limit)} to {exact_number(problem.budget)}"
            fix = "return a problem of the budget that it is given, or of less"
            raise InvalidBudget(what, where=f"{type(self).__name__}.problem_for", fix=fix)
        return problem

    def adopt(self, allocation: Allocation, context: Any) -> Allocation:
        """An allocation from a file or another process as one of this allocator, which can be realized.

        Parameters
        ----------
        context : that it was made for: files and pickles leave it out, because images and cameras are not theirs.

        Raises
        ------
        HierarchyError : the allocation is of another hierarchy.
        """
        if not isinstance(allocation, Allocation):
            raise wrong_kind("allocation", allocation, Allocation, "call adopt(allocation, context)")
        hierarchy = hierarchy_of(self, context)
        if not hierarchy.same_as(allocation.hierarchy):
            fix = "adopt it in an allocator of its hierarchy, with the context that it was made for"
            raise HierarchyError("the allocation belongs to another hierarchy", where="adopt", fix=fix)
        problem = replace(allocation.problem, hierarchy=hierarchy, metric=self.error_metric(context))
        return replace(allocation, problem=problem, context=context)

    def curve(self, context: Any) -> Curve:
        """Gain and error against cost for ``context``: the hull points of all budgets, from one solve.

        Raises
        ------
        HraError : the allocator has another traversal than `Hull`, which would not choose these points.
        """
        if not isinstance(self.traversal, Hull) or self._replaces("traverse_and_select"):
            what = f"curves need hra.Hull(), but this allocator has {self.traversal!r}"
            fix = "give the allocator traversal=hra.Hull(), or call hra.sweep(allocator, context, budgets)"
            raise HraError(what, where="curve", fix=fix)
        return curve(self.problem(context, float("inf")))

    def hierarchy_for(self, context: Any) -> Hierarchy:
        """The hierarchy that serves ``context``."""
        return self.hierarchy.build(context) if isinstance(self.hierarchy, HierarchyBuilder) else self.hierarchy

    def error_metric(self, context: Any) -> ErrorMetric:
        """The metric that turns ``context`` into the error of every node: by default the one that was given."""
        return self.metric

    def problem_for(self, hierarchy: Hierarchy, context: Any, budget: float) -> Problem:
        """Evaluate the metric: the gain of every refinement."""
        metric = self.error_metric(context)
        fix = f"return an hra.ErrorMetric from {type(self).__name__}.error_metric"
        if not isinstance(metric, ErrorMetric):
            raise wrong_kind("what error_metric returns", metric, ErrorMetric, fix)
        return Problem.of(hierarchy, metric, context, budget)

    def traverse_and_select(self, problem: Problem) -> Solution:
        """Choose the refinements."""
        return self.traversal.solve(problem)

    @abstractmethod
    def realize(self, allocation: Allocation) -> Any:
        """Turn the cut into the resource: a triangle mesh, resident tiles, a token tensor."""


def hierarchy_of(allocator: HierarchicalResourceAllocator, context: Any) -> Hierarchy:
    """What an allocator's `hierarchy_for` returns, checked.

    Raises
    ------
    HraError : no hierarchy.
    """
    made, name = allocator.hierarchy_for(context), type(allocator).__name__
    if not isinstance(made, Hierarchy):
        fix = f"return an hra.Hierarchy from {name}.hierarchy_for, or from the build of its builder"
        raise wrong_kind("what hierarchy_for returns", made, Hierarchy, fix)
    return made


def _warn_of_near_hooks(cls: type) -> None:
    """Warn of methods of ``cls`` that are nearly called like a step and are none."""
    names = {hook.replace("_", ""): hook for hook in _HOOKS}
    names |= {name: hook for hook, others in _ELSEWHERE.items() for name in others}
    for name, value in vars(cls).items():
        known = hasattr(HierarchicalResourceAllocator, name) or any(hasattr(base, name) for base in cls.__bases__)
        if known or name.startswith("_") or not callable(value):
            continue
        plain = name.replace("_", "").lower()
        found = [plain] if plain in names else get_close_matches(plain, [h.replace("_", "") for h in _HOOKS], 1, _ALIKE)
        if found:
            hook = names[found[0]]
            message = f"{cls.__name__}.{name} is never called by hra: the step is called {hook}; rename one of the two"
            warn(message, HookWarning)
