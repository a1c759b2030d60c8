"""Many rounds of streaming and allocation in one process: budgets hold, and memory does not grow."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest


@pytest.mark.parametrize("minutes", [0.01, pytest.param(0.5, marks=pytest.mark.slow)])
def test_budgets_hold_round_after_round(minutes: float) -> None:
    spec = spec_from_file_location("soak", Path(__file__).parents[1] / "scripts/soak.py")
    assert spec is not None and spec.loader is not None
    command = module_from_spec(spec)
    spec.loader.exec_module(command)
    found = command.soak(minutes)
    assert found["rounds"] >= 1 and found["exceeded"] == found["pages not made"] == 0
    # A leak of an image or a mesh in each round would be beyond this after a few hundred rounds.
    assert found["MiB at the end"] - found["MiB after warm-up"] < 64
