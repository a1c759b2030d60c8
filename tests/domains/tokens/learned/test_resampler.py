"""The resampler: pooling at the start, any grid, gradients everywhere, and its place in a compressed gestalt."""

from __future__ import annotations

import numpy as np
import pytest

from hra.domains import tokens
from hra.domains.tokens.pyramid.blocks import cell_means
from hra.errors import ArrayError

torch = pytest.importorskip("torch")
from hra.domains.tokens.learned import Resampler  # noqa: E402


def smooth(rows: int, columns: int, width: int) -> np.ndarray:
    y, x = (axis[..., None] for axis in np.indices((rows, columns)))
    return np.sin(0.2 * x + 0.1 * y + np.arange(width)).astype(np.float32)


@pytest.mark.parametrize(("shape", "grid"), [((32, 32), (8, 8)), ((32, 48), (8, 6)), ((30, 20), (5, 5))])
def test_it_starts_as_pooling(shape, grid):
    features = smooth(shape[0], shape[1], 8)
    made = Resampler(8, heads=4)(features, grid).detach().numpy()
    inner = (slice(1, -1), slice(1, -1))  # at the border a Gaussian is cut
    np.testing.assert_allclose(made[inner], cell_means(features, grid)[inner], atol=0.02)


def test_features_that_are_alike_stay_as_they_are():
    made = Resampler(6, heads=2)(torch.ones(9, 12, 6) * torch.arange(6.0), (3, 4))
    torch.testing.assert_close(made, torch.arange(6.0).expand(3, 4, 6))


def test_a_head_that_is_moved_sees_the_neighbour():
    resampler = Resampler(2, heads=2)
    with torch.no_grad():
        resampler.place[1] = torch.tensor([0.0, 1.0])  # one token to the right, for the second number
        resampler.spread.fill_(-4.0)  # a point
    features = torch.stack([torch.arange(5.0), 10 * torch.arange(5.0)], dim=-1)[None]
    assert resampler(features, (1, 5))[0, 1:4].tolist() == [[1, 20], [2, 30], [3, 40]]


def test_every_parameter_and_the_features_get_a_gradient():
    resampler, features = Resampler(8, heads=2), torch.rand(8, 8, 8, requires_grad=True)
    with torch.no_grad():
        resampler.query.normal_()
    resampler(features, (2, 2)).square().sum().backward()
    assert all(part.grad is not None and part.grad.abs().sum() > 0 for part in [features, *resampler.parameters()])


def test_it_compresses_what_an_encoder_makes_and_pools_pixels():
    image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    gestalt = tokens.CompressedGestalt(2, 3, compressor=Resampler(5, heads=5))
    allocator = tokens.GestaltSaccades(gestalt=gestalt)
    features = smooth(8, 12, 5)
    for budget in (6, 16):  # compression alone, and both
        chosen = allocator.realize(allocator.allocate((image, ""), budget))
        made = chosen.encode(lambda image: features, image)
        assert made.shape == (budget, 5) and len(chosen.base) == 6
        x, y = chosen.saccades.T
        np.testing.assert_array_equal(made[6:], features[y, x])
    plain = tokens.GestaltSaccades(gestalt=tokens.CompressedGestalt(2, 3))
    same = plain.realize(plain.allocate((image, ""), 6))
    np.testing.assert_array_equal(chosen.base, same.base)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ArrayError, match="3 heads for features of 8"):
        Resampler(8, heads=3)
    with pytest.raises(ArrayError, match="shape"):
        Resampler(8)(torch.zeros(4, 4, 7), (2, 2))


@pytest.mark.parametrize("grid", [(0, 0), (3,), (3, 4, 5), 3, (1.5, 2), (-1, 2), None])
def test_what_is_no_grid_is_refused(grid):
    with pytest.raises(ArrayError, match="grid"):
        Resampler(24, 4)(torch.rand(8, 8, 24), grid)


@pytest.mark.filterwarnings("error")
def test_features_may_be_any_view_and_the_network_of_any_type():
    features = np.random.default_rng(0).random((8, 6, 24), dtype=np.float32)
    expected = Resampler(24, 4)(torch.from_numpy(features), (3, 2))
    features.flags.writeable = False
    assert torch.equal(Resampler(24, 4)(features, (3, 2)), expected)
    assert torch.equal(Resampler(24, 4)(features[::-1].copy()[::-1], (3, 2)), expected)
    for dtype in (torch.bfloat16, torch.float16, torch.float64):
        made = Resampler(24, 4).to(dtype)(features, (3, 2))
        assert made.dtype == dtype and (made.float() - expected).abs().max() < 0.02
