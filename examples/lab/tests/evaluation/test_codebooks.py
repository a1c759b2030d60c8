"""The evaluation of codebooks, small."""

from __future__ import annotations

import numpy as np
import pytest

from hra_lab.evaluation.codebooks import SMALL, run, table


def test_more_codes_keep_more_of_what_they_were_learned_from():
    pytest.importorskip("sklearn")
    pytest.importorskip("skimage")
    record = run(SMALL, lambda name: None)
    few, many, *levels = record["rows"]
    assert np.mean(few["seen"]) < np.mean(many["seen"]) and few["bytes"] < many["bytes"] < many["raw"]
    assert [row["name"] for row in levels] == ["level 0", "level 1", "level 2"]
    assert len(table(record).splitlines()) == 2 + len(record["rows"]) and " to " in table(record)
