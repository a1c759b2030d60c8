"""Pictures of clouds: a plain renderer on the processor, one in OpenGL, and the window around it.

What is drawn of a cloud and what people do to a view of it belong here; eye, window and panel are in `hra.viewer`.
"""
