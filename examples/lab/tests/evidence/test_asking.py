"""The reader that hra carries: small enough, right about most canvases, and plain about what it does not know."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

pytest.importorskip("torch")
from hra.errors import HraError
from hra.files.images import save_png
from hra_lab.evidence.asking import WEIGHTS, answer
from hra_lab.evidence.canvas import canvases
from hra_lab.evidence.questions import ANSWERS


@pytest.fixture(scope="module")
def made():
    return list(canvases("validation", 6))


def test_the_weights_are_small():
    assert WEIGHTS.stat().st_size < 4e6


def test_most_answers_are_right(made):
    asked = [(canvas, question) for canvas in made for question in canvas.questions]
    found = [answer(canvas.image.astype(np.float32) / 255, question.text) for canvas, question in asked]
    assert all(0 < one["share"] <= 1 and one["tokens"] == 68 for one in found)
    right = [one["answer"] == ANSWERS[question.answer] for one, (_, question) in zip(found, asked, strict=True)]
    assert np.mean(right) > 0.8


def test_tokens_around_a_box_tell_what_is_in_it(made):
    questions = [(canvas, canvas.questions[0]) for canvas in made]
    found = [
        answer(c.image.astype(np.float32) / 255, q.text, budget=17, around=",".join(map(str, q.box)))["answer"]
        for c, q in questions
    ]
    assert np.mean([one == ANSWERS[q.answer] for one, (_, q) in zip(found, questions, strict=True)]) > 0.8


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"image": np.zeros((64, 64, 3), np.float32)}, "64 x 64"),
        ({"question": "where is the cat?"}, "cat"),
        ({"question": "which pattern ground"}, "question"),
        ({"question": ""}, "question"),
        ({"method": "magic"}, "magic"),
        ({"around": "1,2,3"}, "box"),
        ({"around": "9,9,9,9"}, "box"),
        ({"around": "0,0,300,300"}, "box"),
        ({"around": "0,0,20,20", "method": "downsample"}, "relevance"),
        ({"budget": 0}, "budget"),
    ],
)
def test_what_it_does_not_know_is_refused(change, word):
    with pytest.raises(HraError, match=word):
        answer(**({"image": np.full((256, 256, 3), 0.5, np.float32), "question": "which ground"} | change))


def test_the_command_answers(tmp_path, made):
    import typer

    from hra_lab.commands.ask import ask

    app = typer.Typer()
    app.command()(ask)
    save_png(tmp_path / "canvas.png", made[0].image.astype(np.float32) / 255)
    arguments = [str(tmp_path / "canvas.png"), "Which ground?", "--json", str(tmp_path / "answer.json")]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert json.loads((tmp_path / "answer.json").read_text())["answer"] == made[0].ground
