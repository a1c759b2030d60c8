"""A cloud in a window, drawn by `hra.domains.points.Renderer`: what a session holds, and the window around it."""
