"""Files of true allocations, changed by every kind of hand, and what brute force says of them.

A forged file is signed again with the checksum that fits, and half of them restate the numbers that the change made
false, as one would who wants to be believed. Nothing here uses the check or a solver: brute force enumerates all sets
of refinements and adds up nodes.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import inf, isfinite, lcm, nextafter, ulp
from typing import Any

import numpy as np

import hra
from hra.allocating.allocation import Allocation
from hra.allocating.allocation_file import checksum, pack
from hra.allocating.exact_batch import exact_solutions
from hra.caching import cached_property
from hra.errors import HraError
from hra.files.plain_arrays import save_plain
from hra.testing.instances import KINDS, case
from hra.traversals.lazy_best_first import LazyBestFirst
from tests.helpers.allocators import Plain, Table
from tests.helpers.instances import Given, Instance, NoMetric
from tests.helpers.rational import reader

Header = dict[str, Any]
Arrays = dict[str, np.ndarray]
MOST = 7  # refinements
TRAVERSALS = (hra.Hull(), hra.Exact(), hra.BestFirst(), hra.Hull(finish="none"), hra.Exact(max_states=1))


@dataclass(frozen=True, eq=False)
class File:
    """What a file holds: numbers and texts, and arrays."""

    header: Header
    arrays: Arrays

    @classmethod
    def of(cls, allocation: Allocation) -> File:
        """The file of a true allocation."""
        with np.load(io.BytesIO(pack(allocation)), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        return cls(json.loads(arrays.pop("header").tobytes()), arrays)

    def same_as(self, other: File) -> bool:
        """Whether both say the same."""
        return checksum(self.header, self.arrays) == checksum(other.header, other.arrays)

    @cached_property
    def content(self) -> bytes:
        """The bytes, signed with a checksum that fits."""
        header = {**self.header, "checksum": checksum(self.header, self.arrays)}
        text = np.frombuffer(json.dumps(header, sort_keys=True).encode(), np.uint8)
        save_plain(stream := io.BytesIO(), {"header": text, **self.arrays})
        return stream.getvalue()


# ---- true allocations ----


def _values(seed: int) -> tuple[hra.Hierarchy, np.ndarray, float, np.random.Generator]:
    kind = [*KINDS][seed % len(KINDS)]
    hierarchy, values, rng = case(kind, seed, MOST)
    share = float(rng.choice([0.0, 0.3, 0.6, 1.0]))
    budget = hierarchy.base_cost + share * (hierarchy.total_cost - hierarchy.base_cost)
    return hierarchy, values, max(budget, hierarchy.base_cost), rng


def _plain(seed: int, **options: Any) -> Allocation:
    hierarchy, values, budget, _ = _values(seed)
    return Plain(hierarchy, Table(), TRAVERSALS[seed % len(TRAVERSALS)]).allocate(values, budget, **options)


def _pinned(seed: int) -> Allocation:
    return _plain(seed, pinned=np.flatnonzero(_values(seed)[0].added_by >= 0)[:1])


def _sequence(seed: int) -> Allocation:
    hierarchy, values, budget, _ = _values(seed)
    allocator = Plain(hierarchy, Table(), hra.Coherent(max_churn=1 + seed % 3))
    return allocator.allocate(values[::-1].copy(), budget, previous=allocator.allocate(values, budget))


def _not_additive(seed: int) -> Allocation:
    hierarchy, values, budget, _ = _values(seed)
    return Plain(hierarchy, Table(additive=False), hra.Hull()).allocate(values, budget)


def _pool(seed: int, *, limited: bool = False) -> Allocation:
    rng = np.random.default_rng(seed)
    members = [case(str(rng.choice(["add", "flat", "dag", "replace"])), seed + k, 3)[0] for k in range(2)]
    instances = [Instance(member, rng.integers(0, 9, len(member)).astype(float), inf) for member in members]
    base, whole = (sum(getattr(m, name) for m in members) for name in ("base_cost", "total_cost"))
    limits = [(None, members[0].base_cost + 1.0), (None, None)] if limited else None
    allocators = [Given(member, NoMetric(), hra.Hull()) for member in members]
    budget = base + float(rng.choice([0.4, 0.8])) * (whole - base)
    return hra.pool(*allocators, traversal=hra.Hull(), limits=limits).allocate(instances, budget).whole


def _batch(seed: int) -> Allocation:
    hierarchy, _, budget, rng = _values(seed)
    gain = rng.integers(0, 9, len(hierarchy)).astype(float)
    (solution,) = exact_solutions(hierarchy, gain[None], budget)
    return Allocation(Instance(hierarchy, gain, budget).problem, solution, 0.0)


def _lazy(seed: int) -> Allocation:
    class Halves(hra.LazyHierarchy):
        def roots(self) -> list[tuple[float, float]]:
            return [(0.0, 1.0)]

        def expand(self, node: tuple[float, float]) -> list[tuple[float, float]]:
            middle = sum(node) / 2
            return [(node[0], middle), (middle, node[1])]

    class Distance(hra.LazyMetric):
        def evaluate(self, nodes: Any, context: Any) -> list[float]:
            return [(high - low) * (low <= context < high) for low, high in nodes]

    visited = LazyBestFirst(max_expansions=4).allocate(Halves(), Distance(), 4.0, 0.1 + seed % 9 / 10).visited
    return Plain(visited.hierarchy, visited.metric, hra.Hull()).allocate(None, 3.0)


ORIGINS: dict[str, Callable[[int], Allocation]] = {
    "trees and graphs": _plain,
    "pinned": _pinned,
    "sequences": _sequence,
    "pools": _pool,
    "pools with limits": lambda seed: _pool(seed, limited=True),
    "batches": _batch,
    "lazy trees": _lazy,
    "gains that do not add up": _not_additive,
}


@lru_cache(maxsize=512)
def original(kind: str, seed: int) -> File | None:
    """A true file of one of `ORIGINS`; None where there is nothing to allocate."""
    try:
        allocation = ORIGINS[kind](seed)
    except HraError:
        return None
    return File.of(allocation) if 0 < len(allocation.hierarchy) <= 2 * MOST - 4 else None


# ---- forgeries ----


def _one(values: np.ndarray, rng: np.random.Generator, change: Callable[[Any], Any]) -> np.ndarray:
    """One entry, or all of them, changed; as far as the dtype can hold that."""
    result = values.copy()
    if not result.size:
        return result
    where = int(rng.integers(result.size)) if rng.random() < 0.7 else slice(None)
    with np.errstate(all="ignore"):
        flat = result.reshape(-1)
        flat[where] = np.asarray(change(flat[where])).astype(result.dtype)
    return result


def _negated(values: Any) -> Any:
    return ~values if values.dtype == bool else -values


def _stepped(values: Any) -> Any:
    if values.dtype.kind == "f":
        return np.nextafter(values, values.dtype.type(inf))
    return ~values if values.dtype == bool else values + np.ones((), values.dtype)


def _rows(values: np.ndarray, index: np.ndarray) -> np.ndarray:
    return values[index] if values.ndim else values


def _huge(values: Any) -> Any:
    return 1e300 if values.dtype.kind == "f" else np.iinfo(np.int32).max if values.dtype.kind == "i" else values


def _lowered(values: Any) -> Any:
    return ~values if values.dtype == bool else values - np.ones((), values.dtype)


def _floats(value: float) -> Callable[[Any], Any]:
    return lambda values: value if values.dtype.kind == "f" else values


_ARRAYS: dict[str, Callable[[np.ndarray, np.random.Generator], np.ndarray]] = {
    "permute": lambda a, rng: a[rng.permutation(len(a))] if a.ndim else a,
    "negate": lambda a, rng: _one(a, rng, _negated),
    "scale": lambda a, rng: _one(a, rng, lambda v: v * rng.choice([0, 2, 0.5, 1e3])),
    "off by one": lambda a, rng: _one(a, rng, _stepped if rng.random() < 0.5 else _lowered),
    "NaN": lambda a, rng: _one(a, rng, _floats(np.nan)),
    "inf": lambda a, rng: _one(a, rng, _floats(float(rng.choice([inf, -inf])))),
    "huge": lambda a, rng: _one(a, rng, _huge),
    "other dtype": lambda a, rng: a.astype(str(rng.choice(["<f4", "<i8", "|b1", "<f8", "<i4"]))),
    "truncated": lambda a, rng: a[: len(a) // 2] if a.ndim else a,
}


def _text(change: Callable[[float], float]) -> Callable[[Any, np.random.Generator], Any]:
    def changed(value: Any, rng: np.random.Generator) -> Any:
        if isinstance(value, bool):
            return not value
        try:
            if isinstance(value, list):  # numerator and denominator
                return [str(int(change(float(value[0])))), *value[1:]]
            return repr(float(change(float(value))))
        except (TypeError, ValueError, OverflowError):
            return "optimal" if value != "optimal" else "certified"

    return changed


_TEXTS: dict[str, Callable[[Any, np.random.Generator], Any]] = {
    "duplicate": lambda v, rng: [v, v],
    "permute": lambda v, rng: v[::-1] if isinstance(v, (str, list)) else v,
    "negate": _text(lambda v: -v),
    "scale": lambda v, rng: _text(lambda n: n * float(rng.choice([0, 0.5, 2, 1e9])))(v, rng),
    "off by one": lambda v, rng: _text(lambda n: n + 1 if rng.random() < 0.5 else nextafter(n, -inf))(v, rng),
    "NaN": _text(lambda v: float("nan")),
    "inf": lambda v, rng: _text(lambda n: float(rng.choice([inf, -inf])))(v, rng),
    "huge": _text(lambda v: 1e300),
    "other dtype": lambda v, rng: rng.choice(["", "1"]) if isinstance(v, bool) else v == "optimal",
    "truncated": lambda v, rng: v[: len(v) // 2] if isinstance(v, (str, list)) else None,
}
OPERATIONS = ("drop", "duplicate", "swap", *_ARRAYS)
# Rows of these stand for the same edges: a forger drops them together.
_TOGETHER = {"edges": ("edges", "flow", "share"), "flow": ("edges", "flow", "share")}


def forge(file: File, other: File, field: str, operation: str, rng: np.random.Generator) -> File:
    """``file`` with a field changed; ``other`` is what fields are swapped with."""
    header, arrays = dict(file.header), dict(file.arrays)
    of: dict[str, Any] = header if field in header else arrays
    if field not in of:
        return file
    if operation == "swap":
        theirs = other.header if of is header else other.arrays
        if field in theirs:
            of[field] = theirs[field]
    elif of is header:
        if operation == "drop":
            del header[field]
        else:
            with np.errstate(all="ignore"):
                header[field] = _TEXTS[operation](header[field], rng)
    elif operation in ("drop", "duplicate"):
        together = [name for name in _TOGETHER.get(field, (field,)) if name in arrays]
        rows = len(arrays[field]) if arrays[field].ndim else 0
        if rows and rng.random() < 0.7:
            index = np.arange(rows)
            k = int(rng.integers(rows))
            index = np.delete(index, k) if operation == "drop" else np.insert(index, k, k)
            arrays |= {name: _rows(arrays[name], index) for name in together if len(arrays[name]) == rows}
        elif operation == "drop":
            del arrays[field]
        else:
            arrays[field] = np.concatenate([arrays[field], arrays[field]]) if rows else arrays[field]
    else:
        arrays[field] = _ARRAYS[operation](arrays[field], rng)
    return File(header, arrays)


def fields(file: File) -> list[str]:
    """All that can be forged."""
    return [*(name for name in file.header if name != "checksum"), *file.arrays]


def restated(file: File, share: float | None, *, restricted: bool | None = None) -> File:
    """``file`` with cost, gain, residual, bound and status as its arrays have them.

    Parameters
    ----------
    share : of what a better choice gains more, that is admitted: 1 is honest, less is a lie; None states no more gain.
    """
    truth = Brute(file)
    gained, missed = truth.gained(truth.chosen), Fraction(0)
    if share is not None and truth.best is not None:
        missed = max(truth.best - gained, Fraction(0)) * Fraction(share)
    residual = truth.least + truth.everything - gained
    short = float(missed)
    short = short if Fraction(short) >= missed else nextafter(short, inf)
    most = float(gained + Fraction(short))
    most = most if Fraction(most) >= gained + Fraction(short) else nextafter(most, inf)
    least = max(float(residual - Fraction(short)), 0.0)
    close = short == 0 or (least > 0 and short / least <= 1e-12)
    numbers = {"cost": float(truth.cost(truth.chosen)), "gain": float(gained), "residual": float(residual)}
    numbers |= {"shortfall": short, "upper_bound": most}
    status = "heuristic" if not file.header["additive"] else "optimal" if close else "certified"
    header = {**file.header, **{name: repr(value) for name, value in numbers.items()}, "status": status}
    return File({**header, "restricted": file.header["restricted"] if restricted is None else restricted}, file.arrays)


# ---- what is true ----


class NoNumbers(ValueError):
    """A gain, cost or error is not a finite number: nothing that a file states then means anything."""


class Brute:
    """All sets of refinements of a file, as bits of whole numbers, and what each costs and gains in fractions."""

    def __init__(self, file: File) -> None:
        self.header, arrays = file.header, file.arrays
        self.size = arrays["selected"].size
        self.added, self.removed = arrays["added_by"].tolist(), arrays["removed_by"].tolist()
        self.before = [0] * self.size
        for a, b in arrays["edges"].tolist():
            self.before[b] |= 1 << a
        read = reader(arrays["node_cost"])
        self.node_cost = [read(value) for value in arrays["node_cost"].tolist()]
        self.parts = lcm(*(value.denominator for value in self.node_cost), 1)
        self.whole = [int(value * self.parts) for value in self.node_cost]
        self.pins = _bits(arrays["pinned"]) if "pinned" in arrays else 0
        least = float(self.header["least_error"])
        self.raw = [*arrays["gain"].tolist(), *arrays["node_cost"].tolist(), least]
        if not all(map(isfinite, self.raw)):
            raise NoNumbers
        self.gain = [Fraction(0 if self.pins >> r & 1 else g) for r, g in enumerate(arrays["gain"].tolist())]
        self.scale = lcm(*(value.denominator for value in self.gain), 1)
        self.gains = [int(value * self.scale) for value in self.gain]
        self.least, self.everything = Fraction(least), sum(self.gain, Fraction(0))
        budget = float(self.header["budget"])
        self.budget = None if budget == inf else read(budget)
        self.chosen = _bits(arrays["selected"])
        self.closed = [s for s in range(1 << self.size) if self._holds(s)]

    def _holds(self, mask: int) -> bool:
        return all(not mask >> r & 1 or mask & self.before[r] == self.before[r] for r in range(self.size))

    def _there(self, node: int, mask: int) -> bool:
        """Whether a node is active once the refinements of ``mask`` are taken."""
        came = self.added[node] < 0 or mask >> self.added[node] & 1
        return bool(came and not (self.removed[node] >= 0 and mask >> self.removed[node] & 1))

    def cost(self, mask: int) -> Fraction:
        """What the nodes cost that are active."""
        return Fraction(sum(c for v, c in enumerate(self.whole) if self._there(v, mask)), self.parts)

    def gained(self, mask: int) -> Fraction:
        """What a set gains."""
        return Fraction(sum(g for r, g in enumerate(self.gains) if mask >> r & 1), self.scale)

    def fits(self, mask: int) -> bool:
        """Whether the budget covers a set."""
        return self.budget is None or self.cost(mask) <= self.budget

    @cached_property
    def best(self) -> Fraction | None:
        """The most that a closed set within the budget gains that holds what is pinned."""
        sets = (s for s in self.closed if s & self.pins == self.pins)
        return max((self.gained(s) for s in sorted(sets, key=self.gained, reverse=True) if self.fits(s)), default=None)

    @cached_property
    def ordered(self) -> bool:
        """Whether no closed set takes a node away that it did not add, and every refinement is in some closed set."""
        nodes = [(1 << a, 1 << r) for a, r in zip(self.added, self.removed, strict=True) if a >= 0 and r >= 0]
        early = any(s & r and not s & a for s in self.closed for a, r in nodes)
        same = any(a == r for a, r in nodes)
        done, grown = -1, 0
        while done != grown:  # what can be taken one after another: all but what lies on a cycle
            done = grown
            grown |= sum(
                1 << r for r in range(self.size) if not done >> r & 1 and done & self.before[r] == self.before[r]
            )
        return not early and not same and grown == (1 << self.size) - 1

    def holds(self, statement: str) -> bool:
        """Whether a statement of the check is true."""
        number = {name: float(self.header[name]) for name in ("cost", "gain", "residual", "shortfall", "upper_bound")}
        gained = self.gained(self.chosen)
        residual, missed = self.least + self.everything - gained, (self.best or Fraction(0)) - gained
        if statement.startswith("every node"):
            return self.ordered
        if statement.startswith("costs, gains"):
            return all(isfinite(value) and value >= 0 for value in self.raw) and float(self.header["budget"]) >= 0
        if statement.startswith("every refinement"):
            return self.chosen in self.closed and self.chosen & self.pins == self.pins and self.pins in self.closed
        if statement.startswith("the cost is"):
            return _near(number["cost"], self.cost(self.chosen)) and self.fits(self.chosen)
        if statement.startswith("the gain is"):
            return _near(number["gain"], gained) and _near(number["residual"], residual) and residual >= self.least >= 0
        if statement.startswith("no bound"):
            return self.header["additive"] is False
        if statement.startswith("no choice") or statement == "the answer is certified":
            bound = isfinite(number["upper_bound"]) and missed + gained <= Fraction(number["upper_bound"])
            return self.header["additive"] is True and bound
        if statement == "the answer is optimal":
            return missed <= 0 or missed * 10**12 <= Fraction(1.0002) * (residual - missed)
        return statement == "the answer is heuristic" and self.header["additive"] is False

    @cached_property
    def true(self) -> bool:
        """Whether all that the file states holds, its shortfall included."""
        statements = ["every node", "costs, gains", "every refinement", "the cost is", "the gain is"]
        if not all(map(self.holds, statements)):
            return False
        if not self.header["additive"]:
            return True
        short, most, gained = (
            float(self.header["shortfall"]),
            float(self.header["upper_bound"]),
            self.gained(self.chosen),
        )
        if not (isfinite(short) and isfinite(most) and short >= 0 and self.best is not None):
            return False
        return self.best <= gained + Fraction(short) <= Fraction(most)


def _bits(mask: np.ndarray) -> int:
    return sum(1 << r for r, taken in enumerate(mask.tolist()) if taken)


def _near(claim: float, exact: Fraction) -> bool:
    return isfinite(claim) and abs(Fraction(claim) - exact) < Fraction(ulp(claim))
