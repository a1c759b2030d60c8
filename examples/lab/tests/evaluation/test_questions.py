"""The evaluation of questions: what it measures on one page, and the page it writes."""

from __future__ import annotations

import numpy as np
import pytest

from hra.domains import tokens
from hra.domains.tokens.text.reader import can_read
from hra_lab.evaluation.questions import gold, reading, showing
from hra_lab.evaluation.questions.pairs import Pair, pairs
from hra_lab.evaluation.questions.question_page import findings, render
from hra_lab.evaluation.questions.run import FULL

BUDGETS = reading.BUDGETS


@pytest.fixture(scope="module")
def asked() -> list[Pair]:
    """Two questions to each of all pages, then to each of all canvases."""
    return list(pairs(FULL.pages, FULL.canvases))


def rows_of(method: str, read: tuple[bool, ...]) -> list[dict]:
    about = {"page": "receipt 0", "photographed": False, "method": method, "seconds": 0.3, "counts": {"lines read": 4}}
    return [{**about, "budget": budget, "read": one} for budget, one in zip(BUDGETS, read, strict=True)]


def record() -> dict:
    read = [
        {"page": "receipt 0", "photographed": False, "method": reading.FULL, "budget": None, "read": True},
        *rows_of(reading.ORACLE, (True, True, True, True)),
        *rows_of(reading.PHRASE, (True, True, True, True)),
        *rows_of(reading.PARAPHRASED, (True, False, True, True)),
        *rows_of(reading.DOWN, (False, True, True, True)),
    ]
    about = {"adversarial": True, "preset": "pyramid", "relevance": "phrase", "share": 0.5}
    shown = [{**about, "kind": kind, "budget": budget} for kind in ("page", "canvas") for budget in showing.BUDGETS]
    return {"read": read, "shown": shown, "pairs": [{"kind": "page", "query": "?", "adversarial": True}]}


def test_the_page_states_ratios_and_where_the_aim_was_missed():
    text = render(record())["questions.md"].decode()
    assert "$" not in text
    assert (
        "| phrase | 100% | 100% | 100% | 100% |" in text
        and "| `pyramid` | phrase | 50% | 50% | 50% | 50% | 1 |" in text
    )
    lines = findings(record()["read"])
    assert lines[0].endswith("met.") and lines[1].endswith("no budget.")
    assert lines[2].endswith("missed, 0.00 at 64.") and lines[3].endswith("below down-sampling at 64.")


@pytest.mark.skipif(not can_read(), reason="needs the extra ocr")
def test_one_page_is_asked_by_every_method_at_every_budget():
    rows = list(reading.read_rows(1, lambda name: None))
    methods = list(dict.fromkeys(row["method"] for row in rows))
    assert methods[0] == reading.FULL and len(rows) == 1 + (len(methods) - 1) * len(BUDGETS)
    read = {(row["method"], row["budget"]): row["read"] for row in rows}
    assert read[reading.FULL, None] and read[reading.ORACLE, 273] and not read[reading.DOWN, 37]
    assert all(
        row["seconds"] >= 0 and row["counts"]["lines read"] > 0 for row in rows if row["method"] == reading.PHRASE
    )


def test_the_oracle_shows_more_of_the_box_than_no_knowledge_does(asked: list[Pair]):
    pair = asked[0]
    base = reading.tokens.TokenContext.of(pair.image, pair.query)
    shares = {}
    for name in ("uniform", "oracle"):
        scores = np.asarray(showing.relevances(pair)[name](base))
        rows = showing._rows(pair, "pyramid", name, scores, lambda levels: base.pyramid)
        assert [row["budget"] for row in rows] == list(showing.BUDGETS)
        shares[name] = [row["share"] for row in rows]
    assert shares["oracle"][-1] == 1 and shares["oracle"][1] > shares["uniform"][1]


@pytest.mark.skipif(not can_read(), reason="needs the extra ocr")
def test_two_questions_to_one_page_take_different_tokens_where_the_answers_lie_apart(asked: list[Pair]):
    apart = 0
    for one, other in zip(asked[:8:2], asked[1:8:2], strict=True):
        assert one.image is other.image and one.query != other.query
        if one.box[3] + 16 > other.box[1] and other.box[3] + 16 > one.box[1]:
            continue
        allocator = tokens.PyramidSampling(tokens.PhraseRelevance(read=True))
        base = allocator.context(one.image, one.query)
        cuts = [set(allocator.allocate(base.asking(query), 37).cut.tolist()) for query in (one.query, other.query)]
        assert cuts[0] != cuts[1]
        apart += 1
    assert apart >= 2


def test_pairs_are_many_and_a_third_of_them_adversarial(asked: list[Pair]):
    assert len(asked) >= 40 and sum(pair.adversarial for pair in asked) >= len(asked) / 3


def test_boxes_of_answers_lie_in_their_images(asked: list[Pair]):
    for pair in asked:
        x0, y0, x1, y1 = pair.box
        assert 0 <= x0 < x1 <= pair.image.shape[1] and 0 <= y0 < y1 <= pair.image.shape[0]


def sure(*pairs: tuple[float, bool]) -> list[dict]:
    about = {
        "method": gold.PHRASE,
        "budget": 64,
        "used": True,
        "score": 1.0,
        "set": "own",
        "seconds": 0.1,
        "counts": {},
    }
    return [{**about, "number": i, "confidence": said, "hit": hit} for i, (said, hit) in enumerate(pairs)]


def test_every_confidence_is_in_one_fifth():
    said = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    bins, error = gold.reliability(sure(*((one, True) for one in said)))
    assert [count for *_, count in bins] == [1, 1, 1, 1, 2]
    assert error == pytest.approx(1 - np.mean(said))


def test_no_confidence_makes_no_calibration_error():
    assert "Expected calibration error 0.000" not in gold.summary([{**sure((0.9, True))[0], "used": False}], "own")
    assert "Expected calibration error 0.100" in gold.summary(sure((0.9, True)), "own")
