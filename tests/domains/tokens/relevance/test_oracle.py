"""The oracle knows the box, and its noise has the area under the curve that was asked for."""

from __future__ import annotations

from typing import Any

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


def test_fractions_stand_for_the_pixels_that_they_touch():
    whole = OracleRelevance([(15, 16, 49, 32)])(CONTEXT)
    given: tuple[Any, ...] = ([(15.5, 16.0, 48.1, 32.0)], np.array([[15.5, 16, 48.1, 32]], np.float32))
    for boxes in given:
        assert np.array_equal(OracleRelevance(boxes)(CONTEXT), whole)


@pytest.mark.parametrize("box", [(1024, 0, 1030, 9), (-9, 0, 0, 9), (0, -9, 9, -1), (0, 2000, 9, 2100)])
def test_a_box_outside_of_the_image_is_refused_and_no_even_map(box):
    with pytest.raises(MetricError, match="1024 x 1024"):
        OracleRelevance([box])(CONTEXT)


def test_equal_ones_have_one_hash():
    array: Any = np.array([[0, 0, 9, 9]])
    assert len({OracleRelevance([(0, 0, 9, 9)]), OracleRelevance(array)}) == 1


@pytest.mark.parametrize(
    "options",
    [
        {"auc": 0.4},
        {"auc": 1.1},
        {"auc": "high"},
        {"seed": -1},
        {"seed": 0.5},
        *({"boxes": boxes} for boxes in ([], None, 5, (0, 0, 9, 9), [(0, 0, 9)], [("a", 0, 9, 9)], [(9, 0, 0, 9)])),
        *({"boxes": [(0, 0, edge, 9)]} for edge in (0, np.nan, np.inf)),
    ],
)
def test_bad_parameters_are_refused(options):
    with pytest.raises(MetricError):
        OracleRelevance(**{"boxes": [(0, 0, 1, 1)], **options})
