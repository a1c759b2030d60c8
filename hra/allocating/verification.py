"""An independent check of allocations, in exact arithmetic and without a line of the solver.

Linear programming duality bounds what can be gained: for any price >= 0 and flows >= 0 over the edges, let ``left`` be
each gain less the price of its cost, with the flows that it receives and without those that it passes on. No set within
the budget gains more than price * room + sum of max(left, 0).
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import accumulate, compress
from math import ceil, gcd, inf, isfinite, lcm, ulp
from typing import TYPE_CHECKING, Any

from hra.allocating.statements import Verification
from hra.model.kinds import require_kind

if TYPE_CHECKING:
    from hra.allocating.allocation import Allocation

_DECISIONS = 200_000  # decisions of a search before it is given up


def verify(allocation: Allocation) -> Verification:
    """Check what ``allocation`` states: cost, budget, partial order, gain, what remains, bound and status.

    Examples
    --------
    >>> import hra
    >>> allocation = hra.solve(hra.Hierarchy.flat([2, 3]), budget=4, gains=[1.0, 3.0])
    >>> hra.verify(allocation).proven[1:3]
    ('the cost is 3.0, within the budget 4.0', 'the gain is 3.0, 1.0 remains')
    """
    from hra.allocating.allocation import Allocation

    require_kind("allocation", allocation, Allocation, "load one from a file by hra.Allocation.load(path)")
    numbers = (*allocation.problem.gain.tolist(), allocation.problem.least_error)
    if not all(map(isfinite, numbers)) or not allocation.budget >= 0:
        return Verification(Fraction(0), (), (), ("gains, errors and the budget are numbers",))
    facts = _Facts(allocation)
    verdicts = [*facts.choice(), facts.bound(), facts.status()]
    parts = [tuple(text for text, verdict in verdicts if verdict is wanted) for wanted in (True, None, False)]
    return Verification(Fraction(facts.dual, facts.unit), *parts)


class _Facts:
    """The numbers of an allocation as whole numbers of two units, of cost and of gain; what is pinned is base."""

    def __init__(self, claims: Allocation) -> None:
        self.claims, self.problem, hierarchy = claims, claims.problem, claims.hierarchy
        self.taken, self.edges = claims.selected.tolist(), hierarchy.edges.tolist()
        self.pins = [False] * len(self.taken) if self.problem.pinned is None else self.problem.pinned.tolist()
        node_cost, changes = hierarchy.node_cost.tolist(), (hierarchy.added_by.tolist(), hierarchy.removed_by.tolist())
        self.exact = _reader(node_cost)
        whole, self.parts = _whole(map(self.exact, node_cost))
        steps = [0] * (len(self.taken) + 1)  # one more for -1: added by the base
        for value, added, removed in zip(whole, *changes, strict=True):
            steps[added] += value
            steps[removed] -= value if removed >= 0 else 0
        self.spent, self.base = (sum(compress(steps, mask), steps[-1]) for mask in (self.taken, self.pins))
        self.costs = [0 if pin else c for c, pin in zip(steps, self.pins, strict=False)]
        gains = [0.0 if pin else g for g, pin in zip(self.problem.gain.tolist(), self.pins, strict=True)]
        proof, flows = claims.certificate, claims.certificate.flow.tolist()
        good = proof.unit > 0 and len(flows) == len(self.edges) and all(0 <= f < inf for f in (*flows, proof.price))
        flows = flows if good else [0] * len(self.edges)
        price = Fraction(proof.price) / proof.unit / self.parts if good else Fraction(0)
        (least, price, *numbers), self.unit = _whole([self.problem.least_error, price, *flows, *gains])
        flows, self.gains = numbers[: len(flows)], numbers[len(flows) :]
        # What the budget leaves for refinements, rounded down to what sums of their costs can be.
        room, step = sum(c for c in self.costs if c > 0), gcd(*self.costs)
        if self.problem.budget < inf:
            room = min(self.exact(self.problem.budget) * self.parts // 1 - self.base, room)
        self.room = room // step * step if step else room
        gained = sum(compress(self.gains, self.taken))
        self.gained, self.residual = (Fraction(n, self.unit) for n in (gained, least + sum(self.gains) - gained))
        left = [g - price * c for g, c in zip(self.gains, self.costs, strict=True)]
        for f, (a, b) in zip(flows, self.edges, strict=True):
            left[a] += f
            left[b] -= f
        # The bound that price and flows prove, or the sum of all gains if that is less; and what proves it.
        bound, everything = price * self.room + sum(e for e in left if e > 0), sum(self.gains)
        best = (bound, price, flows, left) if bound < everything else (everything, 0, [0] * len(flows), self.gains)
        self.dual, self.price, self.flows, self.left = best

    def choice(self) -> Any:  # statements, and whether they hold
        budget, claims, needs = self.problem.budget, self.claims, zip(self.taken, self.pins, strict=True)
        valid = all(self.taken[a] or not self.taken[b] for a, b in self.edges) and all(t or not p for t, p in needs)
        spent, right = Fraction(self.spent, self.parts), min(self.gains, default=0) >= 0
        fits = _near(claims.cost, spent) and (budget == inf or spent <= self.exact(budget))
        right = right and _near(claims.gain, self.gained) and _near(claims.residual, self.residual)
        yield "every refinement comes with all that it builds on, and what is pinned is there", valid
        yield f"the cost is {claims.cost!r}, within the budget {budget!r}", fits
        yield f"the gain is {claims.gain!r}, {claims.residual!r} remains", right

    def bound(self) -> tuple[str, bool | None]:
        short, most = self.claims.shortfall, self.claims.upper_bound
        text, restricted = f"no choice within the budget gains more than {most!r}", self.claims.solution.restricted
        if not self.problem.additive:
            return "no bound is stated, because gains do not add up", True
        if not (isfinite(short) and isfinite(most) and 0 <= Fraction(short) <= Fraction(most) - self.gained):
            return text, False
        excess = ceil(self.dual - (self.gained + Fraction(short)) * self.unit)
        proven = excess <= 0 or (None if restricted else self._search(excess))
        return text + ", if it keeps further rules" * restricted, proven

    def status(self) -> tuple[str, bool]:
        short, status = self.claims.shortfall, self.claims.status
        small = isfinite(short) and Fraction(short) <= Fraction(1.0001e-12) * (self.residual - Fraction(short))
        return f"the answer is {status}", small or short == 0 or status != "optimal" or not self.problem.additive

    def _search(self, excess: int) -> bool | None:
        """Whether every choice loses ``excess`` against the dual; None if that takes too long to find out."""
        before: list[list[tuple[int, int]]] = [[] for _ in self.costs]
        for f, (a, b) in zip(self.flows, self.edges, strict=True):
            before[b].append((a, f))
        least, most = ([0, *accumulate(end(c, 0) for c in reversed(self.costs))] for end in (min, max))
        taken, stack, made = [False] * (len(before) + 1), [(0, False, 0, 0)], 0
        while stack and (made := made + 1) <= _DECISIONS:
            r, taken[r - 1], lost, spent = stack.pop()
            unused = self.room - spent - most[-1 - r]
            if spent + least[-1 - r] > self.room or lost + self.price * max(unused, 0) >= excess:
                continue
            if r == len(before):
                return False
            missed = sum((f for a, f in before[r] if taken[a]), max(self.left[r], 0))
            stack.append((r + 1, False, lost + missed, spent))
            if all(taken[a] for a, _ in before[r]):
                stack.append((r + 1, True, lost + max(-self.left[r], 0), spent + self.costs[r]))
        return None if stack else True


def _whole(values: Any) -> tuple[list[int], int]:  # in parts, and how many parts make one
    ratios = [value.as_integer_ratio() for value in values]
    parts = lcm(*{below for _, below in ratios})
    return [above * (parts // below) for above, below in ratios], parts


def _reader(costs: list[float]) -> Any:
    """How costs and budgets count: as the decimals that they print as where these share a unit, else as the doubles."""
    counts = Counter(costs)
    decimals = {value: Fraction(repr(value)) for value in counts}
    common = lcm(*{value.denominator for value in decimals.values()})
    digits = next((d for d in range(16) if 10**d % common == 0), None)
    total = sum(decimals[value] * count for value, count in counts.items())
    if digits is None or (digits and total * 10**digits > 2**51):
        return Fraction
    return lambda value: decimals[value] if value in decimals else Fraction(repr(float(value)))


def _near(claim: float, exact: Fraction) -> bool:  # whether a double is one of the two around an exact number
    return isfinite(claim) and abs(Fraction(claim) - exact) < Fraction(ulp(claim))
