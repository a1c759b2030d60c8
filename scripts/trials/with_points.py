"""A cloud through a LAZ file, and a cut of it."""

import tempfile
from pathlib import Path

import numpy as np

import hra
from hra.domains import points

cloud = points.PointCloud(np.random.default_rng(0).random((500, 3)))
with tempfile.TemporaryDirectory() as folder:
    points.save_points(Path(folder, "a.laz"), cloud)
    read = points.load_points(Path(folder, "a.laz"))
apart = abs(read.positions[:, None] - cloud.positions).max(axis=2)  # COPC has an order of its own
assert len(read.positions) == 500 and apart.min(axis=1).max() < 0.01
tree = points.build(read)
camera = hra.Camera.orbit(tree.bounds, azimuth=30)
assert points.PointAllocator(tree).allocate(camera, 100).cost <= 100
