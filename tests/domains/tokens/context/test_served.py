"""What became of a question, and what the command, the rows of a folder and its job say of it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image
from typer.testing import CliRunner

from hra.domains import tokens
from hra.domains.tokens.commands import app
from hra.domains.tokens.text import reader
from hra_lab.inputs.documents.typeset import Sheet

needs_ocr = pytest.mark.skipif(not reader.can_read(), reason="needs the extra ocr")
ASKED = "what is the total amount?"


def page() -> np.ndarray:
    sheet = Sheet((384, 256), "DejaVuSans.ttf", 26)
    rows = (("Date", "14.03.2019"), ("TOTAL AMOUNT", "319.10"), ("Change", "4.64"))
    for y, (label, value) in zip((30, 100, 170), rows, strict=True):
        sheet.text(16, y, label)
        sheet.right(370, y, value)
    return np.ascontiguousarray(sheet.pixels())


def photo() -> np.ndarray:
    """Noise of low frequency, without letters."""
    small = np.random.default_rng(0).random((8, 12, 3)).astype(np.float32)
    return np.asarray(Image.fromarray(np.round(255 * small).astype(np.uint8)).resize((384, 256)), np.float32) / 255


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("asked")
    for name, image in (("a-page.png", page()), ("b-photo.png", photo())):
        Image.fromarray(np.round(255 * image).astype(np.uint8)).save(made / name)
    (made / "c-none.png").write_bytes(b"no image")
    return made


@pytest.mark.parametrize(
    ("relevance", "query", "by"),
    [
        (tokens.CueRelevance(), "", "nothing"),
        (tokens.CueRelevance(), "how many dogs are there?", "nothing"),
        (tokens.CueRelevance(), "what is at the top left?", "words of place"),
        (tokens.UniformRelevance(), ASKED, "nothing"),
        (lambda context: np.eye(*context.grid) + bool(context.query), ASKED, "relevance"),
    ],
)
def test_without_reading_nobody_estimates_a_confidence(relevance, query, by):
    served = tokens.TokenContext.of(photo(), query, relevance=relevance).served
    assert (served.by, served.used, served.confidence) == (by, by != "nothing", None)


@needs_ocr
def test_a_label_that_is_there_is_served_with_confidence_and_one_that_is_not_without():
    context = tokens.TokenContext.of(page(), ASKED, relevance=tokens.PhraseRelevance(read=True))
    assert context.served.by == "phrase" and context.served.used and 0.5 < (context.served.confidence or 0) <= 1
    other = context.asking("xylophone zebra quokka?")
    assert (other.served.confidence or 0) < (context.served.confidence or 0)


@needs_ocr
def test_where_nothing_is_likely_tokens_are_those_of_the_even_pyramid(monkeypatch):
    """Whatever stands there: the choice is that of uniform relevance, token by token, and nothing warns."""
    from hra.domains.tokens.relevance import phrase

    class Knows:
        """Gives each candidate little."""

        def probabilities(self, rows: np.ndarray) -> np.ndarray:
            return np.full(len(rows), 0.02)

    monkeypatch.setattr(phrase, "ranker", Knows)
    allocator = tokens.PyramidSampling(tokens.PhraseRelevance(read=True))
    context = allocator.context(page(), ASKED)
    even = tokens.PyramidSampling(tokens.UniformRelevance())
    for budget in (16, 64, 137):
        chosen = allocator.realize(allocator.allocate(context, budget)).boxes
        expected = even.realize(even.allocate(even.context(page(), ""), budget)).boxes
        assert sorted(map(tuple, chosen.tolist())) == sorted(map(tuple, expected.tolist()))
    assert context.served.by == "nothing" and not context.served.used and (context.served.confidence or 0) < 0.2


@pytest.mark.parametrize(("query", "used"), [("what is at the top left?", True), ("how many dogs are there?", False)])
def test_the_command_calls_nothing_the_best_possible_for_a_question(folder, query, used):
    arguments = ["allocate", str(folder / "b-photo.png"), "--query", query, "--budget", "20", "--relevance", "cues"]
    told = " ".join(CliRunner().invoke(app, arguments).output.split())
    assert "best possible" not in told
    assert ("weighted by the question" in told) is used and ("of the picture, whatever is asked" in told) is not used
    assert ("was not used" in told) is not used


@pytest.mark.parametrize("named", ["cues", pytest.param(None, marks=needs_ocr)])
def test_rows_of_a_folder_say_how_the_question_was_served_and_the_job_which_relevance_ran(folder, named, tmp_path):
    query = "what is at the top left?" if named else ASKED
    allocation = tokens.TokenAllocation(budget=20, question=query, relevance=named)
    tokens.allocate_folder(folder, tmp_path / "out", allocation)
    rows = pq.read_table(tmp_path / "out/shard-000000.parquet").to_pylist()
    assert [row["id"] for row in rows] == ["a-page.png", "b-photo.png", "c-none.png"]
    served = [(row["used"], row["by"]) for row in rows]
    if named:
        assert served == [(True, "words of place")] * 2 + [(None, None)]
        assert [row["confidence"] for row in rows] == [None] * 3
    else:
        assert served == [(True, "phrase"), (False, "nothing"), (None, None)]
        assert 0.5 < rows[0]["confidence"] <= 1
    job = json.loads((tmp_path / "out/job.json").read_text())
    assert job["allocation"]["relevance"] == (named or "phrase")
