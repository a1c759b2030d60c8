"""One scan, one budget, with and without a map of what is looked at: where detail goes, and what is left there.

The map is a coarse grid of weights, as from a model or an eye tracker; the largest that a part touches counts.
Run ``python examples/plot_mesh_importance.py [FOLDER]``; the picture is written there (default: out).
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import hra
from hra import samples
from hra.camera import ImportanceMap, View
from hra.domains import meshes

TEETH = slice(210, 420), slice(260, 566)  # the part of the picture that is shown
ROW, COLUMN = np.mgrid[:22, :32]
LOOKED_AT = np.exp(-((ROW - 17) ** 2 + (COLUMN - 25) ** 2) / 4).clip(0.01)


def main(folder: Path) -> None:
    """The two cuts beside the map, and how far the source is from them."""
    folder.mkdir(parents=True, exist_ok=True)
    skull = meshes.build(samples.path("skull.ply"))
    place = {"distance": 0.95 * np.ptp(skull.bounds, axis=0).max(), "azimuth": 35, "elevation": 15, "up": (0, 0, 1)}
    camera = hra.Camera.orbit(skull.bounds, viewport=(640, 440), **place)
    figure = Figure(figsize=(14, 3.9), layout="constrained")
    first, *others = figure.subplots(1, 3)
    first.set_title("what is looked at")
    first.imshow(meshes.render(skull, np.flatnonzero(skull.hierarchy.removed_by < 0), camera))
    first.imshow(LOOKED_AT, extent=(0, 640, 440, 0), cmap="magma", alpha=0.55, interpolation="nearest")
    contexts = {"without the map": camera, "with the map": View(camera, importance=ImportanceMap(LOOKED_AT))}
    for axes, (name, context) in zip(others, contexts.items(), strict=True):
        allocation = meshes.MeshAllocator(skull, traversal=hra.Exact()).allocate(context, budget=2_000)
        there, elsewhere = displacements(skull, allocation.cut, camera)
        axes.set_title(f"{allocation.cost:,.0f} triangles {name}:\n{there:.2f} px there, {elsewhere:.2f} px elsewhere")
        axes.imshow(meshes.render(skull, allocation.cut, camera)[TEETH])
        print(f"{allocation.cost:,.0f} triangles {name}: {there:.3f} px there, {elsewhere:.3f} px elsewhere")
    for axes in (first, *others):
        axes.axis("off")
    figure.savefig(folder / "mesh_importance.png", dpi=90)


def displacements(skull: meshes.ClusterMesh, cut: np.ndarray, camera: hra.Camera) -> list[float]:
    """Root mean square distance in pixels of the source from a cut: where weights are above a half, and elsewhere."""
    source, mesh = skull.mesh(np.flatnonzero(skull.hierarchy.removed_by < 0)), skull.mesh(cut)
    points = meshes.surface_points(source, 20_000, np.random.default_rng(0))
    column, row = (camera.project(points).pixels / 20).clip(0, (31, 21)).astype(int).T
    scale = camera.visible_pixels_per_unit(points, np.zeros(len(points)), np.ones(len(points), bool))
    pixels = scale * meshes.nearest_distances(points, mesh.positions, mesh.triangles)
    matters = LOOKED_AT[row, column] > 0.5
    return [float(np.sqrt(np.mean(pixels[part & (scale > 0)] ** 2))) for part in (matters, ~matters)]


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
