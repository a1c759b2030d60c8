"""A slow zoom: what pops from frame to frame, for cluster cuts and for a chain of separate meshes. Needs OpenGL.

The camera's own motion does not count: this frame's surface and the last one's are both drawn by this frame's camera.
Thresholds go by the simplifier's estimate, because the chain has no other error.
Run ``python examples/plot_mesh_zoom.py [FOLDER]``; the picture is written there (default: out).
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import hra
from hra import samples
from hra.domains import meshes
from hra.kernels import raster
from hra_lab.evaluation.meshes.views import draw


def shaded(context, mesh, camera):
    """A grey image, lit from the eye."""
    view = draw(context, mesh, camera)
    return np.where(view.covered, 0.2 + 0.8 * np.abs(view.normal @ camera.view[2, :3]), 0)


def cuts(cameras, allocator, budget):
    """The surface for each camera, every cut knowing the one before."""
    last = None
    for camera in cameras:
        last = allocator.allocate(camera, budget, previous=last)
        yield allocator.realize(last)


if __name__ == "__main__":
    (folder := Path(sys.argv[1] if len(sys.argv) > 1 else "out")).mkdir(parents=True, exist_ok=True)
    source = meshes.load(samples.path("skull.ply"))
    clusters, chain, size = meshes.build(source), meshes.build_discrete(source), np.ptp(source.bounds, axis=0).max()
    orbit = {"azimuth": 30, "elevation": 10, "up": (0, 0, 1), "viewport": (480, 360), "reversed_depth": True}
    cameras = [hra.Camera.orbit(source.bounds, distance=d, **orbit) for d in np.geomspace(4 * size, 0.6 * size, 100)]
    drawn = {"discrete chain, 0.5 px": [chain.levels[chain.by_pixels(camera, 0.5)] for camera in cameras]}
    still = hra.Coherent(hra.Hull(), hysteresis=0.5)
    for name, traversal in {"0.5 px": hra.Threshold(0.5), "budget": hra.Hull(), "budget, hysteresis": still}.items():
        allocator = meshes.MeshAllocator(clusters, meshes.ScreenError("quadric"), traversal)
        drawn[f"clusters, {name}"] = list(cuts(cameras, allocator, 10_000 if "budget" in name else np.inf))
    above, below = (figure := Figure(figsize=(9, 6), layout="constrained")).subplots(2, 1, sharex=True)
    context = raster.Context()
    for (name, surfaces), marker in zip(drawn.items(), "sov^", strict=True):
        pops = np.zeros(len(cameras))
        for i in range(1, len(cameras)):
            now, last = (shaded(context, surfaces[k], cameras[i]) for k in (i, i - 1))
            pops[i] = np.abs(now - last).sum() / np.count_nonzero(now)
        above.plot(np.where(pops > 0, 100 * pops, np.nan), marker, label=name, markersize=4)
        below.plot([len(surface.triangles) for surface in surfaces], label=name)
        print(f"{name}: largest pop {pops.max():.2%}, all together {pops.sum():.2%}")
    above.set(yscale="log", ylabel="change of the mesh's grey levels\nby a new surface, percent")
    below.set(yscale="log", xlabel="frame of a zoom from 4 sizes away to 0.6", ylabel="triangles drawn")
    below.legend()
    figure.savefig(folder / "mesh_zoom.png", dpi=90)
