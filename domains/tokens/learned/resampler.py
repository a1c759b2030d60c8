"""The learned compressor: cross-attention from a few queries to the features around them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from hra.errors import ArrayError
from hra.model.arrays import POSITIVE, to_numpy, whole_in
from hra.traversals.base import is_whole


class Resampler(nn.Module):
    """Turns features of a grid into those of a coarser one: each token asks, with several heads, what is around it.

    A head looks at a place relative to the middle, with a width, and prefers features by their content; a matrix
    combines what the heads find. It starts as pooling, where every head is a Gaussian over the token's cell, and is
    trained by whatever reads its tokens. Heads that look at different parts of a cell make one token of more than a
    mean. Any grid will do, whatever grid it was trained on.

    In use: ``CompressedGestalt(compressor=network)``, whose tokens it makes of pixels or of an encoder's features.

    Source: queries as in J.-B. Alayrac et al., "Flamingo" (NeurIPS 2022), the Perceiver resampler, with places as in
    deformable attention; the identity at the start is hra's own.

    Parameters
    ----------
    width : D, of a feature.
    heads : parts of a feature that look at places of their own; divides ``width``.
    keys : numbers by which content is compared.
    seed : of the keys.

    Raises
    ------
    ArrayError : sizes below 1, heads that do not divide the width, or a seed below 0.

    Examples
    --------
    >>> import torch
    >>> from hra.domains.tokens.learned import Resampler
    >>> resampler = Resampler(width=24, heads=4)
    >>> resampler(torch.rand(64, 64, 24), (16, 16)).shape
    torch.Size([16, 16, 24])
    """

    def __init__(self, width: int, heads: int = 8, keys: int = 16, *, seed: int = 0) -> None:
        super().__init__()
        width, heads, keys = (
            whole_in(name, value, POSITIVE, ArrayError)
            for name, value in (("width", width), ("heads", heads), ("keys", keys))
        )
        if width % heads:
            raise ArrayError(f"{heads} heads for features of {width}", where="heads", fix="use a divisor of the width")
        self.heads, self.width = heads, width
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(whole_in("seed", seed, kind=ArrayError))
            self.key = nn.Linear(width, heads * keys, bias=False)
        # Queries of zero prefer nothing, so that the place alone decides at the start.
        self.query = nn.Parameter(torch.zeros(heads, keys))
        self.place = nn.Parameter(torch.zeros(heads, 2))
        self.spread = nn.Parameter(torch.full((heads,), 12.0).rsqrt().log())
        self.value, self.out = nn.Linear(width, width), nn.Linear(width, width)
        for layer in (self.value, self.out):
            nn.init.eye_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, features: Any, grid: tuple[int, int]) -> Tensor:
        """The tokens.

        Parameters
        ----------
        features : [rows, columns, D], torch or NumPy.
        grid : (r, c) of the tokens.

        Returns
        -------
        [r, c, D], with a gradient by features and parameters.

        Raises
        ------
        ArrayError : features of another width, or no grid.
        """
        # NumPy's may be read-only, or run backwards, which torch takes with a warning or not at all.
        known = features if isinstance(features, Tensor) else torch.from_numpy(np.array(to_numpy(features)))
        given, width = known.to(self.value.weight), self.width
        if given.ndim != 3 or given.shape[-1] != width or not given.numel():
            what = f"features of shape {tuple(given.shape)}"
            raise ArrayError(what, where="features", fix=f"pass [rows, columns, {width}]")
        if not (
            isinstance(grid, (tuple, list)) and len(grid) == 2 and all(is_whole(side) and side > 0 for side in grid)
        ):
            raise ArrayError(f"a grid of {grid!r}", where="grid", fix="pass (rows, columns) of the tokens")
        flat = given.reshape(-1, width)
        values = self.value(flat).reshape(len(flat), self.heads, -1)
        weights = (self._content(flat)[:, None] + self._places(given.shape[:2], grid)).softmax(dim=-1)
        tokens = torch.einsum("hkn,nhd->khd", weights, values).reshape(*grid, width)
        return self.out(tokens)

    def _content(self, flat: Tensor) -> Tensor:
        """How much each head prefers each feature, [heads, N]."""
        keys = self.key(flat).reshape(len(flat), self.heads, -1)
        return torch.einsum("hd,nhd->hn", self.query, keys) * keys.shape[-1] ** -0.5

    def _places(self, shape: tuple[int, ...], grid: tuple[int, int]) -> Tensor:
        """The logarithm of each head's Gaussian around each token, [heads, r * c, N]; distances in cells of a token."""
        down, across = (self._along(shape[axis], grid[axis], axis) for axis in (0, 1))
        both = down[:, :, None, :, None] + across[:, None, :, None, :]
        return both.reshape(self.heads, grid[0] * grid[1], -1)

    def _along(self, count: int, cells: int, axis: int) -> Tensor:
        """`_places` along one axis, [heads, cells, count]."""
        like = {"dtype": self.place.dtype, "device": self.place.device}
        middles = torch.arange(cells, **like) + 0.5
        steps = (torch.arange(count, **like) + 0.5) * (cells / count)
        gap = steps - middles[:, None] - self.place[:, axis, None, None]
        return -gap.square() / (2 * (2 * self.spread).exp()[:, None, None])
