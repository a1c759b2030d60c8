"""Pages and what they hold as one hierarchy: a page costs its bytes, a refinement costs nothing but needs its pages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from hra.caching import cached_property
from hra.compiling import njit
from hra.errors import ArrayError, HierarchyError
from hra.model.arrays import frozen, indices, mask, numbers
from hra.model.hierarchy import Hierarchy
from hra.model.problem import Problem, check_budget, no_problem
from hra.model.sets import drop_without_predecessors, take_with_predecessors
from hra.model.topology import Topology


@dataclass(frozen=True, eq=False)
class PagedHierarchy:
    """A hierarchy whose nodes lie in pages, so that a budget in bytes is what is held, not what is drawn.

    Loading a page is a refinement that costs its bytes and gains nothing; a refinement of the content costs nothing and
    needs the pages of all nodes that it adds. What it removes was added before, so its pages are held as well. Make one
    with `of`.

    Attributes
    ----------
    content : what lies in the pages, R refinements over N nodes.
    hierarchy : of P + N nodes, the pages first, in bytes; pages that hold a part of the content's base are its base.
    refinements : int32 [R], place of each refinement of the content among those of ``hierarchy``.
    loads : int32 [P], the refinement that loads each page, -1 for the base.

    Examples
    --------
    >>> import hra
    >>> from hra.residency import PagedHierarchy
    >>> content = hra.Hierarchy.tree([-1, 0, 0, 1, 1], [1, 1, 1, 1, 1])
    >>> paged = PagedHierarchy.of(content, page_of=[0, 1, 1, 2, 2], page_bytes=[100, 100, 60])
    >>> paged.hierarchy.base_cost, paged.hierarchy.total_cost, len(paged.hierarchy)
    (100.0, 260.0, 4)
    >>> problem = hra.solve(content, budget=5, errors=[9.0, 3.0, 1.0, 1.0, 0.5]).problem
    >>> chosen = hra.Hull().solve(paged.problem(problem, budget=200)).selected
    >>> paged.held(chosen).tolist(), chosen[paged.refinements].tolist()
    ([True, True, False], [True, False])
    """

    content: Hierarchy
    hierarchy: Hierarchy
    refinements: np.ndarray
    loads: np.ndarray

    @classmethod
    def of(cls, content: Hierarchy, page_of: Any, page_bytes: Any) -> PagedHierarchy:
        """Join content and pages.

        Parameters
        ----------
        page_of : int [N], the page of each node.
        page_bytes : [P], what each page takes while it is held.

        Raises
        ------
        ArrayError : not one page per node, or bytes that are not numbers > 0.
        """
        cost = numbers("page_bytes", page_bytes)
        if not (cost > 0).all():
            raise ArrayError("a page takes no bytes", where="page_bytes", fix="give each page its size")
        page = indices("page_of", page_of, 0, cost.size, content.node_cost.size)
        count, fine = cost.size, np.flatnonzero(content.added_by >= 0)
        loads = np.full(count, -1, np.int32)
        extra = np.ones(count, np.bool_)
        extra[page[content.added_by < 0]] = False
        loads[extra] = len(content) + np.arange(np.count_nonzero(extra), dtype=np.int32)
        needs = np.unique(np.stack([loads[page[fine]], content.added_by[fine]], axis=1), axis=0)
        shape = Topology(
            len(content) + int(extra.sum()),
            np.concatenate([loads, content.added_by]),
            np.concatenate([np.full(count, -1, np.int32), content.removed_by]),
            np.concatenate([content.edges, needs[needs[:, 0] >= 0]]),
        )
        every = np.concatenate([cost, np.zeros(content.node_cost.size)])
        joined = Hierarchy.from_topology(every, shape, cost_unit="bytes")
        places = np.empty(len(content), np.int32)
        gone = np.flatnonzero(content.removed_by >= 0)  # some refinements only remove
        places[content.removed_by[gone]] = joined.removed_by[count + gone]
        places[content.added_by[fine]] = joined.added_by[count + fine]
        return cls(content, joined, frozen(places), frozen(joined.added_by[:count].copy()))

    def problem(self, problem: Problem, budget: float) -> Problem:
        """What the content gains, as a problem of what to hold within ``budget`` bytes.

        Raises
        ------
        HraError : no problem.
        HierarchyError : a problem of another hierarchy than the content.
        InvalidBudget, BudgetTooSmall : as of `check_budget`.
        """
        if not isinstance(problem, Problem):
            raise no_problem(problem)
        if not problem.hierarchy.same_as(self.content):
            raise HierarchyError("the problem is of another hierarchy", fix="use one of what lies in these pages")
        return replace(
            problem,
            hierarchy=self.hierarchy,
            gain=self._place(problem.gain),
            budget=check_budget(budget, self.hierarchy),
            refinement_peak=partial(self._peak, problem),
        )

    def held(self, selected: np.ndarray) -> np.ndarray:
        """The pages that the refinements ``selected`` of ``hierarchy`` hold, bool [P]; ArrayError : not bool [R]."""
        held, loaded = np.ones(self.loads.size, np.bool_), self.loads >= 0
        held[loaded] = mask("selected", selected, len(self.hierarchy))[self.loads[loaded]]
        return held

    def shown(self, gain: np.ndarray, held: np.ndarray) -> np.ndarray:
        """The refinements of the content to draw from what is there, bool [R]: all that gain or lead to gain.

        Parameters
        ----------
        gain : float64 [R], of the content's refinements; held : bool [P], the pages that are there.

        Raises
        ------
        ArrayError : values of another kind or length.
        """
        gain, held = numbers("gain", gain, len(self.content)), mask("held", held, self.loads.size)
        possible = np.zeros(len(self.hierarchy), np.bool_)
        possible[self.refinements] = True
        possible[self.loads[self.loads >= 0]] = held[self.loads >= 0]
        drop_without_predecessors(self.hierarchy.edges, possible)
        taken = possible[self.refinements] & (gain > 0)
        take_with_predecessors(*self.content.predecessors, taken)
        return taken

    def worth(self, selected: np.ndarray, gain: np.ndarray) -> np.ndarray:
        """What each page is held for, float64 [P]: what its selected refinements gain, or what waits for it if more.

        A page that others wait for is worth at least as much as they gain, so that it does not come after them.

        Parameters
        ----------
        selected, gain : bool and float64, of the refinements of ``hierarchy``.

        Raises
        ------
        ArrayError : values of another kind or length.
        """
        count = len(self.hierarchy)
        selected, gain = mask("selected", selected, count), numbers("gain", gain, count)
        loads, needs = self._needs
        chosen = selected[needs[:, 1]]
        page, taken = loads[needs[chosen, 0]], needs[chosen, 1]
        # Refinements that lie in several pages count in each in full: without one of them they gain nothing.
        own = np.bincount(page, gain[taken], self.loads.size)
        rank = np.zeros(len(self.hierarchy))
        np.maximum.at(rank, taken, own[page])
        _raise_to_successors(self.hierarchy.edges, selected, rank)
        worth = np.zeros(self.loads.size)
        np.maximum.at(worth, page, rank[taken])
        return worth

    @cached_property
    def _needs(self) -> tuple[np.ndarray, np.ndarray]:
        """The page that each refinement of ``hierarchy`` loads, and the edges from such to the content, [E, 2]."""
        loads = np.full(len(self.hierarchy), -1, np.int32)
        loads[self.loads[self.loads >= 0]] = np.flatnonzero(self.loads >= 0)
        return loads, self.hierarchy.edges[loads[self.hierarchy.edges[:, 0]] >= 0]

    def _peak(self, problem: Problem) -> np.ndarray:
        peak = self._place(problem.peak)
        edges = self._needs[1]
        np.maximum.at(peak, edges[:, 0], peak[edges[:, 1]])
        return peak

    def _place(self, values: np.ndarray) -> np.ndarray:
        placed = np.zeros(len(self.hierarchy))
        placed[self.refinements] = values
        return placed


@njit(cache=True)
def _raise_to_successors(edges, selected, rank):
    """Raise each rank to that of the selected successors; ``edges`` [E, 2] are sorted by successor, coarse to fine."""
    for e in range(edges.shape[0] - 1, -1, -1):
        if selected[edges[e, 1]]:
            rank[edges[e, 0]] = max(rank[edges[e, 0]], rank[edges[e, 1]])
