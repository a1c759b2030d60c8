"""The reader: what it may see, that order tells nothing, and that training resumes to the same weights."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from hra.errors import HraError
from hra.lab.evidence.canvas import canvases
from hra.lab.evidence.cells import METHODS, Cell
from hra.lab.evidence.shards import make_shard, shards

torch = pytest.importorskip("torch")
from hra.lab.evidence.judging import right  # noqa: E402
from hra.lab.evidence.reader import Reader, Size  # noqa: E402
from hra.lab.evidence.training import Plan, inputs, train  # noqa: E402

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
