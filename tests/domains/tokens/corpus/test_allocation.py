"""Rows of batches: what an allocator says of each image, errors in rows, banks and prices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hra.domains import tokens
from hra.errors import HraError
from hra.pooling.stream_price import Demand, common_price


def rows(allocation: tokens.TokenAllocation, pictures: Path, **columns: Any) -> list[dict[str, Any]]:
    names = sorted(str(path) for path in pictures.rglob("*") if path.suffix in (".png", ".jpg"))
    return allocation({"path": names, **columns}).to_pylist()


def good(made: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in made if row["error"] is None]


@pytest.mark.parametrize("method", ["pyramid", "grid", "token-dag", "random"])
def test_rows_are_what_the_allocator_says(pictures: Path, method: str):
    relevance = None if method == "random" else "uniform"
    allocator = tokens.preset(method) if relevance is None else tokens.PRESETS[method](tokens.UniformRelevance())
    made = rows(tokens.TokenAllocation(method, 20, relevance=relevance), pictures)
    assert len(made) == 12 and len(good(made)) == 11
    for row in good(made)[:4]:
        allocation = allocator.allocate((row["id"], ""), 20)
        chosen = allocator.realize(allocation)
        assert len(row["indices"]) == len(row["boxes"]) == len(row["levels"]) == 20
        assert row["gain"] >= allocation.gain * (1 - 1e-12)
        if row["indices"] == allocation.cut.tolist():
            assert row["boxes"] == chosen.boxes.tolist() and row["levels"] == chosen.levels.tolist()
        assert (row["gap"] is None) == (not allocation.problem.additive)


def test_a_poisoned_image_is_a_row_and_changes_no_other(pictures: Path):
    allocation = tokens.TokenAllocation(budget=12, relevance="uniform")
    made = rows(allocation, pictures)
    (bad,) = [row for row in made if row["error"] is not None]
    assert bad["id"].endswith("05-poison.jpg") and bad["error"].startswith("invalid-image: ")
    assert bad["indices"] is bad["levels"] is bad["boxes"] is bad["gain"] is bad["gap"] is None
    alone = allocation({"path": [row["id"] for row in good(made)]}).to_pylist()
    assert alone == good(made)


def test_bytes_tables_ids_and_questions(pictures: Path):
    allocation = tokens.TokenAllocation(budget=12, relevance="cues")
    path = pictures / "09.png"
    table = pa.table({"bytes": [path.read_bytes()] * 2, "id": [1, 2], "question": ["on the left", None]})
    left, anywhere = allocation(table).to_pylist()
    assert (left["id"], anywhere["id"]) == ("1", "2") and left["boxes"] != anywhere["boxes"]
    (asked,) = tokens.TokenAllocation(budget=12, relevance="cues", question="on the left")({"path": [path]}).to_pylist()
    assert asked["boxes"] == left["boxes"]


@pytest.mark.parametrize("missing", [float("nan"), 5], ids=["of pandas", "a number"])
def test_a_question_that_is_not_a_text_is_told_in_its_row(pictures: Path, missing: Any):
    path = str(next(pictures.glob("*.png")))
    allocation = tokens.TokenAllocation(budget=5, relevance="cues")
    told, other = allocation({"path": [path, path], "question": [missing, "left"]}).to_pylist()
    assert f"query must be a str, got a {type(missing).__name__}" in told["error"] and other["error"] is None


def test_images_beyond_the_limit_are_refused_before_they_are_decoded(pictures: Path):
    made = rows(tokens.TokenAllocation(budget=12, relevance="uniform", max_pixels=96 * 128 - 1), pictures)
    assert not good(made) and sum("more than the limit" in row["error"] for row in made) == 11


@pytest.mark.parametrize("bank", [3, 12])
def test_a_bank_shares_the_sum_of_its_budgets(pictures: Path, bank: int):
    made = rows(tokens.TokenAllocation(budget=12, relevance="uniform", bank=bank), pictures)
    for begin in range(0, 12, bank):
        group = good(made[begin : begin + bank])
        assert sum(len(row["indices"]) for row in group) == 12 * len(group)
    assert len({len(row["indices"]) for row in good(made)}) > 1


def test_a_price_spends_what_the_sample_spends(pictures: Path):
    allocation = tokens.TokenAllocation(budget=12, relevance="uniform")
    demands = [allocation.demand({"path": str(path)}) for path in sorted(pictures.rglob("*.png"))]
    known = [one for one in demands if isinstance(one, Demand)]
    price = common_price(known, 12 * len(known))
    made = good(rows(tokens.TokenAllocation(budget=12, relevance="uniform", price=price), pictures))
    spent = sum(len(row["indices"]) for row in made)
    assert len(known) == 11 and 0.8 * 132 <= spent <= 132
    pooled = good(rows(tokens.TokenAllocation(budget=12, relevance="uniform", bank=12), pictures))
    equal = good(rows(allocation, pictures))
    gains = [sum(row["gain"] for row in one) for one in (equal, made, pooled)]
    assert gains == sorted(gains)


def test_what_is_wrong_with_one_image_of_a_bank_is_its_row_alone(pictures: Path, monkeypatch: pytest.MonkeyPatch):
    def scores(self: Any, context: Any) -> np.ndarray:
        if context.image[40, 0, 0] == context.image[40, 1, 0]:
            raise ValueError("nothing there")
        return np.ones(context.grid)

    monkeypatch.setattr(tokens.UniformRelevance, "__call__", scores)
    made = rows(tokens.TokenAllocation(budget=12, relevance="uniform", bank=12), pictures)
    failed = [row for row in made if row["error"] == "ValueError: nothing there"]
    assert len(failed) == 5 and sum(len(row["indices"]) for row in good(made)) == 12 * 6


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"budget": 0}, "budget is 0"),
        ({"question": None}, "question is None"),
        ({"price": "1e-4"}, "the price is '1e-4'"),
        ({"price": True}, "the price is True"),
        ({"bank": 1.5}, "bank is 1.5"),
        ({"bank": 2, "price": 1.0}, "a bank and a price"),
        ({"price": float("nan")}, "price is nan"),
        ({"method": "best"}, "'best'"),
    ],
)
def test_settings_are_refused_at_once(settings: dict[str, Any], what: str):
    with pytest.raises(HraError, match=what):
        tokens.TokenAllocation(**settings)


@pytest.mark.parametrize(
    ("batch", "what"),
    [
        ([], "not a batch of rows"),
        ({"path": ["a"], "id": []}, "different lengths"),
        ({"path": "photo.jpg"}, "a single str"),
        ({"bytes": b"x", "id": ["a"]}, "a single bytes"),
        ({"path": None}, "a single NoneType"),
        ({"id": ["a"]}, "without an image"),
        ({"bytes": [b""]}, "without a name"),
    ],
)
def test_batches_are_refused(batch: Any, what: str):
    with pytest.raises(HraError, match=what):
        tokens.TokenAllocation(relevance="uniform")(batch)
