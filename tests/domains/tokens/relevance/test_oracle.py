"""The oracle knows the box, and its noise has the area under the curve that was asked for."""

from __future__ import annotations

import numpy as np
import pytest

from hra.domains.tokens.context.context import TokenContext
from hra.domains.tokens.relevance.oracle import OracleRelevance
from hra.errors import MetricError

CONTEXT = TokenContext.of(np.zeros((1024, 1024, 3), np.float32))


def test_boxes_are_where_they_are():
    scores = OracleRelevance([(0, 16, 17, 32), (1000, 1000, 1024, 1024)])(CONTEXT)
    assert np.argwhere(scores == 1).tolist() == [[1, 0], [1, 1], [62, 62], [62, 63], [63, 62], [63, 63]]


@pytest.mark.parametrize("auc", [0.5, 0.7, 0.9, 0.99])
def test_the_area_under_the_curve_is_the_one_that_was_set(auc):
    scores = OracleRelevance([(0, 0, 512, 512)], auc=auc, seed=3)(CONTEXT)
    inside = np.zeros((64, 64), bool)
    inside[:32, :32] = True
    order = scores.ravel().argsort().argsort() + 1
    wins = order[inside.ravel()].sum() - inside.sum() * (inside.sum() + 1) / 2
    assert wins / (inside.sum() * (~inside).sum()) == pytest.approx(auc, abs=0.02)
    assert (scores > 0).all()


@pytest.mark.parametrize("options", [{"auc": 0.4}, {"auc": 1.1}, {"boxes": []}])
def test_bad_parameters_are_refused(options):
    with pytest.raises(MetricError):
        OracleRelevance(**{"boxes": [(0, 0, 1, 1)], **options})
