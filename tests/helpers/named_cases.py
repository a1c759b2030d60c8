"""What several tests of named share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from hra.domains import tokens

PATCH = 4


def realized(name: str, features: np.ndarray, budget: int, attention: Any = None, **signals: Any) -> Any:
    """Tokens of features [h, w, D] with an attention [h, w]."""
    allocator = tokens.REDUCERS[name](patch=PATCH)
    context = allocator.context(np.zeros((features.shape[0] * PATCH, features.shape[1] * PATCH, 3), np.float32), "")
    scorer = context.scorer if attention is None else lambda context: np.asarray(attention, float)
    context = replace(context, encoder=lambda image: features, scorer=scorer, signals=signals)
    return allocator.realize(allocator.allocate(context, budget))
