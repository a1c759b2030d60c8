"""Meshes as files, and memory in which a part is small."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hra.domains.meshes.mesh.triangle_mesh import TriangleMesh
from hra.domains.meshes.outofcore import memory

FACE = np.dtype([("count", "u1"), ("corners", "<i4", 3)])


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory counts triangles, and nothing else takes any."""
    for name, value in {"_PROCESS_BYTES": 0, "_TRIANGLE_BYTES": 1, "_LEAST": 1, "_SOURCE_BYTES": 0}.items():
        monkeypatch.setattr(memory, name, value)


def write_ply(path: Path, mesh: TriangleMesh) -> Path:
    """Binary, of positions and triangles."""
    head = (
        f"ply\nformat binary_little_endian 1.0\nelement vertex {len(mesh.positions)}\n"
        "property float x\nproperty float y\nproperty float z\n"
        f"element face {len(mesh.triangles)}\nproperty list uchar int vertex_indices\nend_header\n"
    )
    rows = np.zeros(len(mesh.triangles), FACE)
    rows["count"], rows["corners"] = 3, mesh.triangles
    path.write_bytes(head.encode() + mesh.positions.tobytes() + rows.tobytes())
    return path
