"""Two passes: cells in the order of their score, the budgets of the notes, entropy of attention."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hra.domains.tokens.methods.two_pass import TwoPass
from hra.errors import ArrayError


def given(scores: Any) -> Any:
    return lambda context, coarse: scores


def test_budgets_of_the_notes():
    image = np.zeros((1024, 1024, 3))
    allocator = TwoPass(given(np.arange(256.0)))
    assert allocator.budget_for_share((image, "")) == 256 + 52 * 16  # 20 % of 256 cells, rounded up
    assert allocator.budget_for_share((image, ""), 0) == 256
    assert allocator.budget_for_share((image, ""), 1) == 256 + 4096
    assert allocator.budget_for_confidence((image, "")) == 256 + 128
    single = TwoPass(given(np.eye(1, 256).ravel()))
    assert single.budget_for_confidence((image, "")) == 256
    with pytest.raises(ArrayError):
        allocator.budget_for_share((image, ""), 1.2)
