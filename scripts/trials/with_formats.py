"""A mesh in each format that trimesh writes, read back."""

import tempfile
from pathlib import Path

import trimesh

from hra.domains import meshes

ball = trimesh.creation.icosphere(subdivisions=2)
mesh = meshes.from_arrays(ball.vertices, ball.faces)
with tempfile.TemporaryDirectory() as folder:
    for suffix in ("obj", "off", "ply", "stl"):
        mesh.export(Path(folder, f"a.{suffix}"))
        assert len(meshes.load(Path(folder, f"a.{suffix}")).triangles) == 320
print(f"trimesh {trimesh.__version__}")
