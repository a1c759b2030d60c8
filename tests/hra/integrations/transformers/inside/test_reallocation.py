from __future__ import annotations

import numpy as np
import pytest
import torch

from hra.integrations.transformers import dyrate
from hra.integrations.transformers.inside.reallocation import Reallocation, traversal_of
from tests.helpers.reallocating_cases import CLOSE, FAMILY, IMAGES, answer
from tests.helpers.tiny_models import prompts, row_of

pytestmark = pytest.mark.filterwarnings("ignore")


@FAMILY
@pytest.mark.parametrize("gone", ["mask", "remove"])
def test_a_ragged_batch_is_its_rows_one_by_one(name, gone):
    inputs = prompts(name, IMAGES)
    batch, steps = answer(name, inputs, 9, gone=gone, rate=dyrate)
    for row in range(len(IMAGES)):
        alone, own = answer(name, row_of(name, inputs, IMAGES, row), 9, gone=gone, rate=dyrate)
        torch.testing.assert_close(alone[:, 0], batch[:, row], **CLOSE)
        assert own.rows[0].churn == steps.rows[row].churn


def test_rates_take_budgets_down_and_only_removed_tokens_stay_away():
    shares = [np.array([4.0, 3, 2, 1]), np.array([0.5, 1, 1.5, 2]), np.array([4.0, 3, 2, 1])]
    found = {}
    for returning in (True, False):
        row = Reallocation(4, 4, traversal_of(0.0, None), dyrate, returning)
        found[returning] = []
        for paid in shares:
            row.allocate(paid)
            found[returning].append(row.kept.tolist())
    assert found[True] == [[True] * 4, [False, False, True, True], [True] * 4]
    assert found[False] == [[True] * 4, [False, False, True, True], [False, False, True, True]]
