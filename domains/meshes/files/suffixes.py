"""What files of meshes are called; without imports, as commands read it before they need anything else."""

from __future__ import annotations

# Avatars (VRM) are GLB files with an extension of their own.
GLTF = (".glb", ".gltf", ".vrm")
READ = (*GLTF, ".obj", ".off", ".ply", ".stl")
