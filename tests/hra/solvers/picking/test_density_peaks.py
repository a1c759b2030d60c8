from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hra.errors import OutOfMemory
from hra.solvers.picking.density_peaks import DensityPeaks
from tests.helpers.traversals import cut_of


def plain_peaks(points: np.ndarray, count: int, neighbours: int) -> list[int]:
    """As the definition reads, cell by cell."""
    distance = np.linalg.norm(points[:, None] - points, axis=2) / np.sqrt(points.shape[1])
    density = np.exp(-(np.sort(distance, axis=1)[:, :neighbours] ** 2).mean(axis=1))
    score = []
    for i in range(len(points)):
        denser = [j for j in range(len(points)) if density[j] > density[i]]
        score.append(density[i] * (distance[i, denser].min() if denser else distance.max()))
    return sorted(np.argsort(-np.array(score), kind="stable")[:count].tolist())


@given(st.integers(2, 30), st.integers(1, 9), st.integers(0, 2**31), st.data())
@settings(max_examples=50)
def test_density_peaks_are_those_of_the_definition(size, neighbours, seed, data):
    points = np.random.default_rng(seed).normal(size=(size, 3)).astype(np.float32)
    count = data.draw(st.integers(1, size))
    found = cut_of([(1, DensityPeaks(neighbours=neighbours))], count, np.ones(size), features=points)
    if neighbours > 1:  # with one, itself, all are as dense, and the order decides
        assert found == plain_peaks(points.astype(np.float64), count, neighbours)
    assert len(found) == count


def test_distances_that_do_not_fit_are_named(monkeypatch):
    def no_room(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("hra.solvers.picking.density_peaks.squared_distances", no_room)
    with pytest.raises(OutOfMemory, match="distances of 3 items"):
        cut_of([(1, DensityPeaks())], 2, np.ones(3), features=np.zeros((3, 2), np.float32))
