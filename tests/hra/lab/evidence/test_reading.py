"""The reader: what it may see, that order tells nothing, and that training resumes to the same weights."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest

from hra.errors import HraError
from hra.lab.evidence.canvas import canvases
from hra.lab.evidence.cells import METHODS, Cell
from hra.lab.evidence.shards import make_shard

torch = pytest.importorskip("torch")
from hra.lab.evidence.experiment import Extent, ask  # noqa: E402
from hra.lab.evidence.judging import right  # noqa: E402
from hra.lab.evidence.reader import Reader, Size  # noqa: E402
from hra.lab.evidence.stock import Stock  # noqa: E402
from hra.lab.evidence.training import Plan, loss_of, train  # noqa: E402
from hra.lab.evidence.views import view  # noqa: E402

TINY = Size(32, 2)
CELL = Cell("pyramid", 17, "oracle")


@pytest.fixture(scope="module")
def stock():
    return Stock.of(canvases("train", 6))


@pytest.fixture(scope="module")
def seen(stock):
    return view(stock, np.arange(4), 20, np.random.default_rng(0))


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_its_budget(method):
    canvas = next(canvases("train", 1))
    pixels, boxes = Cell(method, 17, "oracle").tokens_of(canvas, 0, 0)
    assert pixels.shape == (17, 768) and pixels.dtype == np.uint8
    assert boxes.shape == (17, 4)


def test_an_oracle_shows_the_target_in_full():
    made = list(canvases("train", 6))
    for canvas, boxes in zip(made, make_shard(CELL, made).boxes, strict=True):
        box = canvas.questions[0].box
        assert box is not None
        if box[2] - box[0] > 40:
            continue
        x, y = (box[0] + box[2]) // 2, (box[1] + box[3]) // 2
        over = boxes[(boxes[:, 0] <= x) & (x < boxes[:, 2]) & (boxes[:, 1] <= y) & (y < boxes[:, 3])]
        assert (over[:, 2] - over[:, 0]).min() == 16


def test_order_of_tokens_and_other_questions_tell_nothing(seen):
    reader = Reader(TINY).eval()
    with torch.no_grad():
        answers = reader(seen.pixels, seen.boxes, seen.words)
        order = torch.randperm(seen.pixels.shape[1])
        moved = reader(seen.pixels[:, order], seen.boxes[:, order], seen.words)
        alone = reader(seen.pixels, seen.boxes, seen.words[:, 1:2])
    torch.testing.assert_close(moved, answers, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(alone, answers[:, 1:2], atol=1e-5, rtol=1e-4)


def test_a_run_that_was_interrupted_ends_with_the_same_weights(stock, tmp_path, monkeypatch):
    plan, file = Plan(TINY, 6, 2, tokens=136, warm_up=2), tmp_path / "state.safetensors"
    whole = train(plan, stock, lambda _: None)
    steps = iter(range(5))

    def stopping(*arguments):
        if next(steps) == 4:
            raise KeyboardInterrupt
        return loss_of(*arguments)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("hra.lab.evidence.training.loss_of", stopping)
        train(plan, stock, lambda _: None, checkpoint=file, save_every=2)
    resumed = train(plan, stock, lambda _: None, checkpoint=file)
    for a, b in zip(whole.parameters(), resumed.parameters(), strict=True):
        torch.testing.assert_close(a, b, atol=0, rtol=0)


def test_a_reader_learns_what_it_has_seen(seen):
    torch.manual_seed(0)
    reader = Reader(Size(64, 2))
    optimiser = torch.optim.AdamW(reader.parameters(), lr=3e-3)
    for _ in range(80):
        optimiser.zero_grad()
        loss_of(reader, seen).backward()
        optimiser.step()
    with torch.no_grad():
        found = reader(seen.pixels, seen.boxes, seen.words).argmax(-1)
    assert (found == seen.answers).float().mean() > 0.9


def test_without_values_nothing_but_places_counts():
    made = list(canvases("train", 6))
    shard = make_shard(CELL, made)
    other = dataclasses.replace(shard, pixels=shard.pixels[::-1].copy())
    reader = Reader(TINY).eval()
    assert np.array_equal(right(reader, shard, values=False), right(reader, other, values=False))


def test_a_cell_that_cannot_keep_its_budget_is_refused():
    canvas = next(canvases("train", 1))
    with pytest.raises(HraError):
        Cell("downsample", 5000).tokens_of(canvas, 0, 0)


def test_tokens_are_asked_what_they_show_in_training_alone(seen):
    reader = Reader(TINY)
    weights = [weight for name, weight in reader.named_parameters() if re.fullmatch(r"shown\..*weight", name)]
    assert len(weights) == 3
    loss_of(reader, seen).backward()
    assert all(weight.grad is not None and bool(weight.grad.any()) for weight in weights)
    with torch.no_grad():
        before = reader(seen.pixels, seen.boxes, seen.words)
        for weight in weights:
            weight.zero_()
        assert torch.equal(reader(seen.pixels, seen.boxes, seen.words), before)


def test_tokens_without_labels_add_nothing_to_the_loss(seen):
    reader = Reader(TINY)
    unlabelled = dataclasses.replace(seen, shown=torch.full_like(seen.shown, -1))
    answers = reader(seen.pixels, seen.boxes, seen.words)
    expected = torch.nn.functional.cross_entropy(answers.flatten(0, 1), seen.answers.flatten())
    torch.testing.assert_close(loss_of(reader, unlabelled), expected)


def test_a_record_has_every_cell_with_values_and_without():
    record = ask(Reader(TINY).eval(), Extent(0, 5, 0, 0, TINY, (CELL, Cell("downsample", 17))), lambda _: None)
    assert [row["cell"] for row in record["rows"]] == ["pyramid-17-oracle", "downsample-17"]
    shares = [row[part][kind] for row in record["rows"] for part in ("values", "boxes") for kind in row[part]]
    assert len(shares) == 16 and all(0 <= share <= 1 for share in shares)
    assert all(0 < share <= 1 for share in record["commonest"].values())
