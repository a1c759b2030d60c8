"""The relevance that knows no query: every patch counts alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

if TYPE_CHECKING:
    from hra.domains.tokens.context.context import TokenContext


@dataclass(frozen=True)
class UniformRelevance:
    """The same relevance for every patch: the error itself decides (the oracle of reconstructions). Needs nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> tokens.UniformRelevance()(tokens.TokenContext.of(image)).shape
    (8, 12)
    """

    in_threads: ClassVar[bool] = True

    def __call__(self, context: TokenContext) -> np.ndarray:
        """Ones [ceil(H/patch), ceil(W/patch)], float32."""
        return np.ones(context.grid, np.float32)
