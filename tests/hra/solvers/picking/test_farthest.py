from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hra.errors import MetricError
from hra.solvers.picking import determinant, farthest
from hra.solvers.picking.determinant import Determinant
from hra.solvers.picking.farthest import Farthest
from hra.solvers.picking.picker import Picker, Top
from tests.helpers.traversals import cut_of


def plain_max_min(vectors: np.ndarray, count: int) -> list[int]:
    """From the whole table of distances, as the definition reads."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    distance = 1 - unit @ unit.T
    np.fill_diagonal(distance, np.inf)
    chosen = [int(distance.min(axis=1).argmax())]
    while len(chosen) < count:
        nearest = distance[:, chosen].min(axis=1)
        nearest[chosen] = -np.inf
        chosen.append(int(nearest.argmax()))
    return sorted(chosen)


@given(st.integers(2, 40), st.integers(0, 2**31), st.data())
@settings(max_examples=60)
def test_the_farthest_are_those_of_the_definition(size, seed, data):
    vectors = np.random.default_rng(seed).normal(size=(size, 5)).astype(np.float32)
    count = data.draw(st.integers(1, size - 1))
    found = cut_of([(1, Farthest())], count, np.ones(size), features=vectors)
    assert found == plain_max_min(vectors.astype(np.float64), count)


def test_the_farthest_go_on_from_what_is_taken():
    rng = np.random.default_rng(8)
    vectors, gains = rng.normal(size=(30, 4)).astype(np.float32), rng.random(30)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    chosen = np.argsort(-gains)[:5].tolist()
    for _ in range(5):
        nearest = (unit @ unit[chosen].T).max(axis=1)
        nearest[chosen] = np.inf
        chosen.append(int(nearest.argmin()))
    assert cut_of([(1, Top()), (1, Farthest())], 10, gains, features=vectors) == sorted(chosen)


@pytest.mark.parametrize("size", [60, 700, 1500])
def test_the_first_is_found_where_few_rows_do_not_settle_it(size):
    # Directions in 64 dimensions: nobody has a neighbour.
    vectors = np.random.default_rng(0).normal(size=(size, 64)).astype(np.float32)
    assert cut_of([(1, Farthest())], 5, np.ones(size), features=vectors) == plain_max_min(vectors.astype(float), 5)


def test_what_is_brought_up_to_date_at_once_changes_nothing(monkeypatch):
    # Of many directions without an order almost each is looked at for each pick.
    calls = {name: counted(monkeypatch, module, name) for module, name in
             ((farthest, "_largest"), (determinant, "_bring_up"))}  # fmt: skip
    rng = np.random.default_rng(3)
    vectors, gains = rng.normal(size=(400, 24)).astype(np.float32), rng.uniform(0.5, 1, 400)
    found = cut_of([(1, Farthest())], 90, gains, features=vectors)
    assert found == plain_max_min(vectors.astype(np.float64), 90)
    assert cut_of([(1, Farthest())], 150, gains, features=vectors) == plain_max_min(vectors.astype(np.float64), 150)
    unit = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float64) * gains[:, None]
    assert cut_of([(1, Determinant())], 20, gains, features=vectors) == schur_determinant(unit @ unit.T, 20)
    assert min(map(len, calls.values())) > 1


def counted(monkeypatch, module, name: str) -> list[int]:
    """A list that grows with every call of a function of a module."""
    calls: list[int] = []
    plain = getattr(module, name)
    monkeypatch.setattr(module, name, lambda *given: (calls.append(1), plain(*given))[1])
    return calls


def schur_determinant(kernel: np.ndarray, count: int) -> list[int]:
    """As `plain_determinant`, by eliminating what is chosen from the whole kernel."""
    left, chosen = kernel.copy(), []
    for _ in range(count):
        best = int(np.where(np.isin(np.arange(len(left)), chosen), -np.inf, left.diagonal()).argmax())
        chosen.append(best)
        left = left - np.outer(left[best], left[best]) / left[best, best]
    return sorted(chosen)


def test_the_farthest_by_hand():
    # Angles of 0, 10, 20, 90 and 180 degrees: the last is loneliest, then the opposite end, then the right angle.
    angles = np.radians([0, 10, 20, 90, 180])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    assert [cut_of([(1, Farthest())], k, np.ones(5), features=vectors) for k in (1, 2, 3)] == [[4], [0, 4], [0, 3, 4]]


@pytest.mark.parametrize("rule", [Farthest(), Determinant()])
def test_features_that_are_no_vectors_are_refused(rule: Picker):
    with pytest.raises(MetricError, match="finite vectors"):
        cut_of([(1, rule)], 1, [1.0, 1.0], features=[[np.nan], [1.0]])
