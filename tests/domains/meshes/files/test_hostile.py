"""Hostile and odd mesh files: each is read right or refused with a typed error that says what, where and how to fix."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.hostile import gltf, gltf_extensions, obj, plain, ply
from tests.helpers.hostile.cases import Case
from tests.helpers.hostile.judging import judged

CASES = [case for module in (ply, obj, plain, gltf, gltf_extensions) for case in module.cases()]


@pytest.mark.case(2, 21, 25, 27, 28, 29)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_answer_is_right(case: Case, tmp_path: Path) -> None:
    outcome = judged(case, tmp_path)
    assert outcome.verdict == ("accepted" if case.accepted else "refused"), outcome.detail


def test_names_are_unique() -> None:
    assert len({case.name for case in CASES}) == len(CASES) > 500
