"""Crops: one plate each, and a stem that learns from them."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from hra.lab.evidence.canvas import canvases  # noqa: E402
from hra.lab.evidence.crops import crops, learn_crops  # noqa: E402
from hra.lab.evidence.reader import Reader, Size  # noqa: E402
from hra.lab.evidence.stock import Stock  # noqa: E402


@pytest.fixture(scope="module")
def stock():
    return Stock.of(canvases("train", 3))


def test_crops_hold_plates_of_the_canvases(stock):
    pixels, answers = crops(stock, np.arange(3), np.random.default_rng(0))
    assert pixels.shape == (len(answers), 768) and pixels.min() >= 0 and pixels.max() <= 1
    there = stock.things[..., 4] >= 0
    assert len(answers) <= min(24, there.sum())
    assert set(answers.tolist()) <= set(stock.things[..., 5][there].tolist())
    # Plates are vivid and the ground is pale: most of a crop is plate or ink.
    picture = pixels.unflatten(1, (16, 16, 3))[:, 4:12, 4:12]
    vivid = (picture.amax(-1) - picture.amin(-1)) > 0.25
    dark = picture.amax(-1) < 0.5
    assert (vivid | dark).float().mean() > 0.9


def test_only_the_stem_learns_and_the_same_seed_gives_the_same(stock):
    def learned():
        torch.manual_seed(0)
        reader = Reader(Size(32, 1))
        before = {name: value.clone() for name, value in reader.state_dict().items()}
        learn_crops(reader, stock, 3, 0)
        return before, reader.state_dict()

    before, after = learned()
    changed = {name.split(".")[0] for name in before if not torch.equal(before[name], after[name])}
    assert changed == {"pixels"}
    again = learned()[1]
    assert all(torch.equal(after[name], again[name]) for name in after)
