"""Contexts that the region tests share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hra.domains import tokens
from hra.domains.tokens.context.context import TokenContext


@pytest.fixture(scope="session")
def context_of(smooth_noise: Any) -> Callable[..., TokenContext]:
    """(height, width, relevance=None, patch=16, encoder=None) -> the context of a photo-like image."""

    def make(height: int, width: int, relevance: Any = None, patch: int = 16, encoder: Any = None) -> TokenContext:
        pyramid = tokens.PatchPyramid.build(smooth_noise(height, width), patch=patch, levels=1)
        scorer = tokens.UniformRelevance() if relevance is None else lambda context: np.asarray(relevance)
        return TokenContext(pyramid, "", scorer, encoder)

    return make
