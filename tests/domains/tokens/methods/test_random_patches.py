"""Random patches: a fair draw without replacement, repeated by its seed."""

from __future__ import annotations

import numpy as np
import pytest

from hra.domains import tokens
from hra.domains.tokens.methods.random_patches import Random


def test_every_patch_is_drawn_equally_often():
    image = np.zeros((64, 64, 3))
    drawn = np.zeros(16)
    for seed in range(400):
        drawn[Random(seed, tokens.UniformRelevance()).allocate((image, ""), 4).cut] += 1
    assert drawn.sum() == 1600
    assert drawn == pytest.approx(100, abs=40)  # 4.6 standard deviations


def test_more_patches_keep_the_first_and_other_seeds_differ():
    image = np.zeros((160, 160, 3))
    few, many = (set(Random(1).allocate((image, ""), budget).cut.tolist()) for budget in (20, 50))
    assert few < many
    assert few != set(Random(2).allocate((image, ""), 20).cut.tolist())


def test_a_certificate_of_chance_is_not_given():
    assert Random().allocate((np.zeros((64, 64, 3)), ""), 3).status == "heuristic"
