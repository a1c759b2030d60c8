from __future__ import annotations

import numpy as np

from hra.domains import tokens
from tests.helpers.allocators_cases import shown_levels


def test_foveation_refines_around_the_fixation(smooth_noise):
    image = smooth_noise(512, 512)
    spot = np.full((32, 32), 0.8)
    spot[24:28, 4:8] = 1
    tokens_of = []
    for preset in (tokens.FoveatedPyramid, tokens.PyramidSampling):
        allocator = preset(lambda context: spot)
        tokens_of.append(allocator.realize(allocator.allocate((image, ""), 60)))
    fovea, even = (shown_levels(token_set) for token_set in tokens_of)
    near, far = np.s_[384:448, 64:128], np.s_[0:128, 384:512]
    assert fovea[near].mean() < even[near].mean()
    assert fovea[far].mean() > even[far].mean()
    assert fovea[near].mean() + 1 < fovea[far].mean()
