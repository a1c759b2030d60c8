"""Bands of frequency as tokens: Laplacian and steerable pyramids, residual scales.

Frames of bands, the builder of hierarchies over them, the tokens and what is emphasised. The pyramids themselves are
kernels.
"""
