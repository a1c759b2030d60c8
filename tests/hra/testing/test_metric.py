from __future__ import annotations

import numpy as np
import pytest

from hra.testing import CheckFailed, check_metric
from tests.helpers.traversal_cases import TREE, Error


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        (Error([4, 9, 1]), "not monotone"),
        (Error([4, 1]), "expected one number per node"),
        (Error([4, np.nan, 1]), "nan"),
        (Error([4, -1, 1]), "-1"),
        (Error([1e308, 0, 0], "large"), "too large"),
        (Error([4, 1, 1], "state"), "other values"),
        (Error([4, 1, 1], "peak"), "peak"),
    ],
)
def test_mistakes_of_a_metric_are_named_with_their_context(metric: Error, message: str):
    with pytest.raises(CheckFailed, match=message) as caught:
        check_metric(metric, TREE, [1.0])
    assert "context 0" in caught.value.where
