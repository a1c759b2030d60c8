"""Hostile images and traces, and damaged files of every kind: the right answer, or a typed error."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.hostile import fuzzing, pictures, traces
from tests.helpers.hostile.cases import Case
from tests.helpers.hostile.judging import judged
from tests.helpers.hostile.seeds import FILE_KINDS

CASES = [case for module in (pictures, traces) for case in module.cases()]


@pytest.mark.case(42)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_answer_is_right(case: Case, tmp_path: Path) -> None:
    outcome = judged(case, tmp_path)
    assert outcome.verdict == ("accepted" if case.accepted else "refused"), outcome.detail


@pytest.mark.parametrize("count", [120, pytest.param(3000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", FILE_KINDS)
def test_damaged_files_are_read_or_refused_within_their_limits(kind: str, count: int) -> None:
    tally = fuzzing.run(kind, 7, range(count))
    assert tally.faults == []
    assert tally.verdicts["accepted"] and tally.verdicts["refused"]
    assert tally.verdicts.total() == count


def test_damage_depends_on_nothing_but_the_seed() -> None:
    assert fuzzing.damaged("ply", 3, 5) == fuzzing.damaged("ply", 3, 5) != fuzzing.damaged("ply", 4, 5)
