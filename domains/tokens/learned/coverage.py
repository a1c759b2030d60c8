"""Soft top-K with a coverage loss: relevant patches, but not all in one place."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from hra.errors import ArrayError
from hra.solvers.soft.distribution import CutDistribution, budgets_of
from hra.solvers.soft.forest import SoftForest

_CELLS = 8
_WEIGHT = 0.1
_HIGH = 40.0  # temperatures above the price at which an item counts as certain, in float64
_CERTAIN = 1 - 1e-6  # probabilities up to here keep the logarithm of their complement finite


def soft_top_k(scores: Tensor, count: int, temperature: float) -> Tensor:
    """How likely each of N independent items is among those taken, ``count`` of them on average.

    ``sigmoid((score - price) / temperature)`` with the price that makes the probabilities add up to ``count``: the
    `hra.SoftCut` of a flat hierarchy. As the temperature falls, it becomes the top-K.

    Parameters
    ----------
    scores : floating point [..., N].
    count : from 0 to N.
    temperature : > 0, in the unit of the scores.

    Returns
    -------
    [..., N] in [0, 1], adding up to ``count``; differentiable by the scores.

    Raises
    ------
    ArrayError : scores of a wrong shape or type, or not finite; a count or temperature out of range.
    """
    size = scores.shape[-1] if scores.ndim else 0
    if not 0 <= count <= size or not scores.is_floating_point():
        what = f"cannot take {count} of {size} scores of {scores.dtype}"
        raise ArrayError(what, where="soft_top_k", fix="pass floating point [..., N] and a count from 0 to N")
    forest = SoftForest.of_parents(np.full(size, -1), np.ones(size), scores.device)
    # Only differences count; so high up, taking an item is never unwanted and the price, which is >= 0, never binds.
    raised = scores.double() - scores.detach().amin(dim=-1, keepdim=True) + _HIGH * temperature
    distribution = CutDistribution.of(forest, raised, budgets_of(count, forest, raised), temperature)
    return distribution.probabilities.to(scores.dtype)


def coverage_loss(scores: Tensor, selected: Tensor, positions: Tensor) -> Tensor:
    """``-mean(selected score) + 0.1 * empty cells`` of an 8 x 8 grid.

    A cell is as empty as it is likely that none of its patches is taken, each by itself with its probability; so a hard
    selection has its number of empty cells, and a soft one a gradient for every patch.

    Parameters
    ----------
    scores : [..., N].
    selected : [..., N] in [0, 1], probabilities such as those of `soft_top_k`, or a hard selection.
    positions : [N, 2], (x, y) of the patches' centres as shares of the image, in [0, 1].

    Returns
    -------
    [...], the loss.

    Raises
    ------
    ArrayError : shapes that do not fit.
    """
    if positions.shape != (scores.shape[-1], 2) or selected.shape != scores.shape:
        shapes = ", ".join(str(tuple(part.shape)) for part in (scores, selected, positions))
        raise ArrayError(f"shapes {shapes} do not fit", where="coverage_loss", fix="pass [..., N], [..., N] and [N, 2]")
    mean = (scores * selected).sum(dim=-1) / selected.sum(dim=-1).clamp_min(torch.finfo(scores.dtype).tiny)
    return -mean + _WEIGHT * empty_cells(selected, positions)


def empty_cells(selected: Tensor, positions: Tensor) -> Tensor:
    """Expected number of cells of an 8 x 8 grid without a selected patch, [...]; arguments as of `coverage_loss`."""
    column, row = (positions * _CELLS).long().clamp(0, _CELLS - 1).unbind(dim=-1)
    left = torch.log1p(-selected.clamp(max=_CERTAIN))
    cells = left.new_zeros((*left.shape[:-1], _CELLS**2))
    return cells.index_add(-1, row * _CELLS + column, left).exp().sum(dim=-1)
