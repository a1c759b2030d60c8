"""What is trained on canvases: the suite, small, and what its parts promise."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("PIL")

from hra.domains import tokens  # noqa: E402
from hra.errors import FileError, HraError  # noqa: E402
from hra_lab.evaluation import trained  # noqa: E402
from hra_lab.evidence import allocator, rates  # noqa: E402
from hra_lab.evidence.canvas import KINDS, TEMPLATES, canvases  # noqa: E402
from hra_lab.evidence.cells import Cell  # noqa: E402
from hra_lab.evidence.weights import load_weights, save_weights  # noqa: E402


def test_every_way_is_asked_on_every_template_and_told_with_an_interval() -> None:
    record = trained.run(trained.TrainedSizes(2, 2, 2), lambda name: None)
    text = trained.page(record)["trained.md"].decode()
    assert "$" not in text and trained.table(record).split("\n\n")[1] in text
    asked = {(row["name"], row["template"]) for row in record["rows"] if row["part"] == "allocator"}
    assert {(name, where) for name in allocator.LESSONS for where in trained.JUDGED} < asked
    assert all(len(row[kind]) == 2 for row in record["rows"] if row["part"] != "rate" for kind in KINDS)


def test_templates_lie_where_they_say_and_the_first_is_what_it_was() -> None:
    for name, where in TEMPLATES.items():
        for canvas in canvases("validation", 3, template=name):
            corners = np.array([thing.box[:2] for thing in canvas.things])
            assert (corners >= (where.across[0], where.down[0])).all()
            assert (corners < (where.across[1], where.down[1])).all()
    plain, named = next(canvases("test", 1)), next(canvases("test", 1, template="scattered"))
    np.testing.assert_array_equal(plain.image, named.image)


def test_a_soft_cut_that_is_hard_shows_the_reader_the_tokens_that_are_there() -> None:
    reader = trained.load_reader(trained.WEIGHTS)
    material, tree = allocator.Material.of({"scattered": list(canvases("validation", 1))}), allocator.Tree()
    splits = torch.zeros(1, len(tree.forest))
    splits[0, 1] = splits[0, tree.own[tree.parent == 1][0]] = 1
    there = tree.there(splits)[0].bool()
    boxes = tree.boxes[there]
    areas = ((boxes[:, 2:] - boxes[:, :2]).int().prod(1)).sum()
    assert there.sum() == 10 and areas == 256 * 256
    with torch.no_grad():
        some = reader(material.pixels[:, there].float() / 255, boxes[None], material.words)
        every = reader.seen(material.pixels.float() / 255, tree.boxes[None])
        soft = reader.answers(every, tree.boxes[None], material.words, there=tree.there(splits))
    torch.testing.assert_close(soft, some, atol=1e-4, rtol=1e-4)


def test_the_carried_allocator_finds_what_a_question_names_on_the_template_that_is_held_out() -> None:
    made = list(canvases("validation", 8, template=trained.HELD_OUT))
    covered = []
    for canvas in made:
        question = canvas.questions[0]
        context = tokens.TokenContext.of(canvas.image.astype(np.float32) / 255, question.text)
        row, column = divmod(int(allocator.learned(context).argmax()), 16)
        assert question.box is not None
        x0, y0, x1, y1 = question.box
        covered.append(x0 < 16 * column + 16 and 16 * column < x1 and y0 < 16 * row + 16 and 16 * row < y1)
    assert sum(covered) >= 6  # by chance one in thirty
    with pytest.raises(HraError, match="not a question"):
        allocator.learned(tokens.TokenContext.of(made[0].image.astype(np.float32) / 255, "where is it?"))
    with pytest.raises(HraError, match="shape"):
        allocator.learned(tokens.TokenContext.of(np.zeros((64, 64, 3), np.float32), "which pattern red"))


def test_weights_of_another_network_are_refused(tmp_path: Path) -> None:
    save_weights(file := tmp_path / "a.safetensors", torch.nn.Linear(2, 3))
    with pytest.raises(FileError):
        load_weights(file, allocator.Glance())


def test_a_rate_that_is_learned_spends_tokens_where_they_help() -> None:
    draw = np.random.default_rng(0)
    hard = draw.random((200, 4)) < 0.3
    told = draw.normal(size=(200, 4, 6)).astype(np.float32)
    told[..., 0] = np.where(hard, 0.2, 0.9)
    right = np.stack([~hard, ~hard, np.ones_like(hard), np.ones_like(hard)], axis=2)
    steps = rates.Steps(told, right)
    chosen = rates.learn(steps, 0.5)(told)
    assert (chosen[hard] == 2).mean() > 0.95 and (chosen[~hard] == 0).mean() > 0.95
    found, read = rates.score(steps, chosen)
    assert found.mean() > rates.fixed(steps, float(read.mean())).mean()
    marked = rates.by_mark(steps, float(read.mean()))(told)
    assert (marked[hard] == 2).mean() > 0.9
    np.testing.assert_allclose(rates.fixed(steps, 34), right[..., 2].mean(1))


def test_tokens_can_be_made_for_any_question() -> None:
    canvas = list(canvases("validation", 1))
    first, third = (rates.make_shard(Cell("pyramid", 10, "oracle"), canvas, asked=asked) for asked in (0, 2))
    assert (first.boxes != third.boxes).any()
