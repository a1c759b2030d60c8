"""An independent check of allocations, in exact arithmetic and without a line of the solver.

docs/concepts.md ("What is proven") has it in five lines, whose numbers stand here; what an allocation states is only
compared. By duality no set within the budget gains more than price * room + sum of max(left, 0) at any price and flows
>= 0: ``left`` is a gain less the price of its cost, with flows that it receives and without those that it passes on.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, compress
from math import ceil, gcd, inf, isfinite, lcm, ulp
from typing import Any

import numpy as np

from hra.allocating.allocation import Allocation
from hra.errors import check_kind

_DECISIONS = 200_000  # decisions of a search before it is given up
_OPTIMAL = Fraction(1.0001e-12)  # part of the least residual: what docs/concepts.md calls optimal, and its rounding


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
    """Check what ``allocation`` states: partial order, cost, budget, gain, what remains, bound and status.

    Examples
    --------
    >>> import hra
    >>> allocation = hra.solve(hra.Hierarchy.flat([2, 3]), budget=4, gains=[1.0, 3.0])
    >>> hra.verify(allocation).proven[3:5]
    ('the cost is 3.0, within the budget 4.0', 'the gain is 3.0, 1.0 remains')
    """
    check_kind("allocation", allocation, Allocation, "load one from a file by hra.Allocation.load(path)")
    ordered = "every node comes before it goes, and refinements follow each other without a cycle", _ordered(allocation)
    counted = "costs, gains, errors and the budget are numbers >= 0", _countable(allocation)
    facts = _Facts(allocation) if ordered[1] and counted[1] else None  # without these nothing else means anything
    statements = [ordered, counted, *facts.choice(), *facts.best()] if facts else [ordered, counted]
    bound = Fraction(facts.dual, facts.unit) if facts else Fraction(0)
    return Verification(bound, *(tuple(t for t, v in statements if v is wanted) for wanted in (True, None, False)))


def _ordered(claims: Allocation) -> bool:
    """Line 1: edges rise, and what adds a node precedes what removes it; so every closed set leaves a cut."""
    shape, size = claims.hierarchy, claims.selected.size
    added, removed, before, after = (c.astype(np.int64) for c in (shape.added_by, shape.removed_by, *shape.edges.T))
    inside = ((added >= -1) & (added < size) & (removed >= -1) & (removed < size)).all()
    if not inside or not ((before >= 0) & (before < after) & (after < size)).all():
        return False
    far, edges = np.flatnonzero((added >= 0) & (removed >= 0)), np.append(after * size + before, -1)
    keys = removed[far] * size + added[far]
    far = far[edges[np.searchsorted(edges[:-1], keys)] != keys]  # where no edge joins the two
    order = np.argsort(after, kind="stable") if far.size else far
    needs, begin = before[order].tolist(), np.searchsorted(after[order], np.arange(size + 1)).tolist()
    for first, last in zip(added[far].tolist(), removed[far].tolist(), strict=True):
        r = last
        while r > first and begin[r + 1] == begin[r] + 1:  # the only way back
            r = needs[begin[r]]
        stack, seen = [r], {r}
        while stack and first not in seen:
            r = stack.pop()
            stack += {a for a in needs[begin[r] : begin[r + 1]] if a >= first} - seen
            seen.update(stack)
        if first not in seen or first == last:
            return False
    return True


def _countable(claims: Allocation) -> bool:
    """Line 2: nothing is negative, NaN or infinite, except for a budget, which may be infinite."""
    numbers = all(((of >= 0) & (of < inf)).all() for of in (claims.hierarchy.node_cost, claims.problem.gain))
    return bool(numbers and claims.problem.budget >= 0 <= claims.problem.least_error < inf)


class _Facts:
    """The numbers of an allocation as whole numbers of two units, of cost and of gain; what is pinned is base."""

    def __init__(self, claims: Allocation) -> None:
        self.claims, self.problem, hierarchy = claims, claims.problem, claims.hierarchy
        self.taken, self.edges = claims.selected.tolist(), hierarchy.edges.tolist()
        self.pins = [False] * len(self.taken) if self.problem.pinned is None else self.problem.pinned.tolist()
        node_cost, added_by, removed_by = hierarchy.node_cost.tolist(), hierarchy.added_by, hierarchy.removed_by
        self.exact = _reader(node_cost)
        whole, self.parts = _whole(map(self.exact, node_cost))
        steps = [0] * (len(self.taken) + 1)  # one more for -1: added by the base
        for value, added, removed in zip(whole, added_by.tolist(), removed_by.tolist(), strict=True):
            steps[added] += value
            steps[removed] -= value if removed >= 0 else 0
        self.spent, base = (sum(compress(steps, mask), steps[-1]) for mask in (self.taken, self.pins))
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
        room = (
            room if self.problem.budget == inf else min(self.exact(self.problem.budget) * self.parts // 1 - base, room)
        )
        self.room = room // step * step if step else room
        gained, everything = sum(compress(self.gains, self.taken)), sum(self.gains)
        self.gained, self.residual = Fraction(gained, self.unit), Fraction(least + everything - gained, self.unit)
        # Line 5: the bound that price and flows prove, or the sum of all gains if that is less; and what proves it.
        self.gains = self._attainable()
        everything = sum(self.gains)
        left = [g - price * c for g, c in zip(self.gains, self.costs, strict=True)]
        for f, (a, b) in zip(flows, self.edges, strict=True):
            left[a] += f
            left[b] -= f
        bound = price * self.room + sum(e for e in left if e > 0)
        sure = everything, 0, [0] * len(flows), self.gains
        self.dual, self.price, self.flows, self.left = (bound, price, flows, left) if bound < everything else sure

    def _attainable(self) -> list[int]:
        """Gains, and 0 for what no closed set within the room contains, because it and what it needs cost more."""
        needs: list[list[int]] = [[] for _ in self.costs]
        for a, b in self.edges:
            needs[b].append(a)
        costs, least, needed, result = self.costs.copy(), 0, [], []
        for r in reversed(range(len(costs))):  # what saves counts as a part of one thing that it needs
            if needs[r]:
                costs[needs[r][-1]] += min(costs[r], 0)
            else:
                least += min(costs[r], 0)
        for cost, before, gain in zip(costs, needs, self.gains, strict=True):
            needed.append(max((needed[a] for a in before), default=0) + max(cost, 0))
            result.append(gain if least + needed[-1] <= self.room else 0)
        return result

    def choice(self) -> Any:  # statements, and whether they hold
        budget, claims = self.problem.budget, self.claims  # line 3 first, then line 4
        closed = all(self.taken[a] or not self.taken[b] for a, b in self.edges)
        pinned = not any(self.pins) or all(self.pins[a] or not self.pins[b] for a, b in self.edges)
        pinned = pinned and all(t or not p for t, p in zip(self.taken, self.pins, strict=True))
        spent = Fraction(self.spent, self.parts)
        fits = _near(claims.cost, spent) and (budget == inf or spent <= self.exact(budget))
        yield "every refinement comes with all that it builds on, and what is pinned is there", closed and pinned
        yield f"the cost is {claims.cost!r}, within the budget {budget!r}", fits
        right = _near(claims.gain, self.gained) and _near(claims.residual, self.residual)  # line 4
        yield f"the gain is {claims.gain!r}, {claims.residual!r} remains", right

    def best(self) -> Any:  # line 5: the statement of the bound, and that of the status, which needs it
        short, most, status = self.claims.shortfall, self.claims.upper_bound, self.claims.status
        text, restricted = f"no choice within the budget gains more than {most!r}", self.claims.solution.restricted
        proven: bool | None = False
        if not self.problem.additive:
            text, proven = "no bound is stated, because gains do not add up", status == "heuristic"
        elif isfinite(short) and isfinite(most) and 0 <= Fraction(short) <= Fraction(most) - self.gained:
            excess = ceil(self.dual - (self.gained + Fraction(short)) * self.unit)
            proven = excess <= 0 or (None if restricted else self._search(excess))
        yield text + ", if it keeps further rules" * (restricted and not proven), proven
        if status == "optimal" and proven is not False:  # what is missed at most is none that counts
            proven = proven if Fraction(short) <= _OPTIMAL * max(self.residual - Fraction(short), 0) else False
        yield f"the answer is {status}", proven

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
    total = sum(decimals[value].numerator * (common // decimals[value].denominator) * counts[value] for value in counts)
    if digits is None or (digits and total * 10**digits > 2**51 * common):
        return Fraction
    return lambda value: decimals[value] if value in decimals else Fraction(repr(float(value)))


def _near(claim: float, exact: Fraction) -> bool:  # whether a double is one of the two around an exact number
    return isfinite(claim) and abs(Fraction(claim) - exact) < Fraction(ulp(claim))
