"""The kernels suite: pyramids, occlusion and hierarchy building against what others run."""
