"""Gains in many contexts at once, against those of each context alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hra
from hra.errors import MetricError, RepairWarning
from hra.model.gains import gains_from_errors
from hra.model.gains_each import gains_each
from hra.model.problem import Problem


@dataclass(frozen=True, eq=False)
class Given(hra.ErrorMetric):
    """The context is an error per node; ``together`` fills in many at once."""

    together: bool = True

    def evaluate(self, hierarchy: hra.Hierarchy, context: Any) -> np.ndarray:
        return context

    def gains_each(
        self, hierarchy: hra.Hierarchy, contexts: Sequence[Any], gain: np.ndarray, least_error: np.ndarray
    ) -> bool:
        for i, context in enumerate(contexts if self.together else []):
            gain[:, i], least_error[i] = gains_from_errors(hierarchy, context, None)
        return self.together


def groups(rng: np.random.Generator) -> hra.Hierarchy:
    """A group graph of three levels."""
    added = np.repeat([-1, 0, 1, 2], [2, 4, 3, 5])
    removed = np.array([0, 0, 1, 1, 2, 2, -1, -1, -1, -1, -1, -1, -1, -1])
    return hra.Hierarchy.groups(rng.integers(1, 5, 14), added, removed)


@pytest.mark.filterwarnings("ignore::hra.errors.RepairWarning")
@given(st.integers(0, 2**32 - 1))
def test_as_one_by_one(seed: int) -> None:
    """Also where finer nodes have more error, which is repaired; more contexts than go together."""
    rng = np.random.default_rng(seed)
    hierarchy, count = groups(rng), int(rng.integers(1, 140))
    contexts = list(
        rng.random((count, 14))
        * rng.choice([0.0, 1.0, 1e-9], (count, 14))
        * 4.0 ** -np.repeat([0, 1, 2, 3], [2, 4, 3, 5])
    )
    for metric in (Given(), Given(together=False)):
        gain, least = np.empty((3, count)), np.empty(count)
        gains_each(hierarchy, metric, contexts, gain, least)
        for i, context in enumerate(contexts):
            alone = Problem.of(hierarchy, metric, context, np.inf)
            np.testing.assert_allclose(gain[:, i], alone.gain, rtol=1e-12, atol=1e-15)
            np.testing.assert_allclose(least[i], alone.least_error, rtol=1e-12)


def test_repairs_are_told() -> None:
    hierarchy = groups(np.random.default_rng(0))
    with pytest.warns(RepairWarning, match="not monotone"):
        gains_each(hierarchy, Given(), [np.arange(14.0)], np.empty((3, 1)), np.empty(1))


@pytest.mark.filterwarnings("ignore::hra.errors.RepairWarning")
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, -1.0])
@pytest.mark.parametrize("node", range(14))
def test_bad_errors_are_refused_wherever_they_are(node: int, bad: float) -> None:
    contexts = [np.ones(14) for _ in range(3)]
    contexts[1][node] = bad
    with pytest.raises(MetricError, match="Given returned"):
        gains_each(groups(np.random.default_rng(0)), Given(False), contexts, np.empty((3, 3)), np.empty(3))


@dataclass(frozen=True, eq=False)
class Wrong(Given):
    """One value is wrong: of the ``gain``, or of the errors that are left."""

    bad: float = np.nan
    of_gain: bool = True

    def gains_each(
        self, hierarchy: hra.Hierarchy, contexts: Sequence[Any], gain: np.ndarray, least_error: np.ndarray
    ) -> bool:
        gain[:], least_error[:] = 1.0, 1.0
        (gain if self.of_gain else least_error)[..., 1] = self.bad
        return True


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, -1e-9])
@pytest.mark.parametrize("of_gain", [True, False])
def test_bad_gains_are_refused(bad: float, of_gain: bool) -> None:
    wrong, contexts = Wrong(bad=bad, of_gain=of_gain), [np.ones(14)] * 3
    with pytest.raises(MetricError, match="negative or not finite"):
        gains_each(groups(np.random.default_rng(0)), wrong, contexts, np.empty((3, 3)), np.empty(3))


def test_gains_that_overflow_are_refused() -> None:
    contexts = [np.array([1e307] * 2 + [0.0] * 12)] * 3
    with pytest.raises(MetricError, match="too large"):
        gains_each(groups(np.random.default_rng(0)), Given(), contexts, np.empty((3, 3)), np.empty(3))
