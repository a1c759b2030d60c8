"""One fovea, two domains: a gaze spends the triangles of a mesh and the tokens of a photo.

Run ``python examples/plot_foveated_mesh_and_tokens.py [FOLDER]``; the picture is written there (default: out).
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import hra
from hra import samples
from hra.domains import meshes, tokens
from hra.files.images import load_image

MESH_GAZE, DEGREE = (470, 350), 12.0  # on the teeth; pixels of a degree


def cuts(clusters, camera):
    """The same budget without and with a gaze."""
    allocator = meshes.MeshAllocator(clusters)
    for view in (camera, meshes.View(camera, hra.Eccentricity(MESH_GAZE, pixels_per_degree=DEGREE))):
        yield allocator.allocate(view, 4_000)


def token_sets(image):
    """273 tokens without and with a fixation."""
    for method in (tokens.EvenPyramid(), tokens.FoveatedPyramid(field_of_view=60)):
        yield method.realize(method.allocate((image, "what is at the left?"), 273))


def main(folder: Path) -> None:
    """Above the mesh, below the photo; on the left everything counts alike, on the right the gaze decides."""
    folder.mkdir(parents=True, exist_ok=True)
    clusters, image = meshes.build(samples.path("skull.ply")), load_image(samples.path("photo.jpg"))
    camera = hra.Camera.orbit(clusters.bounds, azimuth=35, elevation=15, up=(0, 0, 1), viewport=(720, 480))
    figure = Figure(figsize=(12, 8.6), layout="constrained")
    above, below = figure.subplots(2, 2, subplot_kw={"xticks": [], "yticks": []})
    for axes, allocation, name in zip(above, cuts(clusters, camera), ("no gaze", "gaze on the teeth"), strict=True):
        axes.imshow(meshes.render(clusters, allocation.cut, camera, "level"))
        axes.set_title(f"{name}: {allocation.cost:,.0f} triangles, by level")
        print(f"mesh, {name}: {allocation}")
    above[1].plot(*MESH_GAZE, "w+", markersize=14)
    for axes, chosen, name in zip(below, token_sets(image), ("no fixation", "a fixation"), strict=True):
        axes.imshow(tokens.overlay(image, chosen))
        finest = np.mean(chosen.places[:, 0] <= 1)
        axes.set_title(f"{name}: {len(chosen)} tokens, {finest:.0%} of the two finest levels")
        print(f"tokens, {name}: {len(chosen)} tokens, {finest:.0%} of the two finest levels")
    figure.savefig(folder / "foveated.png", dpi=90)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
