from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import hra
from hra.allocating.allocation import Allocation
from hra.allocating.verification import verify
from hra.model.hierarchy import Hierarchy
from hra.solvers.duals import Certificate
from tests.helpers.allocators import allocate
from tests.helpers.claims import stating
from tests.helpers.verification_cases import taking

pytestmark = pytest.mark.unverified


def refuted(claims: Allocation) -> tuple[str, ...]:
    return verify(claims).refuted


def test_pins_are_closed_and_taken():
    true = allocate(Hierarchy.chains([3], [1, 1, 1]), [0.0, 1.0, 1.0], 3, hra.Hull(), "gain")
    assert true.selected.all()
    for pins, holds in (([True, False], True), ([False, True], False), ([True, True], True)):
        mask = np.array(pins)
        gains = np.where(mask, 0.0, true.problem.gain)
        problem = replace(true.problem, pinned=mask, gain=gains)
        gained, proof = float(gains.sum()), Certificate(0.0, Fraction(1), np.zeros(1), 0.0)
        claims = stating(true, problem=problem, gain=gained, upper_bound=gained, residual=0.0, certificate=proof)
        assert verify(claims).ok == holds
    without = taking(stating(true, problem=replace(true.problem, pinned=np.array([True, False]))))
    assert any(text.startswith("every refinement comes") for text in refuted(without))
