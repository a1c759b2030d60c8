"""The learned sampler: sampling centres that start dense in the middle, move with the gaze, and can be trained."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from hra.errors import ArrayError
from hra.model.arrays import POSITIVE, whole_in

_FOVEAL, _SPREAD = 1 / 4, 0.05  # a quarter of the centres, 68 of 273, is normally distributed about the middle
_DEAD = 0.5
_TAKEN = 1 - 1e-15  # of a patch: its logarithm keeps later centres 34 patches away, far enough for any grid in use


class LogPolarSampler(nn.Module):
    """273 learnable sampling centres, dense about the middle, in an image whose sides count as 1.

    68 centres are drawn from a normal distribution about (0.5, 0.5) with standard deviation 0.05, 205 uniformly. For a
    gaze they move by ``gaze - 0.5``. Foveal centres that would leave the image are mirrored at its border, the others
    come in again from the opposite one, so that the periphery stays spread over the whole image. (Clamped, as it was
    first written, three quarters of them would lie on the border when the gaze is in a corner.)

    In training each centre collects a weighted mean of all patches, ``softmax(-distance / T)`` with T = 1; in use it
    takes one patch of its own, foveal centres first. As T falls below 1, what the centres before it have left of a
    patch counts more and more, ``softmax(((1 - T) log(left) - distance) / T)``, so that soft becomes hard. Without it,
    neighbouring centres would agree at T = 0.1 on a patch that only one of them can have in use.

    The source leaves the unit of distances open; here it is a patch. As shares of the image, T = 1 would be no choice
    at all: the farthest patch would weigh a quarter of the nearest.

    Parameters
    ----------
    count : number of centres.
    seed : of their initial positions.

    Raises
    ------
    ArrayError : a count below 1, or a seed below 0.
    """

    def __init__(self, count: int = 273, *, seed: int = 0) -> None:
        super().__init__()
        count = whole_in("count", count, POSITIVE, ArrayError)
        generator = torch.Generator().manual_seed(whole_in("seed", seed, kind=ArrayError))
        foveal = round(_FOVEAL * count)
        near = 0.5 + _SPREAD * torch.randn(foveal, 2, generator=generator)
        self.centres = nn.Parameter(torch.cat([near, torch.rand(count - foveal, 2, generator=generator)]))

    def recentred(self, gaze: Tensor) -> Tensor:
        """The centres for a gaze [..., 2], (x, y) in [0, 1]: [..., K, 2], within the image."""
        foveal = round(_FOVEAL * len(self.centres))
        near, far = (self.centres - 0.5 + gaze[..., None, :]).split([foveal, len(self.centres) - foveal], dim=-2)
        return torch.cat([1 - (1 - near.remainder(2)).abs(), far.remainder(1)], dim=-2)

    def forward(self, gaze: Tensor, grid: tuple[int, int], temperature: float = 1.0) -> Tensor:
        """Weight of every patch for every centre.

        Parameters
        ----------
        gaze : [..., 2], (x, y) in [0, 1].
        grid : (rows, columns) of patches.
        temperature : > 0, in patches: 1 in training.

        Returns
        -------
        [..., K, rows * columns], rows add up to 1; ``weights @ features`` are the soft tokens.

        Raises
        ------
        ArrayError : a temperature that is not above 0.
        """
        if not temperature > 0:
            raise ArrayError(f"the temperature is {temperature:g}", where="temperature", fix="use a number above 0")
        distances = self.distances(gaze, grid).double()
        left, weights = torch.zeros_like(distances[..., 0, :]), []
        for near in distances.unbind(dim=-2):
            weight = torch.softmax((max(1 - temperature, 0) * left - near) / temperature, dim=-1)
            left = left + torch.log1p(-weight.clamp(max=_TAKEN))
            weights.append(weight)
        return torch.stack(weights, dim=-2).to(self.centres.dtype)

    def distances(self, gaze: Tensor, grid: tuple[int, int]) -> Tensor:
        """Distance in patches from every centre to the middle of every patch, [..., K, rows * columns]."""
        rows, columns = grid
        like = {"dtype": self.centres.dtype, "device": self.centres.device}
        y, x = torch.meshgrid(torch.arange(rows, **like) + 0.5, torch.arange(columns, **like) + 0.5, indexing="ij")
        middles = torch.stack([x, y], dim=-1).reshape(-1, 2)
        offsets = self.recentred(gaze)[..., None, :] * middles.new_tensor([columns, rows]) - middles
        # The root has no gradient at 0, where a centre lies exactly on a patch.
        return offsets.square().sum(dim=-1).clamp_min(torch.finfo(middles.dtype).tiny).sqrt()

    @torch.no_grad()
    def select(self, gaze: Tensor, grid: tuple[int, int]) -> Tensor:
        """The patches in use, all different: every centre in turn takes the nearest that is left, foveal centres first.

        Parameters
        ----------
        gaze : [2], (x, y) in [0, 1].
        grid : (rows, columns) of patches.

        Returns
        -------
        int64 [min(K, rows * columns)], row-major patch numbers by centre.

        Raises
        ------
        ArrayError : several gazes, or one that is not finite.
        """
        if gaze.shape != (2,) or not bool(gaze.isfinite().all()):
            raise ArrayError(f"a gaze of {gaze.tolist()}", where="gaze", fix="pass the finite (x, y) of one image")
        distances = self.distances(gaze, grid).double().numpy(force=True)
        chosen = np.empty(min(distances.shape), np.int64)
        for centre in range(len(chosen)):
            chosen[centre] = distances[centre].argmin()
            distances[:, chosen[centre]] = np.inf
        return torch.from_numpy(chosen).to(self.centres.device)


def dead_bin_penalty(weights: Tensor) -> Tensor:
    """How much the centres lack that hold less than half a patch.

    Every patch is shared out among the centres in proportion to their weights for it, so that a centre's mass is the
    number of patches that it represents. Counted against an equal share instead, most foveal centres would be dead
    from the start (58 of 68 at T = 1 and 64 x 64 patches).

    Parameters
    ----------
    weights : [..., K, N], of `LogPolarSampler`.

    Returns
    -------
    [...], the sum over centres of what their mass lacks of 0.5.
    """
    total = weights.sum(dim=-2, keepdim=True).clamp_min(torch.finfo(weights.dtype).tiny)
    mass = (weights / total).sum(dim=-1)
    return (_DEAD - mass).clamp_min(0).sum(dim=-1)
