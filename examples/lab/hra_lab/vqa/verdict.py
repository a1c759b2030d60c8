"""The decision rule: which allocation to use, from paired differences to the grid (T1) with their intervals.

In points of score against T1 at the reference budget, the largest that was asked for:

- Tier 1: T2 or T6 gains at least 3 on one set, or is 2 times as fast and loses under 2 on every set.
- Tier 2: T2.5 gains at least 5 on documents and 3 on photos, or is 3 times as fast and loses under 1 on every set.
- Tier 3: T2, T2.5, T6 or T11 gains at least 7 on documents, 5 on photos and 5 on text in the wild, and is 2 times as
  fast at the same budget.
- T3 and T3h have to bring 5 on documents. T2 within 1 on every set stops T4 and T5.
- All within 2 on every set: use T1.

A gain or a speed counts by the lower end of its 95 % interval; "within" asks for the whole interval. What gains is
asked at the reference budget; what is fast may have any smaller one, with T1 still at the reference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from hra_lab.bootstrap import Interval
from hra_lab.vqa.methods import BASELINE, LABELS

DOCUMENTS, PHOTOS, WILD = "documents", "photos", "text in the wild"
CANDIDATES = ("pyramid", "foveated", "log-polar", "gestalt-saccades")
_ATLASES = ("semantic-atlas", "hybrid-atlas")
_WITHIN = 2.0
_FEW = 100  # images, with fewer of which a bootstrap's intervals are too narrow


@dataclass(frozen=True)
class Against:
    """A method against T1 on one set.

    Attributes
    ----------
    kind : of the set.
    points : by budget, points of score more than T1 at the reference budget.
    times : by budget, seconds of T1 at the reference budget by those of the method.
    images : how many were asked about: questions to one image are drawn together, and count as one.
    """

    set: str
    kind: str
    method: str
    points: Mapping[int, Interval]
    times: Mapping[int, Interval]
    images: int

    @property
    def reference(self) -> int:
        """The budget at which scores are compared."""
        return max(self.points)

    @property
    def gain(self) -> Interval:
        """Points at the reference budget."""
        return self.points[self.reference]


@dataclass(frozen=True)
class Tier:
    """One tier: reached, not reached, or open (None) for want of a data set; and why, in words."""

    number: int
    reached: bool | None
    why: str
    method: str | None = None


@dataclass(frozen=True)
class Verdict:
    """What to use.

    Attributes
    ----------
    use : a method, or None where nothing can be said.
    sentence : the verdict in words. tiers : from 1 to 3. notes : on T3, T4 and T5.
    """

    use: str | None
    sentence: str
    tiers: tuple[Tier, ...] = ()
    notes: tuple[str, ...] = ()


def decide(found: Sequence[Against], blind: str | None = None) -> Verdict:
    """The verdict on methods that were compared with T1.

    Parameters
    ----------
    found : every method but T1 on every set.
    blind : why nothing can be said, where the model answers as well without the image.
    """
    if blind is not None or not found:
        return Verdict(None, f"No verdict: {blind or 'nothing was compared with T1'}.")
    tiers = tuple(_tier(number, found) for number in (1, 2, 3))
    notes = (*_few(found), *_notes(found))
    reached = [tier for tier in tiers if tier.reached]
    if reached:
        best = reached[-1]
        use = best.method or BASELINE
        return Verdict(use, f"Tier {best.number} is reached: use {LABELS[use]} ({best.why}).", tiers, notes)
    return Verdict(*_without_tier([one for one in found if one.method in CANDIDATES]), tiers, notes)


def _without_tier(found: Sequence[Against]) -> tuple[str | None, str]:
    gains = [one.gain for one in found]
    grid = LABELS[BASELINE]
    if all(_r(gain.low) >= -_WITHIN and _r(gain.high) <= _WITHIN for gain in gains):
        return BASELINE, f"All within {_WITHIN:.0f} points: use T1 ({grid})."
    if all(_r(gain.high) <= _WITHIN for gain in gains):
        worst = min(found, key=lambda one: one.gain.value)
        why = f"none is more than {_WITHIN:.0f} points better, and {_told(worst, worst.reference)}"
        return BASELINE, f"No tier is reached, {why}: use T1 ({grid})."
    best = max(found, key=lambda one: one.gain.high)
    more = _wanted(best)
    text = f"No tier is reached, and {_told(best, best.reference)} leaves open whether it is better"
    return None, f"{text}: ask about {more:,} images or more; until then use T1 ({grid})."


def _wanted(one: Against) -> int:
    """Images with which the interval's half width would be the distance of its middle from 2 points, or a point."""
    half = (one.gain.high - one.gain.low) / 2
    return ceil(one.images * (half / max(abs(one.gain.value - _WITHIN), 1.0)) ** 2 + 1)


def _tier(number: int, found: Sequence[Against]) -> Tier:
    """The first method and clause that reach a tier, else the one that is nearest to it."""
    clauses = list(_clauses(number, found))
    for wanted in (True, None, False):
        held = [clause for clause in clauses if clause[0] is wanted]
        if held:
            best = max(held, key=lambda clause: clause[3])
            return Tier(number, wanted, best[2], best[1] if wanted else None)
    return Tier(number, None, "its methods were not run")


Clause = tuple["bool | None", str, str, float]
"""Whether it holds, of which method, why, and by how many points the weakest lower end is over what is asked."""


def _clauses(number: int, found: Sequence[Against]) -> Iterator[Clause]:
    methods = {1: ("pyramid", "log-polar"), 2: ("foveated",), 3: CANDIDATES}[number]
    for method in methods:
        own = [one for one in found if one.method == method]
        if not own:
            continue
        if number == 1:
            for one in own:
                yield _gains(method, [(one, 3.0)], one.reference)
            yield from (_fast(method, own, budget, 2.0, 2.0) for budget in _budgets(own))
        if number == 2:
            yield _on_kinds(method, own, {DOCUMENTS: 5.0, PHOTOS: 3.0}, own[0].reference)
            yield from (_fast(method, own, budget, 3.0, 1.0) for budget in _budgets(own))
        if number == 3:
            for budget in _budgets(own):
                gains = _on_kinds(method, own, {DOCUMENTS: 7.0, PHOTOS: 5.0, WILD: 5.0}, budget)
                speed = _speed(method, own, budget, 2.0)
                yield _both(gains, speed)


def _budgets(own: Sequence[Against]) -> list[int]:
    return sorted(set.intersection(*(set(one.points) & set(one.times) for one in own)))


def _gains(method: str, asked: Sequence[tuple[Against, float]], budget: int) -> Clause:
    """Whether each set gains what is asked of it."""
    over = [_r(one.points[budget].low - least) for one, least in asked]
    said = "; ".join(f"{_told(one, budget)}, asked: {least:+.0f}" for one, least in asked)
    return min(over) >= 0, method, said, min(over)


def _on_kinds(method: str, own: Sequence[Against], least: Mapping[str, float], budget: int) -> Clause:
    """The same by kind of set: one that fails settles it, one that is missing leaves it open."""
    asked = [(one, least[one.kind]) for one in own if one.kind in least]
    missing = [kind for kind in least if kind not in {one.kind for one, _ in asked}]
    if not asked:
        return None, method, f"no set of {' or '.join(missing)}", -1e9
    held, _, said, over = _gains(method, asked, budget)
    if held and missing:
        return None, method, f"{said}; no set of {' or '.join(missing)}", over
    return held, method, said, over


def _speed(method: str, own: Sequence[Against], budget: int, least: float) -> Clause:
    over = min(_r(one.times[budget].low - least) for one in own)
    slowest = min(own, key=lambda one: one.times[budget].low)
    found = slowest.times[budget]
    said = f"{found.value:.2f} ({found.low:.2f} to {found.high:.2f}) times as fast on {slowest.set}, asked: {least:.0f}"
    return over >= 0, method, said, over


def _fast(method: str, own: Sequence[Against], budget: int, times: float, lost: float) -> Clause:
    """Whether it is so many times as fast on every set, and loses less than so many points on every set."""
    speed = _speed(method, own, budget, times)
    over = min(_r(one.points[budget].low + lost) for one in own)
    worst = min(own, key=lambda one: one.points[budget].low)
    kept: Clause = (over > 0, method, f"{_told(worst, budget)}, asked: over {-lost:+.0f}", over)
    return _both(kept, speed)


def _both(one: Clause, other: Clause) -> Clause:
    """Both: what fails settles it, then what is open."""
    states = (one[0], other[0])
    held = False if False in states else None if None in states else True
    return held, one[1], f"{one[2]}; {other[2]}", min(one[3], other[3])


def _few(found: Sequence[Against]) -> Iterator[str]:
    for name, count in {one.set: one.images for one in found}.items():
        if count < _FEW:
            yield f"{name} has {count} images only: intervals of fewer than {_FEW} are too narrow to decide by."


def _notes(found: Sequence[Against]) -> Iterator[str]:
    for one in found:
        if one.method in _ATLASES and one.kind == DOCUMENTS:
            brings = "brings" if _r(one.gain.low) >= 5 else "does not bring"
            yield f"{LABELS[one.method]} {brings} 5 points: {_told(one, one.reference)}."
    pyramids = [one for one in found if one.method == "pyramid"]
    if pyramids:
        stops = all(_r(one.gain.low) >= -1 and _r(one.gain.high) <= 1 for one in pyramids)
        widest = max(pyramids, key=lambda one: max(abs(one.gain.low), abs(one.gain.high)))
        what = "T2 is within 1 point, which stops T4 and T5" if stops else "T2 is not within 1 point, so T4 and T5 stay"
        yield f"{what}: {_told(widest, widest.reference)}."


def _told(one: Against, budget: int) -> str:
    gain = one.points[budget]
    return (
        f"{LABELS.get(one.method, one.method)} at {budget} tokens on {one.set} {gain.value:+.1f} points "
        f"({gain.low:+.1f} to {gain.high:+.1f})"
    )


def _r(value: float) -> float:
    """Without the last bits, by which a mean of equal differences misses them."""
    return round(value, 9)
