"""The evaluation of strata, levels, budgets and directions, small."""

from __future__ import annotations

import numpy as np
import pytest

from hra.domains import tokens
from hra_lab.evaluation import splits
from hra_lab.evaluation.settings import SettingsSizes

TINY = SettingsSizes(crops=1, side=96)


def test_every_setting_is_told_beside_the_first_of_its_group(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("skimage")
    few = {name: of for name, of in splits.groups().items() if "273" in name or "224" in name}
    monkeypatch.setattr(splits, "groups", lambda: few)
    record = splits.run(TINY, lambda name: None)
    page = splits.page(record)["splits.md"].decode()
    assert len(record["rows"]) + len(record["skipped"]) == sum(map(len, few.values()))
    for row in record["rows"]:
        assert f"| {row['setting']} |" in page
        assert len(row["photos"]) == record["counts"]["photos"] > 0


def test_directions_get_what_is_asked_where_nothing_else_does() -> None:
    image = np.random.default_rng(0).random((512, 512, 3), dtype=np.float32)
    for oriented, expected in ((1.0, [128, 32, 32, 32]), (224 / 273, [105, 26, 26, 27])):
        allocator = splits._directed(oriented)
        allocation = allocator.allocate((image, "what does the text say?"), 224)
        strata = np.bincount(allocation.hierarchy.attribute("stratum").astype(int)[allocation.cut], minlength=5)
        assert strata[:4].tolist() == pytest.approx(expected, abs=1) and strata.sum() == 224
        assert isinstance(allocator, tokens.FrequencyAware)
