"""Multi-band loss: how wrong an image is in every band of its Laplacian pyramid."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.nn import functional

from hra.errors import ArrayError

_BINOMIAL = (1 / 16, 4 / 16, 6 / 16, 4 / 16, 1 / 16)


class MultiBandLoss(torch.nn.Module):
    """Sum over bands of alpha_k times the mean squared error of the band.

    Bands are those of `hra.kernels.laplacian_pyramid` (P. Burt and E. Adelson, 1983), finest first, the low-pass rest
    last, but differentiable and on the device of the images. The split is linear, so the difference is split once.

    Parameters
    ----------
    alpha : weight of each band, >= 0, at least one; their number is that of the bands.

    Raises
    ------
    ArrayError : no weight, or one that is negative or not finite.
    """

    alpha: torch.Tensor

    def __init__(self, alpha: Sequence[float] = (1.0, 1.0, 1.0, 1.0)) -> None:
        super().__init__()
        weights = torch.tensor(alpha, dtype=torch.float64)
        if not len(weights) or not bool((torch.isfinite(weights) & (weights >= 0)).all()):
            raise ArrayError(f"weights of bands {list(alpha)}", where="alpha", fix="pass finite numbers >= 0")
        self.register_buffer("alpha", weights)

    def forward(self, image: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """The loss of images [B, C, H, W] against a target of the same shape, a scalar.

        Raises
        ------
        ArrayError : shapes that differ, or other than four axes.
        """
        if image.shape != target.shape or image.ndim != 4:
            what = f"images {tuple(image.shape)} against {tuple(target.shape)}"
            raise ArrayError(what, where="MultiBandLoss", fix="pass two tensors [B, C, H, W]")
        errors = [band.square().mean() for band in laplacian_bands(image - target, len(self.alpha))]
        return (torch.stack(errors) * self.alpha.to(errors[0].dtype)).sum()


def laplacian_bands(image: torch.Tensor, levels: int) -> list[torch.Tensor]:
    """The band-pass levels, finest first, and the low-pass rest of images [B, C, H, W], all differentiable."""
    bands = []
    for _ in range(levels - 1):
        coarse = _blur(image, 1)[:, :, ::2, ::2]
        spread = torch.zeros_like(image)
        spread[:, :, ::2, ::2] = coarse
        bands.append(image - _blur(spread, 2))
        image = coarse
    return [*bands, image]


def _blur(image: torch.Tensor, gain: float) -> torch.Tensor:
    """``gain`` times the binomial along each axis, mirrored about the outermost pixels."""
    # A single pixel has only itself as neighbour.
    for axis in [axis for axis in (2, 3) if image.shape[axis] > 1]:
        kernel = gain * torch.tensor(_BINOMIAL, dtype=image.dtype, device=image.device)
        kernel = kernel.reshape((1, 1, 5, 1) if axis == 2 else (1, 1, 1, 5)).expand(image.shape[1], 1, -1, -1)
        image = functional.conv2d(_mirror(image, axis), kernel, groups=image.shape[1])
    return image


def _mirror(image: torch.Tensor, axis: int) -> torch.Tensor:
    """Two more pixels on both sides, also of two pixels, which `torch`'s own reflection refuses."""
    extent = image.shape[axis]
    period = 2 * (extent - 1)
    place = torch.arange(-2, extent + 2, device=image.device) % period
    return image.index_select(axis, torch.minimum(place, period - place))
