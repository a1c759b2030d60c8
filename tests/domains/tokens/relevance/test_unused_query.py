"""Where a question cannot be used, the shipped images lose nothing against plain down-sampling."""

from __future__ import annotations

import numpy as np
import pytest

from hra import samples
from hra.domains import tokens
from hra.files.images import load_image, psnr


@pytest.mark.parametrize("name", ["page.png", "photo.jpg", "earth.jpg"])
@pytest.mark.parametrize("relevance", [tokens.PhraseRelevance(), tokens.CueRelevance()], ids=["phrase", "cues"])
def test_no_query_that_says_nothing_costs_quality_against_down_sampling(name, relevance):
    image = np.ascontiguousarray(load_image(samples.path(name))[:1024, :1024])
    allocator = tokens.PyramidSampling(relevance)
    context = allocator.context(image, "why?")
    assert not context.query_matters
    for budget in (64, 273):
        chosen = allocator.realize(allocator.allocate(context, budget))
        assert psnr(chosen.reconstruct(), image) >= psnr(tokens.uniform_downsample(image, budget), image)
