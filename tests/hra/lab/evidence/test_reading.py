"""The reader: what it may see, that order tells nothing, and that training resumes to the same weights."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest

from hra.errors import HraError
from hra.lab.evidence.canvas import canvases
from hra.lab.evidence.cells import METHODS, Cell
from hra.lab.evidence.shards import make_shard, shards

torch = pytest.importorskip("torch")
from hra.lab.evidence.judging import right  # noqa: E402
from hra.lab.evidence.reader import Reader, Size  # noqa: E402
from hra.lab.evidence.training import Plan, inputs, loss_of, train  # noqa: E402

TINY = Size(32, 2)
CELL = Cell("pyramid", 37, "oracle")


@pytest.fixture(scope="module")
def shard():
    return make_shard(CELL, list(canvases("train", 6)), 0, training=True)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_its_budget(method):
    canvas = next(canvases("train", 1))
    pixels, boxes = Cell(method, 37, "oracle").tokens_of(canvas, 0, 0)
    assert pixels.shape == (37, 192) and pixels.dtype == np.uint8
    assert boxes.shape == (37, 4)


def test_an_oracle_shows_the_target_in_full(shard):
    for canvas, boxes, asked in zip(canvases("train", 6), shard.boxes, shard.asked, strict=True):
        box = canvas.questions[asked].box
        if box is None or box[2] - box[0] > 40:
            continue
        x, y = (box[0] + box[2]) // 2, (box[1] + box[3]) // 2
        over = boxes[(boxes[:, 0] <= x) & (x < boxes[:, 2]) & (boxes[:, 1] <= y) & (y < boxes[:, 3])]
        assert (over[:, 2] - over[:, 0]).min() == 8


def test_shards_are_made_once(tmp_path, monkeypatch):
    said = []
    first = shards(tmp_path, "validation", 3, [CELL], said.append)[CELL]
    again = shards(tmp_path, "validation", 3, [CELL], said.append)[CELL]
    assert len(said) == 1
    assert all(np.array_equal(getattr(first, f.name), getattr(again, f.name)) for f in dataclasses.fields(first))
    assert not first.asked.any()


def test_tokens_of_an_earlier_version_are_refused(tmp_path):
    shards(tmp_path, "validation", 1, [CELL], lambda _: None)
    (file,) = tmp_path.iterdir()
    with np.load(file) as stored:
        np.savez(file, **{name: stored[name] for name in stored if name != "shown"})
    with pytest.raises(HraError, match="shown"):
        shards(tmp_path, "validation", 1, [CELL], lambda _: None)


def test_order_of_tokens_and_other_questions_tell_nothing(shard):
    reader = Reader(TINY).eval()
    rows = np.arange(4)
    pixels, boxes, words = inputs(shard, rows, "cpu")
    with torch.no_grad():
        first, second = reader(pixels, boxes, words)
        shuffled = torch.randperm(pixels.shape[1])
        moved, _ = reader(pixels[:, shuffled], boxes[:, shuffled], words)
        alone, alone_second = reader(pixels, boxes, words[:, 1:2])
    torch.testing.assert_close(moved, first, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(alone, first[:, 1:2], atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(alone_second, second[:, 1:2], atol=1e-5, rtol=1e-4)


def test_a_run_that_was_interrupted_ends_with_the_same_weights(shard, tmp_path):
    plan, file = Plan(TINY, 6, batch=4, warm_up=2), tmp_path / "state.safetensors"
    whole = train(plan, {CELL: shard}, lambda _: None, checkpoint=file, save_every=4)  # the last state is step 4
    resumed = train(plan, {CELL: shard}, lambda _: None, checkpoint=file)
    for a, b in zip(whole.parameters(), resumed.parameters(), strict=True):
        torch.testing.assert_close(a, b, atol=0, rtol=0)


def test_a_reader_learns_what_it_has_seen():
    shard = make_shard(CELL, list(canvases("train", 6)), 0, training=False)
    plan = Plan(Size(64, 2), 150, batch=6, rate=3e-3, warm_up=10)
    reader = train(plan, {CELL: shard}, lambda _: None)
    assert right(reader, shard).mean() > 0.9


def test_a_cell_that_cannot_keep_its_budget_is_refused():
    canvas = next(canvases("train", 1))
    with pytest.raises(HraError):
        Cell("downsample", 5000).tokens_of(canvas, 0, 0)


def test_tokens_are_asked_what_they_show_in_training_alone(shard):
    reader = Reader(TINY)
    weights = [weight for name, weight in reader.named_parameters() if re.fullmatch(r"shown\..*weight", name)]
    assert len(weights) == 5
    before = [weight.detach().clone() for weight in weights]
    loss = loss_of(reader, shard, np.arange(4), np.zeros((4, 2), int), "cpu")
    loss.backward()
    assert all(weight.grad is not None and bool(weight.grad.any()) for weight in weights)
    with torch.no_grad():
        for weight in weights:
            weight.zero_()
        answers = reader(*inputs(shard, np.arange(4), "cpu"))
        for weight, old in zip(weights, before, strict=True):
            weight.copy_(old)
        again = reader(*inputs(shard, np.arange(4), "cpu"))
    assert all(torch.equal(a, b) for a, b in zip(answers, again, strict=True))


def test_tokens_without_labels_add_nothing_to_the_loss(shard):
    reader = Reader(TINY)
    rows, asked = np.arange(4), np.zeros((4, 2), int)
    unlabelled = dataclasses.replace(shard, shown=np.full_like(shard.shown, -1))
    first, second = reader(*inputs(shard, rows, "cpu", asked))
    answers, seconds = (
        torch.from_numpy(part[rows[:, None], asked].astype(np.int64)) for part in (shard.answers, shard.seconds)
    )
    expected = torch.nn.functional.cross_entropy(first.flatten(0, 1), answers.flatten())
    if (seconds >= 0).any():
        share = (seconds >= 0).float().mean()
        expected = expected + share * torch.nn.functional.cross_entropy(second[seconds >= 0], seconds[seconds >= 0])
    torch.testing.assert_close(loss_of(reader, unlabelled, rows, asked, "cpu"), expected)
