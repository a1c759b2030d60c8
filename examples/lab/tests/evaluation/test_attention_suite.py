"""The evaluation of attention, small."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from hra_lab.evaluation.attention import SMALL, page, run


def test_every_kind_is_compared_with_full_attention():
    record = run(SMALL, lambda name: None)
    by_kind = {row["kind"]: row for row in record["rows"]}
    assert by_kind["full"]["missed"] == 0 and 0 < by_kind["windows of 32"]["missed"] < 1
    assert by_kind["rank 128"]["missed"] < 1e-4  # of 64 tokens
    assert len(record["rows"]) == 24 and "$" not in page(record)["attention.md"].decode()
