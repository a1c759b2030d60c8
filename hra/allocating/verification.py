"""An independent check of allocations, in exact arithmetic and without a line of the solver.

Linear programming duality bounds what can be gained: for any price >= 0 and flows >= 0 over the edges, let ``left`` be
each gain less the price of its cost, with the flows that it receives and without those that it passes on. No set within
the budget gains more than price * room + sum of max(left, 0).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, compress
from math import gcd, inf, isfinite, lcm, ulp
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hra.allocating.allocation import Allocation

_ZERO, _DECISIONS = Fraction(0), 200_000  # decisions of a search before it is given up


@dataclass(frozen=True)
class Verification:
    """What price and flows prove that no choice gains more than, and statements that hold, may hold, or do not hold."""

    bound: Fraction
    proven: tuple[str, ...]
    unproven: tuple[str, ...]
    refuted: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is refuted."""
        return not self.refuted


def verify(allocation: Allocation) -> Verification:
    """Check what ``allocation`` states: cost, budget, partial order, gain, what remains, bound and status.

    Examples
    --------
    >>> import hra
    >>> verdict = hra.verify(hra.solve(hra.Hierarchy.flat([2, 3, 4]), budget=5, gains=[3.0, 4.0, 5.0]))
    >>> verdict.ok, float(verdict.bound)
    (True, 7.0)
    >>> verdict.proven[1]
    'the cost is 5.0, within the budget 5.0'
    """
    facts = _Facts(allocation)
    verdicts = [*facts.choice(), facts.bound(), facts.status()]
    parts = [tuple(text for text, verdict in verdicts if verdict is wanted) for wanted in (True, None, False)]
    return Verification(facts.dual, *parts)


class _Facts:
    """The numbers of an allocation as exact fractions, refinement by refinement; what is pinned belongs to the base."""

    def __init__(self, claims: Allocation) -> None:
        hierarchy, self.claims, self.problem = claims.hierarchy, claims, claims.problem
        self.taken, self.edges = claims.selected.tolist(), [(int(a), int(b)) for a, b in hierarchy.edges]
        self.pins = [False] * len(self.taken) if self.problem.pinned is None else self.problem.pinned.tolist()
        node_cost, changes = hierarchy.node_cost.tolist(), (hierarchy.added_by.tolist(), hierarchy.removed_by.tolist())
        self.exact = _reader(node_cost)
        steps = [_ZERO] * (len(self.taken) + 1)  # one more for -1: added by the base
        for value, added, removed in zip(map(self.exact, node_cost), *changes, strict=True):
            steps[added] += value
            steps[removed] -= value if removed >= 0 else 0
        self.spent, self.base = (sum(compress(steps, mask), steps[-1]) for mask in (self.taken, self.pins))
        self.costs = [_ZERO if pin else c for c, pin in zip(steps, self.pins, strict=False)]
        self.gains = [Fraction(0 if pin else g) for g, pin in zip(self.problem.gain.tolist(), self.pins, strict=True)]
        self.all_gain, self.gained = sum(self.gains, _ZERO), sum(compress(self.gains, self.taken), _ZERO)
        self.residual, self.room = Fraction(self.problem.least_error) + self.all_gain - self.gained, self._room()
        self.dual = self._dual()

    def choice(self) -> list[tuple[str, bool]]:
        budget, claims, needs = self.problem.budget, self.claims, zip(self.taken, self.pins, strict=True)
        valid = all(self.taken[a] or not self.taken[b] for a, b in self.edges) and all(t or not p for t, p in needs)
        fits = budget == inf or (budget >= 0 and self.spent <= self.exact(budget))
        right = _near(claims.gain, self.gained) and _near(claims.residual, self.residual)
        return [
            ("every refinement comes with all that it builds on, and what is pinned is there", valid),
            (f"the cost is {claims.cost!r}, within the budget {budget!r}", fits and _near(claims.cost, self.spent)),
            (f"the gain is {claims.gain!r}, {claims.residual!r} remains", right and min(self.gains, default=0) >= 0),
        ]

    def bound(self) -> tuple[str, bool | None]:
        short, text = self.claims.shortfall, f"no choice within the budget gains more than {self.claims.upper_bound!r}"
        if not self.problem.additive:
            return "no bound is stated, because gains do not add up", True
        stated = isfinite(short) and isfinite(self.claims.upper_bound) and short >= 0
        if not stated or self.gained + Fraction(short) > Fraction(self.claims.upper_bound):
            return text, False
        if self.dual <= self.gained + Fraction(short):
            return text, True
        if self.claims.solution.restricted:
            return f"{text}, if it keeps further rules", None
        return text, self._search(self.gained + Fraction(short))

    def status(self) -> tuple[str, bool]:
        short, text = self.claims.shortfall, f"the answer is {self.claims.status}"
        optimal = isfinite(short) and Fraction(short) <= Fraction(1.0001e-12) * (self.residual - Fraction(short))
        return text, optimal or short == 0 or self.claims.status != "optimal" or not self.problem.additive

    def _dual(self) -> Fraction:
        """The bound that price and flows prove, or the sum of all gains if that is less."""
        proof, self.price = self.claims.certificate, _ZERO
        self.flows, self.left = [_ZERO] * len(self.edges), self.gains
        if not all(isfinite(f) and f >= 0 for f in [*proof.flow.tolist(), proof.price]) or proof.unit <= 0:
            return self.all_gain
        price, flows = Fraction(proof.price) / proof.unit, [Fraction(f) for f in proof.flow.tolist()]
        left = [g - price * c for g, c in zip(self.gains, self.costs, strict=True)]
        for f, (a, b) in zip(flows, self.edges, strict=True):
            left[a], left[b] = left[a] + f, left[b] - f
        bound = price * self.room + sum((max(e, _ZERO) for e in left), _ZERO)
        if bound >= self.all_gain:
            return self.all_gain
        self.price, self.flows, self.left = price, flows, left
        return bound

    def _room(self) -> Fraction:
        """What the budget leaves for refinements, rounded down to what sums of their costs can be."""
        room = sum((max(c, _ZERO) for c in self.costs), _ZERO)
        room = room if self.problem.budget == inf else min(self.exact(self.problem.budget) - self.base, room)
        whole = lcm(*(c.denominator for c in self.costs))
        step = Fraction(gcd(*(int(c * whole) for c in self.costs)), whole)
        return room // step * step if step else room

    def _search(self, claim: Fraction) -> bool | None:
        """Whether no choice gains more than ``claim``, None if that takes too long; what loses too much is left out."""
        before: list[list[tuple[int, Fraction]]] = [[] for _ in self.costs]
        for f, (a, b) in zip(self.flows, self.edges, strict=True):
            before[b].append((a, f))
        least = [_ZERO, *accumulate(min(c, _ZERO) for c in reversed(self.costs))]
        most = [_ZERO, *accumulate(max(c, _ZERO) for c in reversed(self.costs))]
        taken, stack = [False] * (len(before) + 1), [(0, False, _ZERO, _ZERO)]
        for _ in range(_DECISIONS):
            if not stack:
                return True
            r, taken[r - 1], lost, spent = stack.pop()
            lost_at_least = lost + self.price * max(self.room - spent - most[-1 - r], _ZERO)
            if spent + least[-1 - r] > self.room or lost_at_least >= self.dual - claim:
                continue
            if r == len(before):
                return False
            missed = sum((f for a, f in before[r] if taken[a]), max(self.left[r], _ZERO))
            stack.append((r + 1, False, lost + missed, spent))
            if all(taken[a] for a, _ in before[r]):
                stack.append((r + 1, True, lost + max(-self.left[r], _ZERO), spent + self.costs[r]))
        return None


def _reader(costs: list[float]) -> Any:
    """How costs and budgets count: as the decimals that they print as where these share a unit, else as the doubles."""
    decimals = [Fraction(repr(value)) for value in costs]
    digits = next((d for d in range(16) if 10**d % lcm(*(value.denominator for value in decimals)) == 0), None)
    shared = digits is not None and (not digits or sum(decimals) * 10**digits <= 2**51)
    return (lambda value: Fraction(repr(float(value)))) if shared else Fraction


def _near(claim: float, exact: Fraction) -> bool:  # whether a double is one of the two around an exact number
    return isfinite(claim) and abs(Fraction(claim) - exact) < Fraction(ulp(claim))
