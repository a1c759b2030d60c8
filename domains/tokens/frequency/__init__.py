"""Bands of frequency as tokens: Laplacian and steerable pyramids, residual scales."""
