"""Pyramids by halving, and the extrema of rectangles that are looked up in them, one module per backend."""
