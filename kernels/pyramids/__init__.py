"""Band-pass pyramids: Gaussian, Laplacian and steerable."""
