"""A mesh in a window, drawn by `hra.domains.meshes.Renderer`: what a session holds, and the window around it."""
