"""A cloud in a window: the renderer by OpenGL, what a session holds, and the window around it.

What people do to a view of a cloud belongs here; eye, window and panel are in `hra.viewer`.
"""
