"""The network that splits a budget over the levels of a pyramid."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from hra.errors import ArrayError
from hra.model.arrays import POSITIVE, whole_in


class SplitNetwork(nn.Module):
    """2d-256-ReLU-L: from query and gestalt to the share of the budget that each level gets.

    In use: ``PyramidTopK(level_split=lambda context: network(embed(context.query), gestalt(context)).detach())``. It
    starts with equal shares and is trained by `split_cost`.

    Parameters
    ----------
    width : d, of query and of gestalt.
    levels : L, from fine to coarse.
    hidden : units of the hidden layer.
    seed : of the hidden units.

    Raises
    ------
    ArrayError : sizes below 1, or a seed below 0.
    """

    def __init__(self, width: int = 768, levels: int = 4, hidden: int = 256, *, seed: int = 0) -> None:
        super().__init__()
        width, levels, hidden = (
            whole_in(name, value, POSITIVE, ArrayError)
            for name, value in (("width", width), ("levels", levels), ("hidden", hidden))
        )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(whole_in("seed", seed, kind=ArrayError))
            first, last = nn.Linear(2 * width, hidden), nn.Linear(hidden, levels)
        nn.init.zeros_(last.weight)
        nn.init.zeros_(last.bias)
        self.layers = nn.Sequential(first, nn.ReLU(), last)

    def forward(self, query: Tensor, gestalt: Tensor) -> Tensor:
        """Shares of the levels, [..., L], adding up to 1, for query and gestalt [..., d] each."""
        return torch.softmax(self.layers(torch.cat([query, gestalt], dim=-1)), dim=-1)


def split_cost(shares: Tensor, left: Tensor, budget: float) -> Tensor:
    """What a split leaves undone, with a gradient by the shares.

    Parameters
    ----------
    shares : [..., L], of `SplitNetwork`.
    left : [..., L, N + 1], what each level leaves when the best 0, 1 ... N of its patches are taken: relevance that is
        not shown, for example; read between its entries. All patches of a level are taken at N >= 1.
    budget : tokens, <= N.

    Returns
    -------
    [...].

    Raises
    ------
    ArrayError : a budget beyond the table, or shapes that do not fit.
    """
    most = left.shape[-1] - 1
    if most < 1 or not 0 <= budget <= most or left.shape[:-1] != shares.shape:
        what = f"shares {tuple(shares.shape)}, table {tuple(left.shape)}, budget {budget:g}"
        raise ArrayError(what, where="split_cost", fix="pass [..., L], [..., L, N + 1] and a budget of at most N")
    taken = shares * budget
    low = taken.detach().floor().clamp(max=most - 1).long()
    pair = torch.gather(left, -1, torch.stack([low, low + 1], dim=-1))
    return (pair[..., 0] + (taken - low) * (pair[..., 1] - pair[..., 0])).sum(dim=-1)
