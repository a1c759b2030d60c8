"""Attention in less than quadratic time: equal to full attention where it should be, near it where it can be."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
from torch.nn.functional import scaled_dot_product_attention as full  # noqa: E402

from hra.domains.tokens import learned  # noqa: E402
from hra.errors import ArrayError  # noqa: E402


def heads(count: int, size: float = 1.0, seed: int = 0):
    generator = torch.Generator().manual_seed(seed)
    return [size * torch.randn(2, 3, count, 8, generator=generator, dtype=torch.float64) for _ in range(3)]


def off(kind, count: int, size: float = 1.0) -> float:
    given = heads(count, size)
    exact = full(*given)
    return float((kind(*given) - exact).norm() / exact.norm())


@pytest.mark.parametrize("count", [1, 7, 40])
def test_one_window_for_all_and_full_rank_are_full_attention(count: int):
    assert off(learned.WindowedAttention(64), count) < 1e-9
    assert off(learned.LowRankAttention(64), count) < 1e-9


def test_windows_of_one_are_full_attention_since_means_stand_for_what_they_hold():
    assert off(learned.WindowedAttention(1), 21) < 1e-9


def test_alike_tokens_of_windows_are_full_attention():
    given = [part[..., :9, :].repeat_interleave(4, dim=-2)[..., :34, :] for part in heads(9)]
    assert torch.allclose(learned.WindowedAttention(4)(*given), full(*given))
    assert torch.allclose(learned.WindowedAttention(8, pooled=4)(*given), full(*given))


@pytest.mark.parametrize("count", [3, 16, 37])
def test_means_of_one_token_are_full_attention_in_windows_of_any_size(count: int):
    assert off(learned.WindowedAttention(16, pooled=1), count) < 1e-9


def test_smaller_means_come_nearer():
    finer, coarser = (off(learned.WindowedAttention(16, pooled=pooled), 256) for pooled in (2, 16))
    assert finer < coarser and coarser == off(learned.WindowedAttention(16), 256)
    with pytest.raises(ArrayError, match="divisor"):
        learned.WindowedAttention(16, pooled=5)


def test_more_random_features_come_nearer():
    assert off(learned.RandomFeatureAttention(2048), 64) < off(learned.RandomFeatureAttention(16), 64)
    assert off(learned.RandomFeatureAttention(4096), 64, size=0.5) < 0.1


@pytest.mark.parametrize(
    "kind",
    [
        learned.WindowedAttention(5),
        learned.WindowedAttention(6, pooled=2),
        learned.RandomFeatureAttention(16),
        learned.LowRankAttention(5),
    ],
)
def test_values_are_mixed_and_gradients_are_finite(kind):
    query, key, value = heads(23)
    query.requires_grad_()
    ones = kind(query, key, torch.ones_like(value))
    assert torch.allclose(ones, torch.ones_like(ones))
    kind(query, key, value).square().sum().backward()
    assert query.grad.isfinite().all() and query.grad.abs().max() > 0
    with pytest.raises(ArrayError):
        kind(query, key[..., :3, :], value)
    with pytest.raises(ArrayError):
        kind(query[..., :0, :], key[..., :0, :], value[..., :0, :])


@pytest.mark.parametrize("kind", [learned.WindowedAttention, learned.RandomFeatureAttention, learned.LowRankAttention])
def test_nothing_to_attend_to_is_refused(kind):
    with pytest.raises(ArrayError):
        kind(0)


@pytest.mark.parametrize(
    "attention", [learned.LowRankAttention(4), learned.RandomFeatureAttention(4), learned.WindowedAttention(4, 2)]
)
def test_a_batch_of_none(attention):
    none = torch.zeros(0, 2, 13, 8)
    assert attention(none, none, none).shape == none.shape
