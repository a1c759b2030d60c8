"""A mesh in a window, drawn by `hra.domains.meshes.Renderer`: what a session holds, and the window around it.

What people do to a view belongs here: events, keys, controls. What is drawn and how is in
`hra.domains.meshes.viewer`; the operating system's window is in `hra.kernels.raster.window`.
"""
