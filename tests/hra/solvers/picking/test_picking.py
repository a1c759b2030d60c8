"""Rules of picking against what their papers define, computed plainly, and small cases by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hra
from hra.errors import HierarchyError, MetricError
from hra.solvers.picking import determinant, farthest
from hra.solvers.picking.density_peaks import DensityPeaks
from hra.solvers.picking.determinant import Determinant
from hra.solvers.picking.farthest import Farthest
from hra.solvers.picking.picker import Bands, Changed, Picker, Strided, Top, Windows, attribute
from hra.traversals.in_turn import InTurn


def cut_of(rules, budget: int, gains, **attributes) -> list[int]:
    flat = hra.Hierarchy.flat([1] * len(gains), attributes=attributes)
    return hra.solve(flat, budget, gains=gains, traversal=InTurn(tuple(rules))).cut.tolist()


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


def plain_determinant(kernel: np.ndarray, count: int) -> list[int]:
    """One by one, what enlarges the determinant most."""
    chosen: list[int] = []
    for _ in range(count):
        left = [i for i in range(len(kernel)) if i not in chosen]
        chosen.append(max(left, key=lambda i: np.linalg.det(kernel[np.ix_([*chosen, i], [*chosen, i])])))
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


def test_an_attribute_is_that_of_the_node_which_a_refinement_adds():
    tree = hra.Hierarchy.tree([-1, 0, 0], [1, 2, 3], mode="add", attributes={"name": np.array([7, 8, 9])})
    problem = hra.solve(tree, 6, gains=[0.0, 1.0, 1.0]).problem
    assert attribute(problem, "name").tolist() == [8, 9]
    flat = hra.Hierarchy.flat([1, 1], attributes={"name": np.array([4, 5])})
    assert attribute(hra.solve(flat, 2, gains=[1.0, 1.0]).problem, "name").tolist() == [4, 5]


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


@given(st.integers(2, 12), st.integers(0, 2**31), st.data())
@settings(max_examples=60)
def test_the_determinant_is_that_of_the_definition(size, seed, data):
    rng = np.random.default_rng(seed)
    vectors, gains = rng.normal(size=(size, 16)), rng.uniform(0.2, 1, size)
    count = data.draw(st.integers(1, size))
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True) * gains[:, None]
    assert cut_of([(1, Determinant())], count, gains, features=vectors) == plain_determinant(unit @ unit.T, count)


def test_the_determinant_by_hand():
    # Two alike and relevant, one other: the second of the pair adds nothing, so the other comes before it.
    vectors = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    assert cut_of([(1, Determinant())], 2, [1.0, 0.9, 0.3], features=vectors) == [0, 2]
    assert cut_of([(1, Determinant())], 3, [1.0, 0.9, 0.3], features=vectors) == [0, 1, 2]


def test_windows_share_evenly_and_take_their_best():
    y, x = np.divmod(np.arange(16), 4)
    values = np.arange(16.0)
    # Two of each 2 x 2 window: its lower row.
    assert cut_of([(1, Windows(side=2))], 8, values + 1, x=x, y=y) == [4, 5, 6, 7, 12, 13, 14, 15]
    assert cut_of([(1, Windows("values", side=2))], 4, np.ones(16), x=x, y=y, values=-values) == [0, 2, 8, 10]


def test_rules_share_the_budget_in_turn():
    gains = [5.0, 1.0, 4.0, 3.0, 2.0, 0.5]
    assert cut_of([(1, Top()), (1, Strided())], 4, gains) == [0, 1, 2, 4]  # of 1, 3, 4, 5 every second
    assert cut_of([(3, Top()), (1, Strided())], 4, gains) == [0, 1, 2, 3]


def plain_peaks(points: np.ndarray, count: int, neighbours: int) -> list[int]:
    """As the definition reads, cell by cell."""
    distance = np.linalg.norm(points[:, None] - points, axis=2) / np.sqrt(points.shape[1])
    density = np.exp(-(np.sort(distance, axis=1)[:, :neighbours] ** 2).mean(axis=1))
    score = []
    for i in range(len(points)):
        denser = [j for j in range(len(points)) if density[j] > density[i]]
        score.append(density[i] * (distance[i, denser].min() if denser else distance.max()))
    return sorted(np.argsort(-np.array(score), kind="stable")[:count].tolist())


@given(st.integers(2, 30), st.integers(1, 9), st.integers(0, 2**31), st.data())
@settings(max_examples=50)
def test_density_peaks_are_those_of_the_definition(size, neighbours, seed, data):
    points = np.random.default_rng(seed).normal(size=(size, 3)).astype(np.float32)
    count = data.draw(st.integers(1, size))
    found = cut_of([(1, DensityPeaks(neighbours=neighbours))], count, np.ones(size), features=points)
    if neighbours > 1:  # with one, itself, all are as dense, and the order decides
        assert found == plain_peaks(points.astype(np.float64), count, neighbours)
    assert len(found) == count


def test_bands_of_nothing_share_alike():
    assert cut_of([(1, Bands(count=2, by="size"))], 2, np.ones(6), size=np.zeros(6)) == [0, 3]


def test_bands_share_by_their_mean():
    # Means of 3, 1 and 2 of six: of 6 a third each goes to 3, 1 and 2, and of 5 the floors are 2, 0 and 1.
    values = [5.0, 1, 3, 1, 1, 1, 2, 1, 3]
    assert cut_of([(1, Bands(3))], 6, values) == [0, 1, 2, 3, 6, 8]
    assert cut_of([(1, Bands(3))], 5, values) == [0, 1, 2, 6, 8]
    assert cut_of([(1, Bands(3))], 4, values) == [0, 1, 2, 8]
    assert cut_of([(1, Bands(3))], 9, values) == list(range(9))


def test_changed_takes_the_first_frame_and_then_what_is_new():
    features = [[1.0, 0], [0, 1], [1, 1], [0, 2], [1, 0.5], [5, 5]]  # three frames of two cells
    frame = [0, 0, 1, 1, 2, 2]
    assert cut_of([(1, Changed())], 2, np.ones(6), features=features, frame=frame) == [0, 1]
    # 45 degrees from frame 0 to 1 in the first cell, none in the second; then 18 and 45 degrees.
    assert cut_of([(1, Changed())], 4, np.ones(6), features=features, frame=frame) == [0, 1, 2, 5]
    assert cut_of([(1, Changed())], 5, np.ones(6), features=features, frame=frame) == [0, 1, 2, 4, 5]
    assert cut_of([(1, Changed())], 3, np.ones(6), features=features, frame=np.zeros(6)) == [0, 1, 2]


RULES = [Top(), Strided(), Windows(side=2), Farthest(), Determinant(), Bands(4), DensityPeaks(), Changed()]


@given(st.integers(1, 25), st.data())
@settings(max_examples=40)
def test_every_pair_of_rules_meets_every_count(size, data):
    rng = np.random.default_rng(size)
    pair = data.draw(st.sampled_from(list(itertools.product(RULES, RULES))))
    shares = data.draw(st.tuples(st.floats(0.1, 9), st.floats(0.1, 9)))
    y, x = np.divmod(np.arange(size), 5)
    budget = data.draw(st.integers(0, size + 3))
    features = np.round(rng.normal(size=(size, 3)), 0)  # with repetitions and zeros
    found = cut_of(zip(shares, pair, strict=True), budget, rng.random(size), x=x, y=y, features=features, frame=y)
    assert len(found) == min(budget, size)


def test_what_is_no_flat_hierarchy_is_refused():
    tree = hra.Hierarchy.tree([-1, 0, 0, 1, 1], [1] * 5)
    with pytest.raises(HierarchyError, match="independent nodes"):
        hra.solve(tree, 3, errors=[3.0, 1.0, 1.0, 0.0, 0.0], traversal=InTurn(((1, Top()),)))


@pytest.mark.parametrize("rule", [Farthest(), Determinant()])
def test_features_that_are_no_vectors_are_refused(rule: Picker):
    with pytest.raises(MetricError, match="finite vectors"):
        cut_of([(1, rule)], 1, [1.0, 1.0], features=[[np.nan], [1.0]])
