"""The contextual relevance scorer: heads against plain sums, sensible weights untrained, gradients to every part."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from hra.domains import tokens  # noqa: E402
from hra.domains.tokens.features import project  # noqa: E402
from hra.domains.tokens.learned.cue_query import cue_query  # noqa: E402
from hra.domains.tokens.learned.scorer import RelevanceScorer  # noqa: E402
from hra.domains.tokens.learned.scorer_relevance import ScorerRelevance  # noqa: E402
from hra.errors import ArrayError  # noqa: E402


def random(*shape: int, seed: int = 0):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(
    ("query", "weights"),
    [
        ("what does the small text at the bottom say?", (0.7, 0.1, 0.2)),
        ("What is the total?", (0.7, 0.1, 0.2)),
        ("is anything unusual here?", (0.1, 0.7, 0.2)),
        ("where is the cat?", (0.1, 0.2, 0.7)),
        ("describe the image", (1 / 3, 1 / 3, 1 / 3)),
        ("", (1 / 3, 1 / 3, 1 / 3)),
    ],
)
def test_queries_lead_to_sensible_weights_without_training(query, weights):
    found = RelevanceScorer().head_weights(cue_query(query), random(1024))
    assert found.tolist() == pytest.approx(weights, abs=1e-6)


def test_the_network_is_2d_512_relu_3():
    scorer = RelevanceScorer()
    assert [tuple(part.shape) for part in scorer.gate.parameters()] == [(512, 2048), (512,), (3, 512), (3,)]


def test_heads_are_linear_in_their_channels():
    scorer, texture = RelevanceScorer(), random(6, 40)
    query = cue_query("cat", embedding=np.arange(16))
    information, salience, coupling = scorer.heads(texture, query).detach().T
    values = texture.numpy()
    usual = values.copy()
    usual[:, [5, 6, 7, 8, 10, 11, 12]] /= [0.3, 0.03, 0.03, 0.25, 0.03, 0.13, 0.05]
    assert information.numpy() == pytest.approx(usual[:, [6, 7, 8, 12]].mean(axis=1), rel=1e-5)
    assert salience.numpy() == pytest.approx((usual[:, 5] + usual[:, 10] - usual[:, 11]) / 3, rel=1e-4, abs=1e-5)
    assert coupling.numpy() == pytest.approx(values[:, 17:33] @ np.arange(16), rel=1e-5)


def test_scores_are_heads_times_weights():
    scorer, texture, query, gestalt = RelevanceScorer(), random(2, 6, 40), random(2, 1024), random(2, 1024, seed=1)
    scores = scorer(texture, query, gestalt)
    plain = torch.einsum("bnk,bk->bn", scorer.heads(texture, query), scorer.head_weights(query, gestalt))
    assert torch.allclose(scores, plain, rtol=1e-4)


def test_gradients_reach_every_part_and_the_inputs():
    scorer = RelevanceScorer()
    inputs = [random(6, 40).requires_grad_(), cue_query("cat").requires_grad_(), random(1024).requires_grad_()]
    optimiser = torch.optim.SGD(scorer.parameters(), lr=1e-4)
    for _ in range(2):  # the first step makes the output layer listen to all hidden units
        optimiser.zero_grad()
        scorer(*inputs).square().sum().backward()
        optimiser.step()
    for name, part in [*scorer.named_parameters(), *zip(("texture", "query", "gestalt"), inputs, strict=True)]:
        assert part.grad is not None and bool(part.grad.abs().sum() > 0), name


def test_the_gradient_is_right():
    scorer = RelevanceScorer(width=19, hidden=5).double()
    inputs = tuple(random(*shape).double().requires_grad_() for shape in ((3, 40), (19,), (19,)))
    assert torch.autograd.gradcheck(scorer, inputs)


def test_the_start_is_reproducible():
    first, second = (RelevanceScorer().state_dict() for _ in range(2))
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_it_serves_as_the_relevance_of_an_allocator():
    image = np.full((128, 128, 3), 0.5, np.float32)
    image[64:96, 32:64:4] = 0.0  # strokes
    relevance = ScorerRelevance(RelevanceScorer())
    context = tokens.PyramidSampling(relevance).context(image, "what does the text say?")
    y, x = np.unravel_index(int(context.relevance.argmax()), context.relevance.shape)
    assert 4 <= y < 6 and 2 <= x < 4


def test_the_coupling_finds_the_patch_that_resembles_a_named_object():
    features = np.random.default_rng(0).standard_normal((4, 4, 512)).astype(np.float32)
    relevance = ScorerRelevance(RelevanceScorer(), lambda image: features, lambda query: features[1, 2])
    scores = relevance(np.full((64, 64, 3), 0.5, np.float32), "the cat")
    assert np.unravel_index(int(scores.argmax()), scores.shape) == (1, 2)
    expected = (project(features, 16) @ project(features[1, 2], 16)).argmax()
    assert int(scores.argmax()) == expected


def test_scores_have_a_gradient_for_training():
    relevance = ScorerRelevance(RelevanceScorer())
    scores = relevance.scores(np.random.default_rng(0).random((40, 50, 3), np.float32), "cat")
    assert scores.shape == (3, 4)
    scores.sum().backward()
    assert relevance.scorer.propositional.weight.grad is not None


def test_sizes_are_checked():
    with pytest.raises(ArrayError):
        RelevanceScorer(width=18)
    with pytest.raises(ArrayError):
        cue_query("cat", width=10)
    with pytest.raises(ArrayError):
        RelevanceScorer()(random(6, 24), random(1024), random(1024))
