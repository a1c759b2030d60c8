"""Frames of placed meshes on the GPU: pages in slots, cuts culled in compute, what is visible, its colours.

Nothing here chooses a cut: `hra.domains.meshes.MeshAllocator`, `Scene` and `MeshStreamer` do. What needs OpenGL
is in `hra.kernels.raster.clusters`.
"""
