from __future__ import annotations

from typing import Any

import numpy as np

from hra.domains import tokens
from hra.domains.tokens.methods.gestalt.gestalt import ResizedGestalt
from hra.domains.tokens.methods.gestalt.tokens import GestaltTokens
from hra.domains.tokens.methods.two_pass import TwoPass

IMAGE = np.random.default_rng(0).random((128, 128, 3), dtype=np.float32)  # 8 x 8 patches, 4 x 4 cells of 2 x 2


def two_pass(score: Any = None, **options: Any) -> TwoPass:
    return TwoPass(score, gestalt=ResizedGestalt(4, 4), **options)


def test_the_score_sees_all_base_tokens_and_nothing_else():
    seen: list[GestaltTokens] = []

    def score(context: tokens.TokenContext, coarse: GestaltTokens) -> np.ndarray:
        seen.append(coarse)
        return coarse.relevance

    two_pass(score).allocate((IMAGE, ""), 20)
    assert len(seen) == 1 and len(seen[0]) == 16 and not len(seen[0].saccades)
