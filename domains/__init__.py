"""The domains that share hra's allocator: meshes (triangles), textures (bytes) and visual tokens.

A domain says what a node is, what it costs, which errors a context gives and how a cut becomes the resource. It imports
the core and the kernels, no other domain and nothing of the lab; code that two of them need belongs below.
"""
