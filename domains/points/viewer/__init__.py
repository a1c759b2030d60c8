"""A cloud in a window: the renderer by OpenGL, what a session holds, and the window around it.

What is drawn of a cloud and what people do to a view of it belong here; eye, window and panel are in `hra.viewer`.
"""
