from __future__ import annotations

import numpy as np
import pytest

from hra.domains.tokens.channels.saliency import saliency
from tests.helpers.cues_cases import grey


def peak(scores: np.ndarray) -> tuple[int, int]:
    y, x = np.unravel_index(int(scores.argmax()), scores.shape)
    return int(y), int(x)


@pytest.mark.parametrize("bright", [0.9, 0.0])
def test_a_blob_is_salient_on_even_ground(bright):
    image = np.full((320, 480), 0.4)
    image[96:112, 320:336] = bright
    scores = saliency(grey(image))
    assert peak(scores) == (6, 20)
    assert scores[19, 0] < 0.05 * scores[6, 20]


def test_a_colour_of_its_own_is_salient_at_equal_brightness():
    image = np.full((160, 160, 3), (0.5, 0.2, 0.2), np.float32)
    image[64:80, 64:80] = (0.2, 0.5, 0.2)
    assert peak(saliency(image)) == (4, 4)


def test_nothing_is_salient_in_a_constant_image():
    assert saliency(np.full((70, 50, 3), 0.7, np.float32)) == pytest.approx(0, abs=1e-6)
