"""Band-pass pyramids: Gaussian, Laplacian and steerable.

Pyramids by halving and rectangles in them are in ``levels``, what blurs before it halves in ``burt``; the public
functions of band-pass pyramids are directly here.
"""
