"""The choice of a cut: the allocator, and the errors that it goes by, in pixels or in units of the mesh.

A new error metric for meshes belongs here, in a file of its own.
"""
