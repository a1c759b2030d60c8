"""The multi-band loss: the bands of the kernel, and their gradients."""

from __future__ import annotations

import numpy as np
import pytest

from hra.errors import ArrayError
from hra.kernels import laplacian_pyramid

torch = pytest.importorskip("torch")

from hra.domains.tokens.learned.multiband import MultiBandLoss, laplacian_bands  # noqa: E402


def pair(height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    first, second = np.random.default_rng(0).random((2, height, width, 3), dtype=np.float32)
    return first, second


def tensor(image: np.ndarray):
    return torch.from_numpy(image.transpose(2, 0, 1)[None].copy())


@pytest.mark.parametrize("size", [(1, 1), (2, 1), (1, 9), (37, 50), (64, 33)])
def test_bands_are_those_of_the_kernel(size):
    image, _ = pair(*size)
    bands = laplacian_pyramid(image, 4).levels
    for ours, kernel in zip(laplacian_bands(tensor(image), len(bands)), bands, strict=True):
        np.testing.assert_allclose(ours[0].numpy().transpose(1, 2, 0), kernel, atol=2e-6)


def test_the_loss_is_the_weighted_sum_of_band_errors():
    image, target = pair(40, 56)
    alpha = (0.5, 2.0, 1.0)
    bands = zip(laplacian_pyramid(image, 3).levels, laplacian_pyramid(target, 3).levels, strict=True)
    expected = sum(a * np.square(x - y).mean() for a, (x, y) in zip(alpha, bands, strict=True))
    assert MultiBandLoss(alpha)(tensor(image), tensor(target)).item() == pytest.approx(expected, rel=1e-4)


def test_gradients_agree_with_finite_differences():
    loss = MultiBandLoss((1.0, 0.3, 2.0)).double()
    image, target = (tensor(each).double() for each in pair(5, 4))
    assert torch.autograd.gradcheck(lambda x: loss(x, target), (image.requires_grad_(),))


def test_bad_arguments_are_refused():
    for alpha in ((), (-1.0,), (float("nan"),)):
        with pytest.raises(ArrayError):
            MultiBandLoss(alpha)
    with pytest.raises(ArrayError, match="against"):
        MultiBandLoss()(torch.zeros(1, 3, 8, 8), torch.zeros(1, 3, 8, 9))
    with pytest.raises(ArrayError):
        MultiBandLoss()(torch.zeros(3, 8, 8), torch.zeros(3, 8, 8))
