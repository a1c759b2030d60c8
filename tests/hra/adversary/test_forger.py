"""Forged files of allocations against brute force: what the check says is proven is true."""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.allocating.allocation import Allocation
from hra.allocating.allocation_file import unpack
from hra.errors import HraError
from tests.helpers.forging import OPERATIONS, ORIGINS, Brute, File, NoNumbers, fields, forge, original, restated

pytestmark = pytest.mark.unverified
SHARES = (None, 0.0, 0.5, 1.0)
# What statements rest on; other fields are forged less often.
CARRYING = {
    "edges",
    "added_by",
    "removed_by",
    "node_cost",
    "gain",
    "selected",
    "flow",
    "pinned",
    "budget",
    "least_error",
}
CARRYING |= {"cost", "residual", "shortfall", "upper_bound", "certificate_price", "certificate_unit", "restricted"}
TRUE = 24  # seeds of true files of each kind


@dataclass
class Found:
    """What came of forgeries, by the kind of change, and by what the check said."""

    of: dict[str, Counter[str]] = field(default_factory=dict)

    def count(self, kind: str, outcome: str) -> None:
        self.of.setdefault(kind, Counter())[outcome] += 1

    @property
    def total(self) -> Counter[str]:
        return sum(self.of.values(), Counter())


def judged(file: File) -> str:
    """What the check makes of a file, compared with the truth.

    "accepted wrongly" where anything is proven that is false; "refused wrongly" where something true is refuted.
    """
    try:
        claims = unpack(Allocation, file.content, "forged")
    except HraError:
        return "not read"
    found = hra.verify(claims)
    try:
        truth = Brute(file)
    except NoNumbers:
        return "accepted wrongly" if found.ok or len(found.proven) > 1 else "refuted"
    if not all(truth.holds(text) for text in found.proven if "further rules" not in text):
        return "accepted wrongly"
    if found.ok:
        return "true and accepted" if truth.true else "false and not proven"
    return "refused wrongly" if truth.true else "refuted"


def forgeries(kind: str, seed: int, number: int) -> Iterator[tuple[str, File]]:
    """Random changes of one or two fields of a true file, half of them with numbers stated anew."""
    rng = np.random.default_rng(seed)
    while number:
        true, other = (original(kind, int(rng.integers(TRUE))) for _ in range(2))
        if true is None or other is None:
            continue
        forged, operations = true, []
        for _ in range(int(rng.integers(1, 3))):
            names = fields(forged)
            weights = np.array([1.0 if name in CARRYING else 0.1 for name in names])
            name, operation = str(rng.choice(names, p=weights / weights.sum())), str(rng.choice(OPERATIONS))
            forged = forge(forged, other, name, operation, rng)
            operations.append(operation)
        if not forged.same_as(true):
            number -= 1
            yield operations[0] if len(operations) == 1 else "two fields", _stated(forged, rng)


def _stated(forged: File, rng: np.random.Generator) -> File:
    if rng.random() < 0.4:
        return forged
    share = SHARES[int(rng.integers(len(SHARES)))]
    try:
        return restated(forged, share, restricted=bool(rng.random() < 0.5) if rng.random() < 0.5 else None)
    except (KeyError, ValueError, TypeError, IndexError, OverflowError):  # nothing can be added up any more
        return forged


def test_no_true_file_is_refused() -> None:
    kinds = Counter[str]()
    for kind, seed in itertools.product(ORIGINS, range(TRUE)):
        true = original(kind, seed)
        if true is not None:
            kinds[kind] += 1
            assert judged(true) == "true and accepted" or true.header["restricted"], (kind, seed)
            assert judged(true) not in ("refused wrongly", "refuted", "not read", "accepted wrongly"), (kind, seed)
    assert set(kinds) == set(ORIGINS) and min(kinds.values()) >= 10


@given(st.sampled_from(sorted(ORIGINS)), st.integers(0, 2**32 - 1))
def test_nothing_false_is_proven_of_forged_files(kind: str, seed: int) -> None:
    for change, file in forgeries(kind, seed, 12):
        assert judged(file) not in ("accepted wrongly", "refused wrongly"), change


def test_forgeries_of_every_kind_are_tried_and_noticed() -> None:
    """That the adversary can tell: changes are not read, refuted, or accepted where what is stated stays true."""
    found = Found()
    for kind in ORIGINS:
        for change, file in forgeries(kind, 4, 60):
            found.count(change, judged(file))
    assert set(found.of) == {*OPERATIONS, "two fields"}
    assert found.total.keys() == {"not read", "refuted", "true and accepted", "false and not proven"}


@pytest.mark.slow
def test_twenty_thousand_forgeries(capsys: pytest.CaptureFixture[str]) -> None:
    found = Found()
    for kind in ORIGINS:
        for change, file in forgeries(kind, 2, 2700):
            found.count(change, judged(file))
    with capsys.disabled():
        sys.stdout.writelines(f"\n{change}: {dict(outcomes)}" for change, outcomes in sorted(found.of.items()))
    assert found.total.total() >= 20_000
    assert not found.total["accepted wrongly"] and not found.total["refused wrongly"]
