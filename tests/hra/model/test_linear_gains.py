"""`Hierarchy.gains`: the same as allocations compute where nothing is repaired, batched and differentiable."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import hra
from hra.errors import ArrayError, RepairWarning
from hra.model.hierarchy import Hierarchy
from tests.helpers.allocators import problem_of
from tests.helpers.hierarchies import FORESTS, KINDS, case

inheriting = pytest.mark.parametrize("inheriting", [False, True])


@pytest.mark.parametrize("kind", KINDS)
@inheriting
def test_it_is_what_allocations_compute(kind: str, inheriting: bool):
    compared = 0
    for seed in range(200):
        hierarchy, _, rng = case(kind, seed, 12)
        error = rng.random(hierarchy.node_cost.size) * (0.2 if rng.random() < 0.5 else 1.0) ** np.arange(
            hierarchy.node_cost.size
        )
        above = error + rng.random(error.size) if inheriting else None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", RepairWarning)
                expected = problem_of(hierarchy, error, inherit=above).gain
        except RepairWarning:
            continue
        np.testing.assert_allclose(hierarchy.gains(error, above), expected, atol=1e-12)
        compared += 1
    assert compared >= 5


@pytest.mark.parametrize("kind", KINDS)
@inheriting
def test_tensors_and_batches_give_the_same_and_carry_gradients(kind: str, inheriting: bool):
    torch = pytest.importorskip("torch")
    hierarchy, _, rng = case(kind, 3, 12)
    error = rng.random((2, 3, hierarchy.node_cost.size))
    above = error + 1 if inheriting else None
    expected = hierarchy.gains(error, above)
    assert expected.shape == (2, 3, len(hierarchy))
    np.testing.assert_allclose(hierarchy.gains(error[1, 2], None if above is None else above[1, 2]), expected[1, 2])
    tensor = torch.tensor(error, requires_grad=True)
    found = hierarchy.gains(tensor, None if above is None else torch.tensor(above))
    np.testing.assert_allclose(found.detach().numpy(), expected)
    weights = torch.tensor(rng.random(expected.shape))
    (found * weights).sum().backward()
    # Gains are linear: the gradient is what one more unit of each error changes.
    step = np.zeros_like(error)
    step[0, 1, 0] = 1.0
    change = ((hierarchy.gains(error + step, above) - expected) * weights.numpy()).sum()
    assert float(tensor.grad[0, 1, 0]) == pytest.approx(change, abs=1e-9)


@pytest.mark.parametrize("kind", FORESTS)
def test_a_soft_cut_trains_on_node_errors(kind: str):
    torch = pytest.importorskip("torch")
    hierarchy, _, rng = case(kind, 5, 12)
    error = torch.tensor(rng.random(hierarchy.node_cost.size), requires_grad=True)
    budget = hierarchy.base_cost + 0.5 * (hierarchy.total_cost - hierarchy.base_cost)
    probabilities = hra.SoftCut(0.5).probabilities(hierarchy, hierarchy.gains(error), budget)
    probabilities.sum().backward()
    assert error.grad is not None and bool(torch.isfinite(error.grad).all())


def test_other_shapes_and_whole_numbers_are_refused():
    torch = pytest.importorskip("torch")
    tree = Hierarchy.tree([-1, 0, 0], [1, 1, 1])
    for wrong in (np.ones(2), np.float64(3.0), torch.ones(4)):
        with pytest.raises(ArrayError, match="nodes"):
            tree.gains(wrong)
    with pytest.raises(ArrayError, match="floating point"):
        tree.gains(torch.ones(3, dtype=torch.int64))
    assert tree.gains(np.zeros((0, 3))).shape == (0, 1)
