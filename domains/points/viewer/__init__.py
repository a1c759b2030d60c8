"""A cloud in a window, drawn by `hra.domains.points.Renderer`: what a session holds, and the window around it.

What people do to a view of a cloud belongs here; eye, window and panel are in `hra.viewer`.
"""
