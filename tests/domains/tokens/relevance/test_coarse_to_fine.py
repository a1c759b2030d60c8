"""Coarse to fine: what it computes is counted and less, and it finds what the plain relevance finds."""

from __future__ import annotations

import numpy as np
import pytest

from hra.domains import tokens
from hra.errors import MetricError


def brightness(context):
    height, width = (extent - extent % 16 for extent in context.image.shape[:2])
    return context.image[:height, :width, 0].reshape(height // 16, 16, width // 16, 16).mean(axis=(1, 3))


def test_the_best_patches_get_their_fine_scores_at_a_fraction_of_the_patches():
    image = np.random.default_rng(0).random((512, 512, 3), np.float32) * 0.1
    image[200:216, 304:320] = 1.0
    context = tokens.TokenContext.of(image)
    found, plain = tokens.CoarseToFineRelevance(brightness, share=0.25)(context), brightness(context)
    assert found.argmax() == plain.argmax() and found.max() == pytest.approx(plain.max())
    assert context.counts == {"patches scored": 8 * 8 + 4 * 8 * 8}


def test_a_share_of_one_is_the_plain_relevance():
    image = np.random.default_rng(0).random((272, 400, 3), np.float32)
    context = tokens.TokenContext.of(image)
    assert tokens.CoarseToFineRelevance(brightness, share=1)(context) == pytest.approx(brightness(context))


def test_an_image_of_a_single_patch_is_scored_once():
    context = tokens.TokenContext.of(np.full((16, 16, 3), 0.5, np.float32))
    assert tokens.CoarseToFineRelevance(brightness)(context).tolist() == [[0.5]]


@pytest.mark.parametrize("options", [{"level": 0}, {"share": 0}, {"share": 1.5}, {"tile": 0}])
def test_bad_parameters_are_refused(options):
    with pytest.raises(MetricError):
        tokens.CoarseToFineRelevance(brightness, **options)
