"""The reader: what it may see, that order tells nothing, and that training resumes to the same weights."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from hra.errors import FileError, HraError
from hra_lab.evidence.canvas import canvases
from hra_lab.evidence.cells import METHODS, Cell
from hra_lab.evidence.shards import make_shard

torch = pytest.importorskip("torch")
from hra_lab.evidence.batches import Batch, batch_at, without  # noqa: E402
from hra_lab.evidence.experiment import (  # noqa: E402
    CONTROLS,
    Extent,
    ask,
    right,
    unpacked,
)
from hra_lab.evidence.reader import Reader, Size  # noqa: E402
from hra_lab.evidence.stock import Stock  # noqa: E402
from hra_lab.evidence.training import Plan, loss_of, train  # noqa: E402
from hra_lab.evidence.views import view  # noqa: E402
from hra_lab.evidence.weights import load_reader, save_reader  # noqa: E402

TINY = Size(32, 2)
CELL = Cell("pyramid", 17, "oracle")


@pytest.fixture(scope="module")
def stock():
    return Stock.of(canvases("train", 6))


@pytest.fixture(scope="module")
def seen(stock):
    made = view(stock, np.arange(4), 20, np.random.default_rng(0))
    return Batch(made.pixels, made.boxes, made.words, made.answers)


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
    plan, file = Plan(TINY, 2, 6, tokens=256, warm_up=2), tmp_path / "state.safetensors"
    whole = train(plan, stock, [], lambda _: None)
    steps = iter(range(5))

    def stopping(*arguments):
        if next(steps) == 4:
            raise KeyboardInterrupt
        return loss_of(*arguments)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("hra_lab.evidence.training.loss_of", stopping)
        train(plan, stock, [], lambda _: None, checkpoint=file, save_every=2)
    resumed = train(plan, stock, [], lambda _: None, checkpoint=file)
    for a, b in zip(whole.parameters(), resumed.parameters(), strict=True):
        # To rounding: products of matrices depend on how their memory is aligned.
        torch.testing.assert_close(a, b, atol=1e-5, rtol=0)


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
    asked = seen.answers >= 0
    assert (found == seen.answers)[asked].float().mean() > 0.9


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


def test_batches_hold_their_tokens_and_without_places_nothing_tells_where(stock):
    shard = make_shard(CELL, list(canvases("train", 6)), mixed=True)
    sizes = {batch_at(stock, [shard], 256, np.random.default_rng(i)).pixels.shape[:2] for i in range(30)}
    assert (256 // 17, 17) in sizes and len(sizes) > 3
    assert all(256 - count < rows * count <= 256 for rows, count in sizes)
    batch = batch_at(stock, [shard], 256, np.random.default_rng(0))
    blind = without(batch, values=False, places=False)
    assert blind.pixels.unique().numel() == 1 and blind.boxes.unique().tolist() == [0, 256]


def test_questions_that_are_not_asked_cost_nothing(seen):
    reader = Reader(TINY)
    first = seen._replace(words=seen.words[:, :1], answers=seen.answers[:, :1])
    other = seen.answers.clone()
    other[:, 1:] = -1
    torch.testing.assert_close(loss_of(reader, seen._replace(answers=other)), loss_of(reader, first))


def test_tokens_are_made_for_another_question_two_times_in_three():
    made = list(canvases("train", 12))
    plain, mixed = make_shard(CELL, made), make_shard(CELL, made, mixed=True)
    same = sum(np.array_equal(a, b) for a, b in zip(plain.boxes, mixed.boxes, strict=True))
    assert 0 < same < 10
    assert np.array_equal(plain.words, mixed.words)


def test_a_record_has_every_cell_and_its_controls():
    cells = (CONTROLS[1], Cell("downsample", 17))
    readers = [Reader(TINY).eval(), Reader(TINY).eval()]
    record = ask(readers, "validation", Extent(0, 0, 5, 0, 0, 2, TINY, cells), lambda _: None)
    assert [(row["method"], row["shown"]) for row in record["rows"]] == [
        ("pyramid", "all"), ("pyramid", "places"), ("pyramid", "question"), ("downsample", "all"),
    ]  # fmt: skip
    expected = right(readers[1], make_shard(cells[1], list(canvases("validation", 5))))
    assert np.array_equal(unpacked(record["rows"][3]["right"], 5)[1], expected)
    assert len(record["sizes"]) == 5 and record["converged"] is False
    assert all(0 < share <= 1 for share in record["commonest"].values())


def test_weights_are_read_as_they_were_written(tmp_path, seen):
    reader = Reader(TINY).eval()
    save_reader(tmp_path / "a.safetensors", reader)
    again = load_reader(tmp_path / "a.safetensors")
    assert again.size == TINY
    with torch.no_grad():
        assert torch.equal(again(*seen[:3]), reader(*seen[:3]))


def test_equal_readers_are_equal_files(tmp_path):
    for number in range(8):
        save_reader(tmp_path / f"{number}.safetensors", Reader(TINY))
        reader = load_reader(tmp_path / f"{number}.safetensors")
        save_reader(tmp_path / f"{number}.again", reader)
        assert (tmp_path / f"{number}.safetensors").read_bytes() == (tmp_path / f"{number}.again").read_bytes()


def test_damaged_weights_are_refused_by_name(tmp_path):
    file = tmp_path / "a.safetensors"
    save_reader(file, Reader(TINY))
    whole = file.read_bytes()
    changed = [whole.replace(b'"reader":"32', b'"reader":"%s' % other) for other in (b"64", b"0x", b"-8")]
    changed += [
        b"",
        b"{}",
        whole[: len(whole) // 2],
        whole[:200],
        b"\xff" * 64,
        whole.replace(b"norm.weight", b"norm.weighs"),
    ]
    changed += [whole[:-4] + np.float32(value).tobytes() for value in (np.nan, 0.5)]
    for damaged in changed:
        assert damaged != whole
        file.write_bytes(damaged)
        with pytest.raises(FileError, match=r"a\.safetensors"):
            load_reader(file)
