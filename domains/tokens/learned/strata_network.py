"""The network that fits a grid of strata to a query."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from hra.errors import ArrayError
from hra.model.arrays import POSITIVE, whole_in

_GRIDS = [(rows, columns) for rows in range(2, 9) for columns in range(2, 9)] + [(1, 4), (4, 1)]


class StrataNetwork(nn.Module):
    """768-256-ReLU-4: from a query embedding to a grid of 2..8 x 2..8 strata, or 1 x 4 or 4 x 1.

    The four outputs are (height, width, granularity, aspect). How they make a grid is left open; the wanted grid has
    ``(2 + 6 sigmoid(height)) * 2**tanh(granularity) / 2**tanh(aspect)`` rows and
    ``(2 + 6 sigmoid(width)) * 2**tanh(granularity) * 2**tanh(aspect)`` columns here, and of the 51 grids the nearest in
    logarithms is taken. So a strip is one of the grids, for strongly landscape (1 x 4) or portrait (4 x 1) wishes.

    In use: ``AdaptiveStratified(chooser=lambda context: network.grid(embed(context.query)))``.

    Gradients pass through the probabilities of all grids, by which `expected_cost` weighs what each grid would cost.

    Parameters
    ----------
    width : of the query embedding.
    hidden : units of the hidden layer.
    seed : of the initial weights.

    Raises
    ------
    ArrayError : sizes below 1, or a seed below 0.
    """

    def __init__(self, width: int = 768, hidden: int = 256, *, seed: int = 0) -> None:
        super().__init__()
        width, hidden = (
            whole_in(n, value, POSITIVE, ArrayError) for n, value in (("width", width), ("hidden", hidden))
        )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(whole_in("seed", seed, kind=ArrayError))
            self.layers = nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, 4))

    @property
    def grids(self) -> Tensor:
        """The (rows, columns) of all grids, int64 [51, 2]; no buffer, which weights put in place would leave unset."""
        return torch.tensor(_GRIDS, device=next(self.parameters()).device)

    def forward(self, query: Tensor) -> Tensor:
        """The wanted (rows, columns), not rounded, [..., 2], for queries [..., width]."""
        height, width, granularity, aspect = self.layers(query).unbind(dim=-1)
        factor, ratio = 2 ** torch.tanh(granularity), 2 ** torch.tanh(aspect)
        rows = (2 + 6 * torch.sigmoid(height)) * factor / ratio
        columns = (2 + 6 * torch.sigmoid(width)) * factor * ratio
        return torch.stack([rows, columns], dim=-1)

    def probabilities(self, query: Tensor, temperature: float = 0.1) -> Tensor:
        """How likely each of `grids` is, [..., 51]: the softmax of -(distance in logarithms)**2 / temperature.

        Raises
        ------
        ArrayError : a temperature that is not above 0.
        """
        if not temperature > 0:
            raise ArrayError(f"the temperature is {temperature:g}", where="temperature", fix="use a number above 0")
        wanted = self(query)
        distance = (wanted.log()[..., None, :] - self.grids.to(wanted.dtype).log()).square().sum(dim=-1)
        return torch.softmax(-distance / temperature, dim=-1)

    @torch.no_grad()
    def grid(self, query: Tensor) -> tuple[int, int]:
        """The (rows, columns) to use for one query [width].

        Raises
        ------
        ArrayError : several queries.
        """
        if query.ndim != 1:
            raise ArrayError(f"queries of shape {tuple(query.shape)}", where="query", fix="pass one query [width]")
        rows, columns = self.grids[self.probabilities(query).argmax()].tolist()
        return rows, columns


def expected_cost(probabilities: Tensor, cost: Tensor) -> Tensor:
    """The loss of a choice of grids: what each costs, weighed by its probability.

    Parameters
    ----------
    probabilities : [..., 51], of `StrataNetwork.probabilities`.
    cost : [..., 51], what allocating with each grid loses, such as the residual error.

    Returns
    -------
    [...].
    """
    return (probabilities * cost).sum(dim=-1)
