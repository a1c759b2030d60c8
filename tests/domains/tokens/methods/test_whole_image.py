from __future__ import annotations

import numpy as np
import pytest

from hra.domains import tokens
from hra.domains.tokens.methods.whole_image import base_of_whole, covers, patches_of_whole

CONTEXT = tokens.TokenContext.of(np.random.default_rng(0).random((64, 96, 3), dtype=np.float32))


@pytest.mark.parametrize("stand_in", [base_of_whole, patches_of_whole])
def test_a_budget_that_covers_the_image_shows_all_of_it(stand_in):
    assert (covers(23, CONTEXT), covers(24, CONTEXT)) == (False, True)
    assert stand_in(CONTEXT, 23) is None
    allocator = stand_in(CONTEXT, 24)
    chosen = allocator.realize(allocator.allocate(CONTEXT, 24))
    assert len(chosen) == 24
    np.testing.assert_allclose(chosen.reconstruct(), CONTEXT.image, atol=1e-6)
