"""What is seen of meshes: frames on the GPU, what a session holds, the window around it, and PyVista's pictures.

How cuts are drawn belongs here (`Renderer`, `render`), and what people do to a view: events, keys, controls. Eye,
window and panel of all domains are in `hra.viewer`, the operating system's window in `hra.kernels.raster.window`.
"""
