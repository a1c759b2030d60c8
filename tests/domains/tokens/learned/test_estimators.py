"""Gradients through cuts: four estimators against exact expectations, and the pyramid's error as tensors."""

from __future__ import annotations

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from hra.domains import tokens  # noqa: E402
from hra.domains.tokens import learned  # noqa: E402
from hra.domains.tokens.learned.estimators import cuts, log_probability  # noqa: E402
from hra.errors import ArrayError  # noqa: E402
from hra.solvers.soft.forest import SoftForest  # noqa: E402

FOREST = SoftForest.of_parents([-1, 0, 0, -1], [1.0, 1.0, 2.0, 1.0])
GAIN = torch.tensor([2.0, 1.0, 1.5, 0.5], dtype=torch.float64)
WORTH = torch.tensor([0.1, 1.0, 0.3, 0.7], dtype=torch.float64)


def linear(taken):
    return 1 - (taken * WORTH).sum(-1)


def gradient(estimator, task=linear, repeats: int = 1):
    gain = GAIN.clone().requires_grad_()
    for _ in range(repeats):
        (estimator(FOREST, gain, 2.5, task) / repeats).backward()
    return gain.grad


def test_the_probabilities_of_all_cuts_add_up_to_one():
    distribution = cuts(FOREST, GAIN, 2.5, 0.7)
    choices = torch.cartesian_prod(*[torch.tensor([0.0, 1.0], dtype=torch.float64)] * 4)
    valid = choices[(choices[:, 0] >= choices[:, 1]) & (choices[:, 0] >= choices[:, 2])]
    probability = log_probability(distribution, valid).exp()
    assert probability.sum().item() == pytest.approx(1)
    assert torch.allclose((probability[:, None] * valid).sum(0), distribution.probabilities)


def test_the_expected_loss_of_a_linear_task_has_the_gradient_of_finite_differences():
    # By one unit of the mean gain, as temperatures are.
    step, mean = 1e-5, GAIN.abs().mean()
    exact = gradient(learned.Expected(0.7))
    for i in range(4):
        moved = [
            linear(_probabilities(GAIN / mean + sign * step * torch.eye(4, dtype=torch.float64)[i])) for sign in (1, -1)
        ]
        assert exact[i].item() * mean.item() == pytest.approx(((moved[0] - moved[1]) / (2 * step)).item(), rel=1e-4)


def _probabilities(gain):
    from hra.solvers.soft.distribution import CutDistribution, budgets_of

    return CutDistribution.of(FOREST, gain, budgets_of(2.5, FOREST, gain), 0.7).probabilities


def test_straight_through_has_the_value_of_a_cut_and_the_gradient_of_the_probabilities():
    assert torch.allclose(gradient(learned.StraightThrough(0.7)), gradient(learned.Expected(0.7)))
    hard = cuts(FOREST, GAIN, 2.5, 0.7).hard()
    value = learned.StraightThrough(0.7)(FOREST, GAIN, 2.5, linear)
    assert value.item() == pytest.approx(linear(hard.double()).item())


def test_reinforce_comes_to_the_exact_gradient_and_serves_tasks_without_one():
    exact = gradient(learned.Expected(0.7))
    sampled = gradient(learned.Reinforce(0.7, samples=20_000))
    assert torch.allclose(sampled, exact, atol=0.02)
    stepped = gradient(learned.Reinforce(0.7, samples=20_000), lambda taken: (taken @ WORTH < 0.9).double())
    assert stepped.abs().max() > 0.05


def test_gumbel_noise_visits_several_cuts_and_points_the_way_of_the_exact_gradient():
    seen, estimator = set(), learned.GumbelCut(0.7)
    for _ in range(40):
        seen.add(estimator(FOREST, GAIN, 2.5, linear).item())
    assert len(seen) > 1
    exact, noisy = gradient(learned.Expected(0.7)), gradient(learned.GumbelCut(0.7), repeats=200)
    assert torch.nn.functional.cosine_similarity(exact, noisy, dim=0) > 0.8


def test_one_sample_has_no_baseline():
    with pytest.raises(ArrayError, match="baseline"):
        learned.Reinforce(samples=1)


@pytest.fixture(scope="module")
def pyramid() -> tokens.PatchPyramid:
    return tokens.PatchPyramid.build(np.random.default_rng(0).random((112, 144, 3), dtype=np.float32))


def test_gains_of_splits_are_those_of_the_allocator(pyramid: tokens.PatchPyramid):
    soft, weight = learned.SoftPyramid.of(pyramid), np.random.default_rng(1).random((7, 9))
    own, inherited = pyramid.node_errors(weight)
    gain = soft.gains(torch.from_numpy(weight).flatten()).numpy()
    finest = int(pyramid.offsets[1])
    below = np.bincount(pyramid.parents[pyramid.parents >= 0], own[pyramid.parents >= 0], minlength=own.size)
    expected = (own - below)[::-1][: own.size - finest]
    scale = gain.sum() / expected.sum()  # node errors are shares of all weight
    assert np.allclose(gain, scale * expected, rtol=1e-4, atol=1e-6 * gain.max()) and inherited.size == own.size


def test_a_hard_cut_of_splits_leaves_the_error_of_its_patches(pyramid: tokens.PatchPyramid):
    soft, weight = learned.SoftPyramid.of(pyramid), torch.ones(63, dtype=torch.float64)
    gain = soft.gains(weight)
    taken = cuts(soft.forest, gain, 30 - soft.base_cost, 0.05).hard()
    count = soft.base_cost + float(soft.forest.rows(soft.forest.cost).reshape(-1)[taken].sum())
    assert count <= 30
    split = taken.numpy()[soft.above.numpy()]  # of each level above a finest patch
    assert not (split[:-1] & ~split[1:]).any()  # none without the one above it
    level = (~split).sum(axis=0)
    shown = np.take_along_axis(pyramid.errors_by_level.reshape(5, -1), level[None], axis=0)
    left = shown.sum() / pyramid.errors_by_level[-1].sum()
    assert soft.error(taken.double(), weight).item() == pytest.approx(left, rel=1e-4)
    assert soft.error(torch.zeros(len(gain)), weight).item() == 1


def test_a_pyramid_of_one_level_is_refused():
    with pytest.raises(ArrayError, match="one level"):
        learned.SoftPyramid.of(tokens.PatchPyramid.build(np.zeros((64, 64, 3), np.float32), levels=1))


@pytest.mark.parametrize("estimator", [learned.Expected, learned.StraightThrough, learned.GumbelCut, learned.Reinforce])
@pytest.mark.parametrize("temperature", [0, -1, math.nan, math.inf])
def test_a_temperature_is_above_0(estimator, temperature):
    forest = SoftForest.of_parents([-1, 0, 0], [1, 1, 1])
    with pytest.raises(ArrayError):
        estimator(temperature)(forest, torch.tensor([3.0, 2.0, 1.0]), 2, lambda taken: taken.sum(-1))


@pytest.mark.parametrize("estimator", [learned.Expected, learned.StraightThrough, learned.GumbelCut, learned.Reinforce])
def test_a_batch_of_none(estimator):
    forest = SoftForest.of_parents([-1, 0, 0], [1, 1, 1])
    assert estimator()(forest, torch.zeros(0, 3), 2, lambda taken: taken.sum(-1)).shape == (0,)
