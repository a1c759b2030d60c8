from __future__ import annotations

import numpy as np

from hra.domains import meshes
from hra.domains.meshes.building.changes import independent_changes
from hra.domains.meshes.building.regions import grown_regions
from tests.helpers.changes_cases import simplified


def test_regions_need_only_earlier_ones_and_save_enough(bumpy: meshes.TriangleMesh) -> None:
    found, geometry = simplified(bumpy, (0.9,) * 8)
    changes = independent_changes(found, geometry)
    enough = np.full(len(changes), 20)
    region = grown_regions(changes, changes.triangles, enough, 2)
    assert np.array_equal(np.unique(region), np.arange(region.max() + 1))
    both = (changes.made_by >= 0) & (changes.gone_by >= 0)
    assert (region[changes.made_by[both]] <= region[changes.gone_by[both]]).all()
    saved = np.bincount(region, changes.saved)
    assert (saved[:-1] > 0).all()
    assert saved[saved >= 20].sum() > 0.6 * saved.sum()
    first, last = (f(region.max() + 1, region, changes.step) for f in (_least, _most))
    assert (last - first <= 2).all()


def _least(count: int, region: np.ndarray, step: np.ndarray) -> np.ndarray:
    result = np.full(count, step.max())
    np.minimum.at(result, region, step)
    return result


def _most(count: int, region: np.ndarray, step: np.ndarray) -> np.ndarray:
    result = np.zeros(count, np.int64)
    np.maximum.at(result, region, step)
    return result
