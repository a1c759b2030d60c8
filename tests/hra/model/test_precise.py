from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given

from hra.model.hierarchy import Hierarchy
from hra.model.precise import ceiling
from hra.pooling.copies_allocation import Kind
from tests.helpers.claims import is_true, stating
from tests.helpers.copies_cases import Rows, answers, drawn


@given(drawn())
def test_the_shortfall_needs_no_union(case: Any) -> None:
    """It is as true as that of the whole, and hardly larger."""
    found = answers(*case)
    whole = found.whole
    assert is_true(stating(whole, shortfall=found.shortfall, upper_bound=ceiling((*whole._gain, found.shortfall))))
    assert found.shortfall <= whole.shortfall * (1 + 1e-9) + 1e-300
    assert np.isclose(found.residual, whole.residual, rtol=1e-12, atol=1e-300)


def test_copies_that_the_budget_does_not_pay_are_not_missed() -> None:
    found = answers([Kind(Hierarchy.flat([3]), Rows(), [np.array([0.3])])], np.array([0]), 0.0)
    assert found.shortfall == 0
