"""Files of the first versions of all formats stay readable, and say what they said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import hra
from hra.domains import meshes
from hra.residency import load_trace

FOLDER = Path(__file__).parent / "fixtures/version_1"


@pytest.mark.parametrize("name", ["field.hra", "field-compressed.hra"])
def test_a_mesh(name: str) -> None:
    clusters = meshes.load_clusters(FOLDER / name)
    assert clusters.triangle_count == 128
    low, high = clusters.positions.min(axis=0), clusters.positions.max(axis=0)
    assert np.allclose(low[:2], 0, atol=1e-3) and np.allclose(high[:2], 8, atol=1e-3)
    # A field of eight by eight squares: the surface of a sine along x, by its own straight pieces.
    heights = np.sin(np.arange(9.0))
    assert np.allclose([low[2], high[2]], [heights.min(), heights.max()], atol=1e-3)


@pytest.mark.parametrize(("name", "tolerance"), [("textured.hra", 0), ("textured-compressed.hra", 1e-3)])
def test_a_textured_mesh(name: str, tolerance: float) -> None:
    """From before materials had more textures than that of the base colour."""
    clusters = meshes.load_clusters(FOLDER / name)
    carried = clusters.attributes
    assert clusters.triangle_count == 80 and carried is not None
    assert carried.names == ("uv", "normals", "colors", "material")
    north, south = carried.materials
    assert (north.name, north.image_type, north.metallic, north.double_sided) == ("north", "image/png", 0.0, True)
    assert (south.base_color, south.emissive, south.alpha_mode) == ((0.5, 1, 1, 0.5), (0.1, 0, 0), "BLEND")
    assert north.image != south.image and carried.uv is not None
    assert carried.uv[carried.material == 0][:, 1].max() <= 0.5 < carried.uv[carried.material == 1][:, 1].min()
    length = np.linalg.norm(clusters.positions, axis=1)
    assert 0.9 - tolerance <= length.min() and length.max() <= 1.1 + tolerance


def test_a_trace() -> None:
    trace = load_trace(FOLDER / "trace.npz")
    assert trace.demands.tolist() == [0, 1, 0, 2] and trace.frames.tolist() == [0, 2, 4]
    assert trace.cost.tolist() == [4, 2, 2] and np.asarray(trace.parents).tolist() == [-1, 0, 0]


def test_an_allocation() -> None:
    allocation = hra.Allocation.load(FOLDER / "allocation.npz")
    assert (allocation.cost, allocation.gain, allocation.residual) == (5.0, 5.0, 6.0)
    assert allocation.selected.tolist() == [True, False]
    assert hra.verify(allocation).ok


def test_the_files_stay_small() -> None:
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) < 50_000
