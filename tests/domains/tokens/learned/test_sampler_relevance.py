"""The learned sampler as an allocator: its own patches, its own order, around where one looks."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from hra.domains import tokens  # noqa: E402
from hra.domains.tokens.learned import LogPolarSampler, SamplerRelevance  # noqa: E402

IMAGE = np.random.default_rng(0).random((160, 240, 3), dtype=np.float32)
GRID = (10, 15)


def _chosen(relevance: SamplerRelevance, budget: int) -> set[int]:
    allocator = tokens.GridTopK(relevance)
    found = allocator.realize(allocator.allocate((IMAGE, "what is at the top left?"), budget))
    return {int(y) * GRID[1] + int(x) for _, x, y in found.places}


@pytest.mark.parametrize("budget", [1, 7, 40])
def test_the_allocator_takes_what_the_sampler_does_foveal_centres_first(budget: int):
    sampler = LogPolarSampler(count=40)
    own = sampler.select(torch.tensor([0.5, 0.5]), GRID).tolist()
    relevance = SamplerRelevance(sampler, tokens.UniformRelevance(), tokens.CentreFixation())
    assert _chosen(relevance, budget) == set(own[:budget])


def test_it_looks_where_the_question_says():
    relevance = SamplerRelevance(LogPolarSampler(count=12), fixation=tokens.SpatialWordsFixation())
    rows, columns = np.divmod(np.array(sorted(_chosen(relevance, 3))), GRID[1])
    assert (rows < 5).all() and (columns < 8).all()


def test_more_centres_than_patches_take_each_patch_once():
    relevance = SamplerRelevance(LogPolarSampler(count=400), fixation=tokens.CentreFixation())
    scores = relevance(tokens.TokenContext.of(IMAGE, "?"))
    assert sorted(scores.ravel()) == list(range(1, 151))


def test_weights_that_were_trained_move_what_is_taken():
    sampler = LogPolarSampler(count=5)
    with torch.no_grad():
        sampler.centres[:] = 0.05
    relevance = SamplerRelevance(sampler, fixation=tokens.CentreFixation())
    assert _chosen(relevance, 1) == {0}
