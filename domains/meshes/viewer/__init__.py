"""Pictures of cuts: a renderer on the GPU, a window around it, and single pictures without one.

What is drawn and what people do to a view belong here: pages in slots, colours, events, keys. The operating system's
window and OpenGL are in `hra.viewer` and `hra.kernels.raster`.
"""
