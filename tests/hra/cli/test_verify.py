from __future__ import annotations

import json

import numpy as np

import hra
from tests.helpers.command import run_hra


def saved(folder, **options):
    made = hra.solve(hra.Hierarchy.flat([3, 2, 2]), budget=4, gains=[6.0, 3.0, 2.0], **options)
    made.save(folder / "made.hra-allocation")
    return folder / "made.hra-allocation"


def test_what_holds_is_proven(tmp_path, capsys):
    assert run_hra("verify", saved(tmp_path), "--json", tmp_path / "found.json") == 0
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["proven"] and not found["refuted"]
    assert all(statement in capsys.readouterr().out for statement in found["refuted"])


def test_what_is_no_allocation_is_refused(tmp_path, capsys):
    (tmp_path / "other").write_bytes(np.arange(40).tobytes())
    assert run_hra("verify", tmp_path / "other") == 2
    assert "other" in capsys.readouterr().err
