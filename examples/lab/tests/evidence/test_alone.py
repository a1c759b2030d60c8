"""Tokens one by one: a stem that learns from them alone, the same for the same seed."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from hra_lab.evidence.canvas import canvases  # noqa: E402
from hra_lab.evidence.stem import Stem  # noqa: E402
from hra_lab.evidence.stock import Stock  # noqa: E402
from hra_lab.evidence.training import learn_tokens, loss_of_tokens  # noqa: E402
from hra_lab.evidence.views import view  # noqa: E402


@pytest.fixture(scope="module")
def stock():
    return Stock.of(canvases("train", 8))


def learned(stock, steps):
    torch.manual_seed(0)
    stem = Stem(32)
    learn_tokens(stem, stock, steps, 0)
    return stem


@pytest.mark.slow
def test_a_stem_learns_what_tokens_show(stock):
    seen = view(stock, np.arange(8), 60, np.random.default_rng(3))
    pixels, shown = seen.pixels.flatten(0, 1), seen.shown.flatten(0, 1)
    losses = [loss_of_tokens(learned(stock, steps), pixels, shown).item() for steps in (0, 30)]
    assert losses[1] < 0.8 * losses[0]


def test_the_same_seed_gives_the_same_stem(stock):
    first, again = (learned(stock, 2).state_dict() for _ in range(2))
    assert all(torch.equal(first[name], again[name]) for name in first)


def test_labels_that_are_not_known_cost_nothing():
    stem, pixels = Stem(32), torch.rand(5, 768)
    assert float(loss_of_tokens(stem, pixels, torch.full((5, 3), -1))) == 0


def test_what_the_reader_gets_has_no_gradient_of_the_pictures():
    stem = Stem(32)
    stem(torch.rand(2, 3, 768)).sum().backward()
    assert all(weight.grad is None for weight in stem.features.parameters())
    assert all(weight.grad is not None for weight in stem.out.parameters())
