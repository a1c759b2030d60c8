from __future__ import annotations

import subprocess
import sys


def test_a_mesh_finds_its_methods_although_only_its_own_module_was_imported(tmp_path):
    program = """
import numpy as np
from hra.domains import meshes
from hra.domains.meshes.mesh.methods import METHODS
square = meshes.TriangleMesh(np.float32([[0, 0, 0], [1, 0, 0], [0, 1, 0]]), np.uint32([[0, 1, 2]]))
meshes.build(square).save("a.hra")
print(sorted(METHODS))
"""
    run = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (tmp_path / "a.hra").exists()
    assert "save" in run.stdout
