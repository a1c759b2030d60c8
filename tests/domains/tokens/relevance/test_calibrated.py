"""Calibrations keep the order of scores, give weights, and do what their formula says."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.relevance.calibrated import Calibration, calibrated
from hra.errors import MetricError

METHODS = get_args(Calibration)
SCORES = np.array([[-3.0, 0.5], [0.5, 4.0]])
CONTEXT = TokenContext.of(np.zeros((32, 32, 3), np.float32))


@given(st.lists(st.floats(-50, 50), min_size=4, max_size=4), st.sampled_from(METHODS), st.floats(0, 2))
def test_weights_are_in_the_order_of_the_scores_and_not_below_the_floor(values, method, floor):
    scores = np.reshape(values, (2, 2))
    weights = calibrated(lambda context: scores, method, floor=floor)(CONTEXT)
    assert (weights >= floor).all() and np.isfinite(weights).all()
    assert (np.diff(weights.ravel()[np.argsort(scores, axis=None)]) >= 0).all()


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("rank", [[0, 0.5], [0.5, 1]]),
        ("minmax", [[0, 0.5], [0.5, 1]]),
        ("softmax", np.exp((SCORES - 4) / 2)),
        ("softplus", np.log1p(np.exp(SCORES / 2))),
    ],
)
def test_weights_are_those_of_the_formula(method, expected):
    assert calibrated(lambda context: SCORES, method, temperature=2)(CONTEXT) == pytest.approx(np.array(expected))


@pytest.mark.parametrize("options", [{"temperature": 0}, {"temperature": np.nan}, {"floor": -1}, {"method": "zscore"}])
def test_unknown_methods_and_bad_parameters_are_refused(options):
    with pytest.raises(MetricError):
        calibrated(lambda context: SCORES, **{"method": "softmax", **options})
