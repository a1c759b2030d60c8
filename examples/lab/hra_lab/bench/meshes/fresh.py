"""Memory of one build in a process of its own: what made the mesh leaves memory behind that a build would reuse.

``python -m hra_lab.bench.meshes.fresh FILE CERTIFIED`` writes the bytes to standard output.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from hra.domains import meshes
from hra.domains.meshes.mesh.attributes import VertexAttributes
from hra.files.plain_arrays import plain_archive
from hra_lab.bench.memory import peak_bytes

_WARM_UP = 512  # triangles that are built first, so that compiled code is loaded


def fresh_build_bytes(mesh: meshes.TriangleMesh, certified: bool) -> int | None:
    """Most bytes that were resident while a mesh was built, beyond the mesh itself; None without Linux's counters.

    Of the attributes only normals are passed on.
    """
    arrays: dict[str, Any] = {"positions": mesh.positions, "triangles": mesh.triangles}
    if mesh.attributes is not None and mesh.attributes.normals is not None:
        arrays["normals"] = mesh.attributes.normals
    with tempfile.TemporaryDirectory() as folder:
        np.savez(file := Path(folder) / "mesh.npz", **arrays)
        command = [sys.executable, "-m", "hra_lab.bench.meshes.fresh", str(file), str(int(certified))]
        written = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    return None if written == "None" else int(written)


def main(file: str, certified: str) -> None:
    """Build in this process and write the bytes."""
    with plain_archive(file) as stored:
        attributes = VertexAttributes(normals=stored.array("normals")) if "normals" in stored.names else None
        mesh = meshes.TriangleMesh(stored.array("positions"), stored.array("triangles"), attributes)
    small = meshes.TriangleMesh(mesh.positions, mesh.triangles[:_WARM_UP], attributes)
    meshes.build(small, certified=certified == "1")
    peak = peak_bytes(lambda: meshes.build(mesh, certified=certified == "1"))
    sys.stdout.write(f"{peak}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
