"""The checks for people who write their own: what is right passes, and each kind of mistake is found and named."""

from __future__ import annotations

import pytest

import hra
from hra.testing import check_metric, check_traversal
from tests.helpers.traversal_cases import TREE, Error, Greedy

OURS = [hra.Hull(), hra.Hull(finish="none"), hra.Exact(), hra.BestFirst(), hra.Threshold(), hra.Coherent()]


@pytest.mark.parametrize("traversal", OURS, ids=lambda traversal: type(traversal).__name__)
def test_our_traversals_pass(traversal):
    check_traversal(traversal, instances=5)


def test_a_stranger_s_traversal_passes():
    check_traversal(Greedy(), instances=5)


def test_a_right_metric_passes_and_growing_errors_may_be_meant():
    check_metric(Error([4, 1, 1]), TREE, [0.0, 1.0])
    check_metric(Error([4, 9, 1]), TREE, [0.0], monotone=True)
    with pytest.warns(hra.errors.RepairWarning):
        check_metric(Error([4, 9, 1]), TREE, [1.0], monotone=False)
