"""The patch pyramid as tensors: relevance in, gains of a soft cut; a soft cut in, what is shown of every patch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from hra.domains.tokens.pyramid.pyramid import PatchPyramid
from hra.errors import ArrayError
from hra.solvers.soft.forest import SoftForest


@dataclass(frozen=True, eq=False)
class SoftPyramid:
    """Splits of a patch into its children as the refinements of a forest, for gradients through the choice of tokens.

    A split costs what it adds in tokens, and gains the relevance-weighted squared error that goes with it, summed over
    finest patches. All cuts of the patch pyramid can be chosen; `PyramidSampling`, which adds children one by one, can
    moreover meet budgets between them. Both sums are linear: an expected error is the error of expected splits.

    Attributes
    ----------
    forest : of the splits, coarse levels first; cost in tokens.
    base_cost : tokens of the coarsest level, which no split pays for.
    drop : float32 [L - 1, P], error of each finest patch that goes when a patch of level 1, 2 ... is split.
    most : float32 [P], its error while the coarsest level shows it.
    above : int64 [L - 1, P], the number of the split of level 1, 2 ... above each finest patch.

    Examples
    --------
    >>> import numpy as np, torch
    >>> from hra.domains import tokens
    >>> from hra.domains.tokens import learned
    >>> image = np.random.default_rng(0).random((128, 128, 3), dtype=np.float32)
    >>> pyramid = learned.SoftPyramid.of(tokens.PatchPyramid.build(image))
    >>> gain = pyramid.gains(torch.ones(64))
    >>> len(gain), bool(abs(pyramid.error(torch.ones(21), torch.ones(64))) < 1e-5)
    (21, True)
    """

    forest: SoftForest
    base_cost: int
    drop: Tensor
    most: Tensor
    above: Tensor

    @classmethod
    def of(cls, pyramid: PatchPyramid) -> SoftPyramid:
        """The splits of one pyramid.

        Raises
        ------
        ArrayError : a pyramid of one level, which leaves nothing to choose.
        """
        errors, offsets = pyramid.errors_by_level, pyramid.offsets
        if len(errors) < 2:
            raise ArrayError("a pyramid of one level has no splits", where="pyramid", fix="use a larger image")
        total, finest = int(offsets[-1]), int(offsets[1])
        # Splits are numbered from the coarsest patch on, the reverse of the pyramid's own numbers.
        number = total - 1 - np.arange(total)
        parents = pyramid.parents
        parent = np.where(parents >= 0, number[parents], -1)[::-1][: total - finest]
        children = np.bincount(parents[parents >= 0], minlength=total)[::-1][: total - finest]
        forest = SoftForest.of_parents(parent, children - 1.0)
        above = _above(parents, finest, len(errors) - 1)
        flat = torch.from_numpy(np.ascontiguousarray(errors.reshape(len(errors), -1), np.float32))
        base = int(offsets[-1] - offsets[-2])
        return cls(forest, base, flat[1:] - flat[:-1], flat[-1], torch.from_numpy(number[above].astype(np.int64)))

    def gains(self, relevance: Tensor) -> Tensor:
        """What each split gains, [..., R], for the relevance [..., P] of the finest patches, row by row."""
        parts = (relevance[..., None, :] * self.drop.to(relevance)).flatten(-2)
        gain = relevance.new_zeros((*relevance.shape[:-1], len(self.forest)))
        return gain.index_add(-1, self.above.flatten(), parts)

    def error(self, splits: Tensor, weight: Tensor) -> Tensor:
        """The weighted squared error that chosen splits leave, as a share of what the coarsest level leaves.

        Parameters
        ----------
        splits : [..., R] in [0, 1]: a cut, or how likely each split is.
        weight : [..., P] of the finest patches, such as 1 within an answer's box and 0 elsewhere.

        Returns
        -------
        [...]; exactly the expected error of cuts with these probabilities.
        """
        weight = weight.to(splits)
        gone = (splits * self.gains(weight)).sum(-1)
        return 1 - gone / (weight * self.most.to(weight)).sum(-1).clamp_min(torch.finfo(weight.dtype).tiny)


def _above(parents: np.ndarray, finest: int, levels: int) -> np.ndarray:
    """The pyramid's number of the patch of each level from 1 on that covers each finest one, [levels, finest]."""
    rows, here = [], np.arange(finest)
    for _ in range(levels):
        here = parents[here]
        rows.append(here)
    return np.stack(rows)
