"""The contextual relevance scorer: heads against plain sums, sensible weights untrained, gradients to every part."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from hra.domains.tokens.learned.scorer import OUTCOMES, RelevanceScorer, outcome_loss  # noqa: E402
from hra.errors import ArrayError  # noqa: E402


def random(*shape: int, seed: int = 0):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed))


def test_heads_count_alike_before_training():
    assert torch.allclose(RelevanceScorer().head_weights(random(5, 1024), random(5, 1024)), torch.tensor(1 / 3))


def test_the_loss_is_least_at_the_outcomes():
    weights = torch.tensor([OUTCOMES["text"], OUTCOMES["object"]])
    assert float(outcome_loss(weights, ["text", "object"])) == pytest.approx(0, abs=1e-6)
    assert float(outcome_loss(weights, ["object", "text"])) > 0.3
    with pytest.raises(ArrayError):
        outcome_loss(weights, ["text", "verb"])


def test_features_of_another_width_are_refused():
    with pytest.raises(ArrayError, match="features=512"):
        RelevanceScorer(features=512)(random(6, 40), random(1024), random(1024))
    with pytest.raises(ArrayError, match="features=None"):
        RelevanceScorer()(random(6, 40), random(1024), random(1024), random(6, 16))


def test_the_network_is_2d_512_relu_3():
    scorer = RelevanceScorer()
    assert [tuple(part.shape) for part in scorer.gate.parameters()] == [(512, 2048), (512,), (3, 512), (3,)]


def test_scores_are_heads_times_weights():
    scorer, texture, query, gestalt = RelevanceScorer(), random(2, 6, 40), random(2, 1024), random(2, 1024, seed=1)
    scores = scorer(texture, query, gestalt)
    plain = torch.einsum("bnk,bk->bn", scorer.heads(texture, query), scorer.head_weights(query, gestalt))
    assert torch.allclose(scores, plain, rtol=1e-4)


def test_gradients_reach_every_part_and_the_inputs():
    scorer = RelevanceScorer()
    inputs = [random(6, 40).requires_grad_(), random(1024, seed=2).requires_grad_(), random(1024).requires_grad_()]
    optimiser = torch.optim.SGD(scorer.parameters(), lr=1e-4)
    for _ in range(2):  # the first step makes the output layer listen to all hidden units
        optimiser.zero_grad()
        scorer(*inputs).square().sum().backward()
        optimiser.step()
    for name, part in [*scorer.named_parameters(), *zip(("texture", "query", "gestalt"), inputs, strict=True)]:
        assert part.grad is not None and bool(part.grad.abs().sum() > 0), name


def test_the_gradient_is_right():
    scorer = RelevanceScorer(width=16, hidden=5).double()
    inputs = tuple(random(*shape).double().requires_grad_() for shape in ((3, 40), (16,), (16,)))
    assert torch.autograd.gradcheck(scorer, inputs)


def test_the_start_is_reproducible():
    first, second = (RelevanceScorer().state_dict() for _ in range(2))
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_a_head_that_weighs_nothing_costs_much_and_not_without_end():
    logits = torch.tensor([[200.0, 0.0, 0.0]], requires_grad=True)
    loss = outcome_loss(logits.softmax(-1), ["object"])
    loss.backward()
    assert 10 < loss.item() < 100 and logits.grad is not None and bool(logits.grad.isfinite().all())
