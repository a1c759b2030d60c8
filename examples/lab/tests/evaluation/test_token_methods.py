"""The evaluation of token methods: its images, its tables and the page against what it measured."""

from __future__ import annotations

import numpy as np
import pytest

from hra.domains import tokens
from hra_lab.evaluation.token_methods import run as token_methods
from hra_lab.evaluation.token_methods.images import pictures
from hra_lab.evaluation.token_methods.method_page import render
from hra_lab.evaluation.token_methods.run import BASELINE, ORACLE, MethodSizes, budget_for, run
from hra_lab.evaluation.token_methods.tables import groups_of, method_table

METHODS = ("grid", "downsample", "pyramid", "semantic-tree", "gestalt-saccades")


@pytest.fixture(scope="module")
def record() -> dict:
    with pytest.MonkeyPatch.context() as patch:
        chosen = {**{name: tokens.preset(name) for name in METHODS}, ORACLE: token_methods.methods()[ORACLE]}
        patch.setattr(token_methods, "methods", lambda: chosen)
        return run(MethodSizes(crops=1, side=256), progress=lambda name: None)


def test_there_are_twenty_real_images_of_both_kinds():
    found = list(pictures(6, 1024))
    assert len(found) >= 20
    assert {picture.kind for picture in found} == {"photos", "documents"}
    assert len({picture.source for picture in found}) == len(found)


def test_every_method_and_the_oracle_are_evaluated():
    assert set(token_methods.methods()) == {*tokens.PRESETS, ORACLE}


def test_small_images_get_the_same_share():
    assert [budget_for(patches) for patches in (4096, 2048, 15)] == [273, 136, 1]
    assert budget_for(4096, 529) == 529


def test_no_mean_is_over_different_budgets_of_large_images_and_bases_have_a_table_of_their_own(record: dict):
    for group, rows in groups_of(record["rows"]).items():
        if not group.startswith("small"):
            assert {row["budget"] for row in rows} == {budget_for(256, 529 if "base" in group else 273)}
        assert ("gestalt-saccades" in {row["method"] for row in rows}) <= ("base" in group)
    small = {row["source"] for row in record["rows"] if row["group"].startswith("small")}
    assert small == {"skimage: page.png", "skimage: text.png"}


def test_rows_have_exact_counts_and_refusals_a_reason(record: dict):
    assert all(row["count"] == row["budget"] for row in record["rows"])
    assert {entry["method"] for entry in record["skipped"]} == {"gestalt-saccades"}
    assert all("tokens" in entry["reason"] for entry in record["skipped"])


def test_the_oracle_is_best_where_the_pyramid_is_judged_by_error(record: dict):
    psnr = {(row["source"], row["method"]): row["psnr_db"] for row in record["rows"] if "base" not in row["group"]}
    for source in {row["source"] for row in record["rows"]}:
        assert psnr[source, ORACLE] >= psnr[source, "pyramid"] - 0.1
        assert psnr[source, ORACLE] > psnr[source, "grid"]


def test_the_table_compares_with_down_sampling(record: dict):
    rows = [row for row in record["rows"] if row["group"] == "photos"]
    lines = method_table(rows).splitlines()[2:]
    cells = {line.split("|")[1].strip(" `"): [cell.strip() for cell in line.split("|")[2:]] for line in lines}
    assert cells[BASELINE][1] == "+0.00" and cells[BASELINE][-2].startswith("0 of")
    mean = np.mean([row["psnr_db"] for row in rows if row["method"] == "grid"])
    assert cells["grid"][0] == f"{mean:.2f}"
    assert [float(row[1]) for row in cells.values()] == sorted((float(row[1]) for row in cells.values()), reverse=True)


def test_the_page_shows_winners_and_losers(record: dict):
    (page,) = (content.decode() for content in render(record).values())
    assert "$" not in page
    assert all(f"`{name}`" in page for name in tokens.PRESETS)
    assert "worse: " in page and "was not run on" in page
