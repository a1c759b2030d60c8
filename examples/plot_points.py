"""A scan as points: full detail beside 1, 5 and 20 percent of it, chosen for one camera.

Run ``python examples/plot_points.py [FOLDER]``; the picture is written there (default: out).
"""

import sys
from pathlib import Path

import numpy as np

import hra
from hra.domains import points
from hra.files.images import save_png
from hra_lab.evaluation.points.run import lit

if __name__ == "__main__":
    tree = points.build(lit(hra.samples.path("skull.ply")))
    camera = hra.Camera.orbit(tree.bounds, azimuth=30, elevation=15, up=(0, 0, 1), viewport=(400, 300))
    allocator = points.PointAllocator(tree, points.PictureError())
    pictures = [points.render(tree.take(tree.leaves), camera)[0]]
    for share in (0.2, 0.05, 0.01):
        allocation = allocator.allocate(camera, budget=int(share * len(tree.leaves)))
        print(f"{share:.0%}: {allocation}")
        pictures.append(points.render(allocator.realize(allocation), camera)[0])
    (folder := Path(sys.argv[1] if len(sys.argv) > 1 else "out")).mkdir(parents=True, exist_ok=True)
    save_png(folder / "points_skull.png", np.hstack(pictures))
