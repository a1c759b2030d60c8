"""The evaluation of page orders, pools and a path, at its smallest."""

from __future__ import annotations

import numpy as np
import pytest

from hra.domains import meshes
from hra_lab.evaluation.residency.orders import ORDERS, pages
from hra_lab.evaluation.residency.residency_pictures import render
from hra_lab.evaluation.residency.run import SMALL, run
from hra_lab.inputs.mesh_sources import bumpy


@pytest.fixture(scope="module")
def record() -> dict:
    return run(SMALL, lambda text: None)


def test_every_order_fills_pages_with_what_refinements_need(record: dict) -> None:
    hierarchy = (mesh := meshes.build(bumpy(4))).hierarchy
    size = 6 * hierarchy.attribute("vertex_count").astype(np.int64) + 3 * mesh.triangles_per_cluster
    for order in ORDERS.values():
        page = pages(hierarchy, size, 2**14, order)
        assert np.bincount(page, size).max() <= 2**14
        assert (page[hierarchy.added_by < 0] == 0).all()
        groups = [np.unique(page[hierarchy.added_by == g]) for g in range(len(hierarchy))]
        assert all(len(own) == 1 for own in groups)
    assert {row["order"] for row in record["orders"]} == set(ORDERS)


def test_the_path_stays_within_its_pool(record: dict) -> None:
    path = record["path"]
    assert len(path["frames"]) == SMALL.frames
    assert all(f["there"] <= f["held"] <= path["pool"] and f["wanted"] <= path["pool"] for f in path["frames"])
    assert all(f["error_px2"] >= f["least_px2"] * (1 - 1e-9) for f in path["frames"])


def test_pictures_are_drawn(record: dict) -> None:
    pytest.importorskip("matplotlib")
    drawn = render(record)
    assert sorted(name.rpartition("_")[2] for name in drawn) == ["error.png", "orders.png", "time.png"]
    assert all(content.startswith(b"\x89PNG") for content in drawn.values())
