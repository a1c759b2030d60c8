"""HiRED's first step: how many tokens each tile of an image gets."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.model.arrays import to_numpy
from hra.solvers.apportionment import largest_remainder


def hired_budgets(attention: Any, tiles: tuple[int, int], total: int, *, overview: float = 0.5) -> list[int]:
    """Tokens of the overview and of each tile, by the attention that the tile's part of the overview gets.

    Source: K. H. I. Arif et al., "HiRED: attention-guided token dropping for efficient inference of high-resolution
    vision-language models" (AAAI 2025): the class token's attention in the first layer; the overview gets its share
    before.

    Parameters
    ----------
    attention : [h, w] of the overview, >= 0.
    tiles : (rows, columns) of tiles that the processor cut.
    total : tokens of the whole image.
    overview : share of the overview.

    Returns
    -------
    The overview's count, then those of the tiles row by row; they add up to ``total``.

    Raises
    ------
    ArrayError : attention that is negative or not finite.

    Examples
    --------
    >>> from hra.domains import tokens
    >>> tokens.hired_budgets([[3, 1], [0, 4]], tiles=(2, 2), total=32)
    [16, 6, 2, 0, 8]
    """
    rows = np.array_split(to_numpy(attention).astype(np.float64), tiles[0], axis=0)
    sums = np.array([part.sum() for row in rows for part in np.array_split(row, tiles[1], axis=1)])
    first, rest = largest_remainder(np.array([overview, 1 - overview]), total, minimum=0)
    return [int(first), *largest_remainder(sums, int(rest), minimum=0).tolist()]
