"""A chain of levels for programs that know no clusters: best from all sides, with distances to switch at.

Run ``python examples/mesh_lod_chain.py [FOLDER]``; the levels are written there as GLB, and a plot
(default: out).
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import hra
from hra.domains import meshes


def main(folder: Path) -> None:
    """Cut five levels, export them, and let a camera move away."""
    chain = meshes.lod_chain(hra.samples.path("skull.ply"), [1, 0.5, 0.25, 0.1, 1000])
    lens = {"vertical_fov_degrees": 60, "viewport": (1920, 1080)}
    distances = chain.switch_distances(pixels=1.0, **lens)
    for mesh, error, distance in zip(chain.levels, chain.errors, distances, strict=True):
        millimetres = f"no point farther than {1000 * error:.2f} mm"
        print(f"{len(mesh.triangles):6,} triangles: {millimetres}, one pixel at most from {distance:.1f} m on")

    figure = Figure(figsize=(7, 3.6), layout="constrained")
    axes = figure.subplots()
    axes.plot([len(mesh.triangles) for mesh in chain.levels[1:]], distances[1:], "o-")
    axes.set(xscale="log", yscale="log", xlabel="triangles of the level", ylabel="drawn from here on, m")
    axes.set_title("where a level is off by one pixel at most")
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "mesh_lod_chain.png", dpi=100)

    paths = chain.export(folder, stem="skull_lod")
    chain.export_one(folder / "skull_lods.glb")
    sizes = sum(path.stat().st_size for path in paths), (folder / "skull_lods.glb").stat().st_size
    print(f"{len(paths)} files of {sizes[0]:,} bytes, or one of {sizes[1]:,}")

    for distance in (0.5, 3, 20, 100):
        eye = chain.center + np.array([0, -distance, 0])
        camera = hra.Camera.perspective(eye, chain.center, up=(0, 0, 1), **lens)
        print(f"from {distance} m: level {chain.by_pixels(camera, pixels=1.0)}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
