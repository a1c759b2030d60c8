"""An independent check of allocations, in exact arithmetic and without a line of the solver.

Costs and gains are what the files say, as fractions: nothing is rounded, nothing overflows. The bound is that of
linear programming duality (see `docs/concepts.md`): for a price >= 0 and flows >= 0 over the edges, let e be what each
refinement's gain leaves after its price, with the flows it receives and without those it passes on. No set within the
capacity C gains more than price * C + sum of max(e, 0). Any solver may have found price and flows.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd, inf, isfinite, lcm, ulp
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hra.allocating.allocation import Allocation

# Decisions after which the search for a better choice is given up.
_DECISIONS = 200_000


@dataclass(frozen=True)
class Verification:
    """What was found: statements about an allocation, each proven, refuted, or neither.

    Attributes
    ----------
    bound : what no choice within the budget can gain more than, as far as it is proven here.
    proven, unproven, refuted : statements in words; of what is refuted, the opposite was shown.
    """

    bound: Fraction
    proven: tuple[str, ...]
    unproven: tuple[str, ...]
    refuted: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is refuted."""
        return not self.refuted

    @property
    def complete(self) -> bool:
        """Whether everything that the allocation states is proven."""
        return not self.refuted and not self.unproven


def verify(allocation: Allocation) -> Verification:
    """Check what ``allocation`` states: cost, budget, partial order, gain, bound and status."""
    facts = _Facts(allocation)
    verdicts = [facts.order(), facts.cost(), facts.gain(), facts.residual(), facts.bound(), facts.status()]
    parts = [tuple(text for text, verdict in verdicts if verdict is wanted) for wanted in (True, None, False)]
    return Verification(facts.dual, *parts)


class _Facts:
    """The numbers of an allocation as exact fractions, refinement by refinement."""

    def __init__(self, allocation: Allocation) -> None:
        hierarchy, problem = allocation.hierarchy, allocation.problem
        self.claims, self.problem = allocation, problem
        self.taken = [bool(value) for value in allocation.selected]
        self.edges = [(int(a), int(b)) for a, b in hierarchy.edges]
        self.pinned = [False] * len(self.taken) if problem.pinned is None else problem.pinned.tolist()
        self.gains = [Fraction(0 if pin else g) for g, pin in zip(problem.gain.tolist(), self.pinned, strict=True)]
        self.exact = _reader([*hierarchy.node_cost.tolist()])
        nodes = [self.exact(value) for value in hierarchy.node_cost.tolist()]
        steps, self.base = [Fraction(0)] * len(self.taken), Fraction(0)
        for value, added, removed in zip(
            nodes, hierarchy.added_by.tolist(), hierarchy.removed_by.tolist(), strict=True
        ):
            steps[added] += value if added >= 0 else 0
            self.base += value if added < 0 else 0
            steps[removed] -= value if removed >= 0 else 0
        self.spent = self.base + sum(c for c, taken in zip(steps, self.taken, strict=True) if taken)
        self.base += sum(c for c, pin in zip(steps, self.pinned, strict=True) if pin)
        self.costs = [Fraction(0) if pin else c for c, pin in zip(steps, self.pinned, strict=True)]
        self.gained = sum((g for g, taken in zip(self.gains, self.taken, strict=True) if taken), Fraction(0))
        self.dual = self._dual()

    def order(self) -> tuple[str, bool | None]:
        valid = all(self.taken[a] or not self.taken[b] for a, b in self.edges)
        pins = all(taken or not pin for taken, pin in zip(self.taken, self.pinned, strict=True))
        return "every refinement comes with all that it builds on, and what is pinned is there", valid and pins

    def cost(self) -> tuple[str, bool | None]:
        budget, claim = self.problem.budget, self.claims.cost
        fits = budget == inf or (budget >= 0 and self.spent <= self.exact(budget))
        return f"the cost is {claim!r} and within the budget {budget!r}", fits and _near(claim, self.spent)

    def gain(self) -> tuple[str, bool | None]:
        return f"the gain is {self.claims.gain!r}", all(g >= 0 for g in self.gains) and _near(
            self.claims.gain, self.gained
        )

    def residual(self) -> tuple[str, bool | None]:
        left = Fraction(self.problem.least_error) + sum(self.gains) - self.gained
        return f"the error that remains is {self.claims.residual!r}", _near(self.claims.residual, left)

    def bound(self) -> tuple[str, bool | None]:
        """Whether no choice gains more than the stated gain and shortfall."""
        short, text = self.claims.shortfall, f"no choice within the budget gains more than {self.claims.upper_bound!r}"
        if not self.problem.additive:
            return "no bound is stated: the metric's gains do not add up", True
        if not (isfinite(short) and short >= 0 and Fraction(self.claims.upper_bound) >= self.gained + Fraction(short)):
            return text, False
        if self.dual - self.gained <= Fraction(short):
            return text, True
        if self.claims.solution.restricted:
            return f"{text}, among those that keep further rules", None
        return text, self._search(self.gained + Fraction(short))

    def status(self) -> tuple[str, bool | None]:
        if not self.problem.additive:
            return "the answer is heuristic", self.claims.status == "heuristic"
        left = Fraction(self.problem.least_error) + sum(self.gains) - self.gained
        short = Fraction(self.claims.shortfall) if isfinite(self.claims.shortfall) else left
        optimal = short == 0 or short <= Fraction(1.0000001e-12) * (left - short)
        return f"the answer is {self.claims.status}", optimal or self.claims.status != "optimal"

    def _dual(self) -> Fraction:
        """The bound that price and flows prove, or the sum of all gains if that is less."""
        proof, everything = self.claims.certificate, sum(self.gains, Fraction(0))
        flows = [*proof.flow.tolist()]
        self.flows, self.left = [Fraction(0)] * len(self.edges), list(self.gains)
        self.price, self.room = Fraction(0), self._room()
        valid = len(flows) == len(self.edges) and all(isfinite(f) and f >= 0 for f in [*flows, proof.price])
        if not valid or self.room is None:
            return everything
        price, own = Fraction(proof.price) / proof.unit, [Fraction(f) for f in flows]
        left = [g - price * c for g, c in zip(self.gains, self.costs, strict=True)]
        for f, (a, b) in zip(own, self.edges, strict=True):
            left[a] += f
            left[b] -= f
        bound = price * self.room + sum((max(e, Fraction(0)) for e in left), Fraction(0))
        if bound >= everything:
            return everything
        self.flows, self.left, self.price = own, left, price
        return bound

    def _room(self) -> Fraction | None:
        """What the budget leaves for refinements, rounded down to what sums of their costs can be."""
        most = sum((max(c, Fraction(0)) for c in self.costs), Fraction(0))
        if self.problem.budget == inf:
            return most
        room = min(self.exact(self.problem.budget) - self.base, most)
        denominator = lcm(*(c.denominator for c in self.costs), 1)
        step = Fraction(gcd(*(int(c * denominator) for c in self.costs)), denominator)
        return room // step * step if step else room

    def _search(self, claim: Fraction) -> bool | None:
        """Whether no choice gains more than ``claim``: True or False if all were ruled out or one was found, else None.

        A choice loses of the bound what its decisions leave unused: those that lose too much are passed over.
        """
        size, allowed = len(self.costs), self.dual - claim
        before: list[list[tuple[int, Fraction]]] = [[] for _ in range(size)]
        for f, (a, b) in zip(self.flows, self.edges, strict=True):
            before[b].append((a, f))
        cheapest, dearest = [Fraction(0)] * (size + 1), [Fraction(0)] * (size + 1)
        for r in range(size - 1, -1, -1):
            cheapest[r] = cheapest[r + 1] + min(self.costs[r], Fraction(0))
            dearest[r] = dearest[r + 1] + max(self.costs[r], Fraction(0))
        taken, stack, decisions = [False] * size, [(0, False, Fraction(0), Fraction(0))], 0
        room: Any = self.room
        while stack:
            r, last, lost, spent = stack.pop()
            if r:
                taken[r - 1] = last
            unused = max(room - spent - dearest[r], Fraction(0))
            if spent + cheapest[r] > room or lost + self.price * unused >= allowed:
                continue
            if r == size:
                return False
            decisions += 1
            if decisions > _DECISIONS:
                return None
            missed = max(self.left[r], Fraction(0)) + sum(f for a, f in before[r] if taken[a])
            stack.append((r + 1, False, lost + missed, spent))
            if all(taken[a] for a, _ in before[r]):
                stack.append((r + 1, True, lost + max(-self.left[r], Fraction(0)), spent + self.costs[r]))
        return True


def _reader(costs: list[float]) -> Any:
    """How costs and budgets count: as the decimals that they print as where these have a common unit, else as doubles."""
    if all(value == int(value) for value in costs):
        return lambda value: Fraction(repr(float(value)))
    decimals = [Fraction(repr(value)) for value in costs]
    unit = lcm(*(value.denominator for value in decimals))
    common = 10**15 % unit == 0 and sum(decimals) * 10 ** _digits(unit) <= 2**51
    return (lambda value: Fraction(repr(float(value)))) if common else Fraction


def _digits(unit: int) -> int:
    digits = 0
    while 10**digits % unit:
        digits += 1
    return digits


def _near(claim: float, exact: Fraction) -> bool:
    """Whether a double is one of the two around an exact number."""
    return isfinite(claim) and abs(Fraction(claim) - exact) < Fraction(ulp(claim))
