from __future__ import annotations

import numpy as np
import pytest

from hra.domains.tokens.channels.saliency import saliency
from hra.domains.tokens.channels.text_likeness import text_likeness
from hra.domains.tokens.relevance.cues import CueRelevance
from hra.domains.tokens.relevance.spatial_words import spatial_words
from tests.helpers.cues_cases import context, grey


def test_strokes_are_text_like_and_ramps_edges_and_faint_noise_are_not():
    image = np.full((64, 64 * 4), 0.9)
    image[:, 0:64:6] = image[:, 1:64:6] = 0.1  # strokes two pixels wide
    image[:, 64:128] = np.linspace(0, 1, 64)  # a ramp
    image[:, 160:192] = 0.1  # a dark block: one falling and one rising edge, in different patches
    image[:, 192:256] += np.random.default_rng(0).uniform(-0.02, 0.02, (64, 64))  # paper grain
    scores = text_likeness(grey(image))
    assert scores[:, :4].min() > 0.09
    assert (scores[:, 4:] == 0).all()


def test_text_likeness_is_the_smaller_of_both_gradient_sums():
    row = np.zeros((1, 16))
    row[0, 4:8], row[0, 10:] = 0.5, 1.0  # up 0.5, down 0.5, up 1.0
    assert text_likeness(grey(row)).tolist() == [[pytest.approx(0.5 / 16)]]


def test_cues_add_up_as_documented():
    image = np.random.default_rng(0).random((100, 130, 3)).astype(np.float32)
    salient, text = saliency(image), text_likeness(image)
    expected = spatial_words("left", 7, 9) * (0.2 + 0.4 * salient / salient.max() + 0.4 * text / text.max())
    assert CueRelevance()(context(image, "left")) == pytest.approx(expected, rel=1e-5)
