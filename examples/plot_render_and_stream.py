"""Frames on a GPU: a walk through rooms with occlusion culling, and a teleport in a streamed mesh. Needs OpenGL.

Above, a walk through sixteen rooms: shaded, by cluster, and how often each pixel is drawn with and without culling.
Below, how far a streamed mesh is from full detail in the frames after a teleport, for three upload limits.
Run ``python examples/plot_render_and_stream.py [FOLDER]``; pictures are written there (default: out).
"""

import sys
from pathlib import Path

from matplotlib.figure import Figure

import hra
from hra.domains import meshes
from hra_lab.inputs import rooms

SIZE = (320, 180)


def walk(frames=(4, 12, 37, 52)):
    """Four pictures of some frames of a walk, and the triangles of each."""
    house = rooms.interior()
    scene, strip, facts = meshes.Scene(house.placed), [], []
    with meshes.Renderer(scene, SIZE) as renderer:
        for number, camera in enumerate(house.walk(max(frames) + 1, 1, SIZE)):
            allocation = scene.allocate(camera, budget=200_000)
            fact = renderer.draw(camera, allocation)
            if number not in frames:
                continue
            column = [renderer.picture(coloring) for coloring in ("shaded", "cluster", "overdraw")]
            renderer.draw(camera, allocation, "none")
            strip.append([*column, renderer.picture("overdraw")])
            facts.append(fact)
    return strip, facts


def after_teleports(asset, limit, frames=16):
    """Mean FLIP of the frames after a jump to the other side of a mesh, of which a third fits into the pool."""
    turns = [30] * 24 + [210] * frames
    views = [hra.Camera.orbit(asset.bounds, turn, distance=1.45, up=(0, 0, 1), viewport=SIZE) for turn in turns]
    pool = len(asset.page_bytes) // 3 * asset.slot_bytes
    flight = meshes.fly(asset, views, pool, upload_bytes=limit * asset.slot_bytes)
    return [frame.difference.flip for frame in flight if frame.difference][24:]


if __name__ == "__main__":
    (folder := Path(sys.argv[1] if len(sys.argv) > 1 else "out")).mkdir(parents=True, exist_ok=True)
    strip, facts = walk()
    figure = Figure(figsize=(11, 9.2), layout="constrained")
    grid = figure.add_gridspec(2, 1, height_ratios=[3.4, 1])
    film, plot = figure.add_subfigure(grid[0]), figure.add_subfigure(grid[1])
    axes = film.subplots(4, len(strip))
    for column, (pictures, fact) in enumerate(zip(strip, facts, strict=True)):
        for row, (ax, picture) in enumerate(zip(axes[:, column], pictures, strict=True)):
            ax.imshow(picture)
            ax.set(xticks=[], yticks=[])
            if column == 0:
                ax.set_ylabel(("shaded", "clusters", "overdraw, culled", "overdraw, all")[row])
        saved = 1 - fact.drawn / fact.in_frustum
        axes[0, column].set_title(f"{fact.drawn:,} of {fact.in_frustum:,} triangles", fontsize="medium")
        print(f"{fact.drawn:,} of {fact.in_frustum:,} triangles in the frustum are drawn: {saved:.0%} saved")
    lines = plot.subplots()
    lump = meshes.build(rooms.lump(80, seed=7), certified=False)
    lump.save(folder / "lump.hra", grid_bits=16)
    asset = meshes.open_asset(folder / "lump.hra")
    for limit in (1, 2, 4):
        flips = after_teleports(asset, limit)
        lines.plot(flips, "o-", label=f"{limit} pages per frame")
        print(
            f"{limit} pages a frame: FLIP {flips[0]:.3f} after the jump, {flips[-1]:.3f} after {len(flips) - 1} frames"
        )
    lines.set(xlabel="frames after a teleport", ylabel="FLIP, full detail", ylim=(0, None))
    lines.legend()
    figure.savefig(folder / "render_and_stream.png", dpi=90)
