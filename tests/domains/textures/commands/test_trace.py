from __future__ import annotations

import pytest

from hra.residency import load_trace
from hra.residency.replay.paths import terrain_walk
from tests.helpers.command import run_hra


def test_a_made_up_path_is_recorded_as_python_makes_it(tmp_path):
    assert run_hra("texture", "trace", "terrain_walk", "--out", tmp_path / "walk.npz", "--seed", "3") == 0
    found, expected = load_trace(tmp_path / "walk.npz"), terrain_walk(seed=3)
    assert found.demands.tolist() == expected.demands.tolist()
    assert found.frames.tolist() == expected.frames.tolist()


@pytest.mark.parametrize("source", ["nothing.txt", "kitti"])
def test_a_path_that_is_not_there_is_refused(tmp_path, source: str, capsys):
    assert run_hra("texture", "trace", source, "--out", tmp_path / "walk.npz") == 2
    assert source in capsys.readouterr().err
