"""The learned sampler: its start, recentring, soft and hard sampling, dead bins, gradients."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")

from hra.domains.tokens.learned.log_polar_sampler import LogPolarSampler, dead_bin_penalty  # noqa: E402
from hra.errors import ArrayError  # noqa: E402

MIDDLE = torch.tensor([0.5, 0.5])


def test_it_starts_with_68_foveal_and_205_uniform_centres():
    centres = LogPolarSampler().centres.detach()
    assert centres.shape == (273, 2)
    assert float(centres[:68].std()) == pytest.approx(0.05, rel=0.2)
    assert float((centres[:68] - 0.5).abs().max()) < 0.25
    assert float(centres[68:].std()) == pytest.approx(math.sqrt(1 / 12), rel=0.1)
    assert torch.equal(centres, LogPolarSampler().centres)
    assert not torch.equal(centres, LogPolarSampler(seed=1).centres)


def test_centres_move_with_the_gaze_and_stay_inside():
    sampler = LogPolarSampler()
    gaze = torch.tensor([[0.5, 0.5], [0.9, 0.2]])
    moved = sampler.recentred(gaze)
    assert torch.allclose(moved[0], sampler.centres, atol=1e-6)
    plain = sampler.centres + torch.tensor([0.4, -0.3])
    inside = ((plain > 0) & (plain < 1)).all(dim=-1)
    assert torch.allclose(moved[1][inside], plain[inside], atol=1e-6)
    assert bool(((moved >= 0) & (moved <= 1)).all())


@pytest.mark.parametrize("gaze", [(0.0, 0.0), (1.0, 0.3), (0.02, 0.98)])
def test_a_gaze_at_the_border_does_not_pile_centres_up(gaze):
    moved = LogPolarSampler().recentred(torch.tensor(gaze)).detach()
    assert len({tuple(place) for place in moved.round(decimals=6).tolist()}) == 273
    on_border = ((moved < 1e-3) | (moved > 1 - 1e-3)).any(dim=-1)
    assert int(on_border.sum()) <= 6
    fovea, far = moved[:68], moved[68:]
    assert float((fovea - torch.tensor(gaze)).norm(dim=-1).median()) < 0.1
    quarters = (far > 0.5).long() @ torch.tensor([1, 2])
    assert int(torch.bincount(quarters, minlength=4).min()) > 205 / 8


def test_soft_and_hard_agree_at_the_end_of_annealing():
    sampler, gaze = LogPolarSampler(), torch.tensor([0.3, 0.6])
    hard = sampler.select(gaze, (32, 32))
    soft = sampler(gaze, (32, 32), temperature=1e-6).detach()
    assert torch.equal(soft.argmax(dim=-1), hard)
    assert float(soft.max(dim=-1).values.mean()) > 0.99
    features = torch.rand(32 * 32, 8, generator=torch.Generator().manual_seed(0))
    assert float((soft @ features - features[hard]).abs().mean()) < 0.01


def test_weights_are_the_softmax_of_distances_in_patches_over_what_is_left():
    sampler = LogPolarSampler(count=5)
    weights, left = sampler(MIDDLE, (3, 4), temperature=0.7).detach(), [1.0] * 12
    for centre, row in zip(sampler.recentred(MIDDLE).tolist(), weights, strict=True):
        away = [math.dist((4 * centre[0], 3 * centre[1]), (i % 4 + 0.5, i // 4 + 0.5)) for i in range(12)]
        plain = [math.exp((0.3 * math.log(left[i]) - away[i]) / 0.7) for i in range(12)]
        assert row.tolist() == pytest.approx([value / sum(plain) for value in plain], rel=1e-4)
        left = [left[i] * (1 - plain[i] / sum(plain)) for i in range(12)]


def test_a_batch_of_gazes_gives_soft_tokens():
    sampler, features = LogPolarSampler(), torch.rand(2, 24 * 32, 8)
    soft = sampler(torch.rand(2, 2), (24, 32)) @ features
    assert soft.shape == (2, 273, 8)
    assert soft.min() >= 0 and soft.max() <= 1


@pytest.mark.parametrize("gaze", [(0.5, 0.5), (0.0, 1.0), (0.83, 0.4)])
def test_patches_in_use_are_unique_and_exactly_as_many_as_centres(gaze):
    chosen = LogPolarSampler().select(torch.tensor(gaze), (64, 64))
    assert chosen.shape == (273,) and len(set(chosen.tolist())) == 273
    assert int(chosen.min()) >= 0 and int(chosen.max()) < 4096


def test_small_images_give_all_their_patches():
    assert sorted(LogPolarSampler().select(MIDDLE, (3, 5)).tolist()) == list(range(15))


def test_hard_patches_follow_the_plain_rule():
    sampler = LogPolarSampler(count=30)
    chosen, left = [], set(range(48))
    for x, y in sampler.recentred(MIDDLE).tolist():
        best = min(left, key=lambda i: math.dist((8 * x, 6 * y), (i % 8 + 0.5, i // 8 + 0.5)))
        chosen.append(best)
        left.remove(best)
    assert sampler.select(MIDDLE, (6, 8)).tolist() == chosen


def test_a_low_temperature_nearly_takes_the_nearest_patch():
    sampler = LogPolarSampler()
    weights = sampler(MIDDLE, (64, 64), temperature=0.1).detach()
    assert float(weights.max(dim=-1).values.median()) > 0.9


def test_the_gradient_of_the_weights_is_right():
    sampler = LogPolarSampler(count=4).double()
    features = torch.rand(12, 3, dtype=torch.float64)

    def tokens(centres):
        return torch.func.functional_call(sampler, {"centres": centres}, (MIDDLE.double(), (3, 4))) @ features

    assert torch.autograd.gradcheck(tokens, (sampler.centres.detach().clone().requires_grad_(),))


def test_a_centre_on_a_patch_has_a_finite_gradient():
    sampler = LogPolarSampler(count=1)
    with torch.no_grad():
        sampler.centres.copy_(torch.tensor([[0.5, 0.5]]))
    sampler(MIDDLE, (3, 3))[0, 1].backward()
    assert sampler.centres.grad is not None and bool(sampler.centres.grad.isfinite().all())


def test_centres_that_share_one_patch_are_dead():
    weights = torch.zeros(5, 10)
    weights[:4, 0] = 1  # four centres for one patch: each holds a quarter of it
    weights[4, 1:] = 1 / 9
    assert float(dead_bin_penalty(weights)) == pytest.approx(4 * 0.25)
    assert float(dead_bin_penalty(torch.eye(6))) == 0


def test_descending_the_penalty_revives_dead_centres():
    sampler = LogPolarSampler()
    optimiser = torch.optim.Adam(sampler.parameters(), lr=1e-2)
    penalties = []
    for _ in range(12):
        optimiser.zero_grad()
        penalty = dead_bin_penalty(sampler(MIDDLE, (16, 16)))
        penalty.backward()
        optimiser.step()
        penalties.append(penalty.item())
    assert penalties[0] > 1
    assert penalties[-1] < 0.8 * penalties[0]


def test_the_gradient_of_the_penalty_is_right():
    weights = torch.rand(6, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).requires_grad_()
    assert torch.autograd.gradcheck(dead_bin_penalty, (weights,))


@pytest.mark.parametrize("temperature", [0.0, -1.0, math.nan])
def test_temperatures_are_checked(temperature):
    with pytest.raises(ArrayError):
        LogPolarSampler(count=4)(MIDDLE, (3, 3), temperature)


def test_a_sampler_of_bfloat16_selects_and_several_gazes_are_refused():
    middle = torch.tensor([0.5, 0.5])
    half = LogPolarSampler(20).to(torch.bfloat16).select(middle.bfloat16(), (8, 8))
    assert len(half.unique()) == 20
    for gaze in (middle[None], torch.tensor([torch.nan, 0.5])):
        with pytest.raises(ArrayError, match="gaze"):
            LogPolarSampler(20).select(gaze, (8, 8))
