"""Token sets of several images as one padded array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.domains.tokens.token_set import TokenSet
from hra.errors import ArrayError, MissingExtra


@dataclass(frozen=True, eq=False)
class TokenBatch:
    """B token sets, each from the most to the least relevant token, then padded with zeros.

    Attributes
    ----------
    values : float32 [B, K, D]; mask : bool [B, K], True for tokens, False for padding.
    order : int64 [B, K], the token's index in its own set, -1 for padding.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.PyramidSampling()
    >>> context = allocator.context(image, "what is at the top left?")
    >>> chosen = allocator.realize(allocator.allocate(context, budget=20))
    >>> batch = tokens.batch_tokens([chosen])
    >>> batch.values.shape, bool(batch.mask.all())
    ((1, 20, 768), True)
    """

    values: Any
    mask: Any
    order: Any

    def torch(self) -> TokenBatch:
        """The same batch as torch tensors that share its memory.

        Raises
        ------
        MissingExtra : torch is not installed.
        """
        try:
            from torch import from_numpy
        except ImportError as error:
            raise MissingExtra.of("torch", "torch") from error
        return TokenBatch(from_numpy(self.values), from_numpy(self.mask), from_numpy(self.order))


def batch_tokens(token_sets: Sequence[TokenSet]) -> TokenBatch:
    """Pad token sets to the longest of them, in order of relevance.

    Parameters
    ----------
    token_sets : of any images and lengths, but with values of one width D; may be empty.

    Raises
    ------
    ArrayError : widths differ.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.GridTopK()
    >>> sets = [allocator.realize(allocator.allocate((image, ""), budget)) for budget in (5, 8)]
    >>> batch = tokens.batch_tokens(sets)
    >>> batch.values.shape, batch.mask.sum(axis=1).tolist()
    ((2, 8, 768), [5, 8])
    """
    widths = sorted({tokens.values.shape[1] for tokens in token_sets})
    if len(widths) > 1:
        what = f"tokens of {' and '.join(map(str, widths))} values do not fit into one batch"
        raise ArrayError(what, where="token_sets", fix="use one patch size")
    shape = (len(token_sets), max(map(len, token_sets), default=0))
    values = np.zeros((*shape, *(widths or [0])), np.float32)
    order = np.full(shape, -1, np.int64)
    for row, tokens in enumerate(token_sets):
        order[row, : len(tokens)] = tokens.order
        values[row, : len(tokens)] = tokens.values[tokens.order]
    return TokenBatch(values, order >= 0, order)
