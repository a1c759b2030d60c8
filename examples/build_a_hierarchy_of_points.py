"""A million points in an octree whose cells show the mean of what lies below, drawn with three budgets of points."""

import sys
from pathlib import Path

import numpy as np

import hra
from hra import samples
from hra.domains import meshes
from hra.files.images import save_png
from hra.kernels.trees import build_tree, reduce_up, spheres_up


class Spread(hra.ErrorMetric):
    """Squared pixels from the points below a node to their mean, summed; the context is a camera."""

    def evaluate(self, hierarchy, context):
        """The spread of every node [N] at the largest scale in its sphere; spheres nest, so it never grows."""
        pixels = context.visible_pixels_per_unit(hierarchy.attribute("center"), hierarchy.attribute("radius"))
        return hierarchy.attribute("spread") * pixels**2


class Splats(hra.HierarchicalResourceAllocator):
    """Draws the cut as grey squares about as wide as what they stand for, from far to near."""

    def realize(self, allocation):
        """A picture uint8 [640, 640]."""
        camera, mean = allocation.context, allocation.problem.hierarchy.attribute("mean")[allocation.cut]
        pixels, depth, _ = camera.project(mean[:, :3])
        half = (1.4 * mean[:, 6] * camera.pixels_per_unit(mean[:, :3], 0 * depth)).clip(1, 9).astype(int)[:, None]
        square = np.mgrid[-half.max() : half.max() + 1, -half.max() : half.max() + 1].reshape(2, 1, -1)
        order, picture = np.argsort(-depth), np.full((640, 640), 20, np.uint8)
        x, y = (pixels.T[:, order, None].astype(int) + square.clip(-half[order], half[order])).clip(0, 639)
        picture[y, x] = 40 + 215 * np.abs(mean[order, 3:6] @ camera.view[2, :3])[:, None]
        return picture


if __name__ == "__main__":
    folder, rng = Path(sys.argv[1] if len(sys.argv) > 1 else "out"), np.random.default_rng(0)
    folder.mkdir(parents=True, exist_ok=True)
    mesh = meshes.load(samples.path("skull.ply"))
    corners = mesh.positions[mesh.triangles[rng.integers(0, len(mesh.triangles), 1_000_000)]] - mesh.bounds.mean(axis=0)
    points = (corners * rng.dirichlet((1, 1, 1), len(corners))[:, :, None]).sum(axis=1)
    normal = np.cross(*np.diff(corners, axis=1).swapaxes(0, 1))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True).clip(1e-30)
    built = build_tree(points)
    mean = reduce_up(built.tree, np.column_stack([points, normal, (points**2).sum(axis=1)]), "mean")
    center, radius = spheres_up(built.tree, points.astype(np.float32))
    count = built.end - built.begin
    mean[:, 6] = np.sqrt(np.where(count > 1, mean[:, 6] - (mean[:, :3] ** 2).sum(axis=1), 0).clip(0))
    shown = {"center": center, "radius": radius, "mean": mean, "spread": mean[:, 6] ** 2 * count}
    hierarchy = hra.Hierarchy.tree(built.tree.parent, np.ones(len(mean)), attributes=shown, cost_unit="points")
    camera = hra.Camera.orbit((points.min(axis=0), points.max(axis=0)), 40, 15, up=(0, 0, 1), viewport=(640, 640))
    splats = Splats(hierarchy, Spread(), hra.Hull())
    allocations = [splats.allocate(camera, n) for n in (5_000, 50_000, np.inf)]
    print(hierarchy, *allocations, sep="\n")
    save_png(folder / "points.png", np.hstack([*map(splats.realize, allocations)]))
