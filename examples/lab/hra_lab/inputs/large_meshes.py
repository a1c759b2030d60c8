"""Files of meshes that are larger than memory: a sample again and again, displaced, written copy by copy."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hra.domains import meshes

_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
# Of the extent: between copies, and how far their surface is displaced.
_SPACING, _DISPLACEMENT = 1.1, 0.01


def write_repeated(path: Path, mesh: meshes.TriangleMesh, copies: int) -> int:
    """Write ``copies`` of ``mesh`` on a square grid as a binary STL file, no two alike; how many triangles it has."""
    extent = float((mesh.positions.max(axis=0) - mesh.positions.min(axis=0)).max())
    side, count = int(np.ceil(np.sqrt(copies))), copies * len(mesh.triangles)
    with path.open("wb") as out:
        out.write(bytes(80) + count.to_bytes(4, "little"))
        for copy in range(copies):
            rows = np.zeros(len(mesh.triangles), _TRIANGLE)
            place = np.array([copy % side, copy // side, 0]) * _SPACING * extent
            rows["corners"] = (_displaced(mesh.positions, extent, copy) + place)[mesh.triangles]
            rows.tofile(out)
    return count


def _displaced(positions: np.ndarray, extent: float, seed: int) -> np.ndarray:
    """Moved by a sum of waves, which makes the smooth parts of every copy differ."""
    rng, moved = np.random.default_rng(seed), positions.astype(np.float64)
    for _ in range(4):
        wave, way, phase = rng.normal(size=3) * 20 / extent, rng.normal(size=3), rng.uniform(0, 2 * np.pi)
        moved += _DISPLACEMENT / 4 * extent * np.sin(positions @ wave + phase)[:, None] * way
    return moved.astype(np.float32)
