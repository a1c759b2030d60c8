"""Soft top-K and the coverage loss against plain formulas, and their gradients."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from hra.domains.tokens.learned.coverage import coverage_loss, empty_cells, soft_top_k  # noqa: E402
from hra.errors import ArrayError  # noqa: E402


def random(*shape: int, seed: int = 0):
    return torch.rand(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("shift", [-100.0, 0.0, 100.0])
@pytest.mark.parametrize("count", [1, 7, 30])
def test_probabilities_add_up_to_the_count_and_follow_one_logistic(shift, count):
    scores = random(3, 30) + shift
    probabilities = soft_top_k(scores, count, 0.2)
    assert probabilities.sum(dim=-1).numpy() == pytest.approx(count, rel=1e-6)
    if count < 30:
        price = scores - 0.2 * torch.logit(probabilities)
        assert (price - price[:, :1]).abs().max() < 1e-6


def test_a_low_temperature_is_the_top_k():
    scores = random(50)
    hard = torch.zeros(50, dtype=torch.float64)
    hard[scores.topk(12).indices] = 1
    assert soft_top_k(scores, 12, 1e-5).numpy() == pytest.approx(hard.numpy(), abs=1e-6)


def test_the_gradient_of_soft_top_k_is_right():
    scores = random(2, 9).requires_grad_()
    assert torch.autograd.gradcheck(lambda s: soft_top_k(s, 3, 0.5), (scores,), atol=1e-4)


def test_empty_cells_of_a_hard_selection_are_counted():
    positions = random(200, 2)
    hard = (random(200, seed=1) < 0.2).double()
    cells = {(int(8 * x), int(8 * y)) for (x, y), taken in zip(positions.tolist(), hard, strict=True) if taken}
    assert float(empty_cells(hard, positions)) == pytest.approx(64 - len(cells), abs=1e-3)


def test_empty_cells_are_expected_over_independent_draws():
    positions, probability = random(20, 2), random(20, seed=2)
    plain = 0.0
    for row in range(8):
        for column in range(8):
            inside = ((positions * 8).long() == torch.tensor([column, row])).all(dim=-1)
            plain += float(torch.prod(1 - probability[inside]))
    assert float(empty_cells(probability, positions)) == pytest.approx(plain)


def test_the_loss_is_mean_score_against_empty_cells():
    scores = torch.tensor([1.0, 3.0, 5.0])
    positions = torch.tensor([[0.0, 0.0], [0.5, 0.5], [1.0, 1.0]])  # the last lies on the border: still in a cell
    loss = coverage_loss(scores, torch.tensor([1.0, 0.0, 1.0]), positions)
    assert float(loss) == pytest.approx(-3 + 0.1 * 62, abs=1e-4)


def test_the_loss_spreads_a_selection_out():
    """Gradient steps on nearly equal scores leave fewer cells empty than the scores alone would."""
    positions = torch.stack(torch.meshgrid(torch.arange(16) + 0.5, torch.arange(16) + 0.5, indexing="xy"), -1)
    positions = positions.reshape(-1, 2) / 16
    given = torch.exp(-((positions - 0.2) ** 2).sum(dim=-1)) * 0.3
    scores = given.clone().requires_grad_()
    optimiser = torch.optim.Adam([scores], lr=0.02)
    for _ in range(50):
        optimiser.zero_grad()
        coverage_loss(given, soft_top_k(scores, 32, 0.05), positions).backward()
        optimiser.step()
    before, after = (empty_cells(soft_top_k(s.detach(), 32, 0.05), positions) for s in (given, scores))
    assert float(after) < float(before) - 5


def test_the_gradient_of_the_loss_is_right():
    scores, selected = random(2, 12).requires_grad_(), random(2, 12, seed=3).requires_grad_()
    positions = random(12, 2, seed=4)
    assert torch.autograd.gradcheck(lambda s, p: coverage_loss(s, p, positions), (scores, selected))


def test_certain_items_have_finite_gradients():
    selected = torch.ones(4, requires_grad=True)
    empty_cells(selected, torch.full((4, 2), 0.1)).backward()
    assert selected.grad is not None and bool(selected.grad.isfinite().all())


@pytest.mark.parametrize(("count", "temperature"), [(-1, 1.0), (5, 1.0), (2, 0.0), (2, -1.0)])
def test_counts_and_temperatures_are_checked(count, temperature):
    with pytest.raises(ArrayError):
        soft_top_k(torch.ones(4), count, temperature)


def test_shapes_are_checked():
    with pytest.raises(ArrayError):
        coverage_loss(torch.ones(4), torch.ones(3), torch.ones(4, 2))
    with pytest.raises(ArrayError):
        coverage_loss(torch.ones(4), torch.ones(4), torch.ones(3, 2))
    with pytest.raises(ArrayError):
        soft_top_k(torch.tensor(np.nan), 1, 1.0)


def test_whole_numbers_are_no_scores_and_no_image_is_no_error():
    with pytest.raises(ArrayError, match="floating point"):
        soft_top_k(torch.arange(5), 2, 0.1)
    assert soft_top_k(torch.zeros(0, 5), 2, 0.1).shape == (0, 5)
