"""Intervals and adjusted p: worked examples."""

from __future__ import annotations

import numpy as np
import pytest

from hra_lab.evidence.findings import tokens_for
from hra_lab.evidence.statistics import holm, paired


def test_the_interval_of_a_mean_is_that_of_the_normal_law():
    differences = np.random.default_rng(0).normal(0.1, 0.5, 900)
    found = paired(differences)
    error = 100 * differences.std() / 30
    assert found.value == pytest.approx(100 * differences.mean())
    assert found.low == pytest.approx(found.value - 1.96 * error, abs=0.2 * error)
    assert found.high == pytest.approx(found.value + 1.96 * error, abs=0.2 * error)
    assert found.p < 0.001


def test_no_difference_has_a_p_of_one_and_a_clear_one_the_least():
    assert paired(np.zeros(50)).p == 1
    assert paired(np.full(50, 0.2)).p == pytest.approx(2 / 10_001)


def test_holm_as_worked_by_hand():
    # 0.01 x 4, 0.02 x 3, then 0.03 x 2 = 0.06 and 0.05 x 1, raised to the one before.
    assert holm([0.03, 0.01, 0.05, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]


def test_tokens_for_a_share_are_linear_between_budgets():
    budgets, shares = (10, 20, 40), np.array([30.0, 50.0, 40.0])
    assert tokens_for(40, budgets, shares) == 15
    assert tokens_for(20, budgets, shares) == 10
    assert tokens_for(50, budgets, shares) == 20
    assert tokens_for(51, budgets, shares) is None
