"""The evaluation of settings, small."""

from __future__ import annotations

import pytest

from hra_lab.evaluation.settings import SettingsSizes, groups, page, run, table


@pytest.fixture(scope="module")
def record() -> dict:
    pytest.importorskip("skimage")
    return run(SettingsSizes(crops=1, side=96), lambda name: None)


def test_every_setting_is_judged_or_skipped_with_a_reason(record):
    named = {(group, name) for group, settings in groups().items() for name in settings}
    judged = {(row["group"], row["setting"]) for row in record["rows"]}
    assert judged | {(row["group"], row["setting"]) for row in record["skipped"]} == named
    assert all(row["reason"] for row in record["skipped"])
    assert set(record["counts"].values()) == {3}


def test_what_minimum_shares_narrow_is_never_worth_more(record):
    free, *narrowed = (row for row in record["rows"] if row["group"] == "minimum shares of levels")
    assert free["setting"] == "none" and narrowed
    for row in narrowed:
        # The gain is what is optimised, so that a narrower choice cannot have more of it.
        assert row["documents"][1] <= free["documents"][1] + 0.5 and row["photos"][1] <= free["photos"][1] + 0.5


def test_the_page_has_a_table_for_each_group(record):
    text = page(record)["settings.md"].decode()
    assert table(record) in text and "$" not in text
