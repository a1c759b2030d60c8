"""The domains that share hra's allocator: meshes (triangles), textures (bytes) and visual tokens."""
