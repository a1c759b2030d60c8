from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hra.domains.meshes.outofcore.welding import Numbering, position_keys

pytestmark = pytest.mark.usefixtures("small_parts")


def test_keys_that_meet_are_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    tried: list[int] = []

    def keys(positions: np.ndarray, seed: int) -> np.ndarray:
        tried.append(seed)
        return np.zeros(len(positions), np.uint64) if seed == 0 else position_keys(positions, seed)

    monkeypatch.setattr("hra.domains.meshes.outofcore.welding.position_keys", keys)
    for number in range(2):
        np.savez(tmp_path / f"{number}.npz", positions=np.array([[0, 0, number], [1, 0, 0], [0, 1, 0]], np.float32))
    found = Numbering.of([tmp_path / "0.npz", tmp_path / "1.npz"], tmp_path, 100)
    assert found.seed == 1 and set(tried) == {0, 1} and found.count == 4 and len(found.shared) == 2
