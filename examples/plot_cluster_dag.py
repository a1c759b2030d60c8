"""The graph of cluster groups: which steps of simplification a budget undoes, and what each builds on.

Run ``python examples/plot_cluster_dag.py [FOLDER]``; the picture is written there (default: out).
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

import hra
from hra import samples
from hra.domains import meshes


def places(clusters):
    """A place [R, 2] for each refinement: along the skull, where its clusters are, and its depth in the graph."""
    hierarchy = clusters.hierarchy
    depth = np.repeat(np.arange(len(hierarchy.level_offsets) - 1), np.diff(hierarchy.level_offsets))
    first, added = hierarchy.added_nodes
    along = hierarchy.attribute("center")[added, np.argmax(np.ptp(clusters.bounds, axis=0))]
    return np.column_stack([np.add.reduceat(along, first[:-1]) / np.diff(first), depth])


def main(folder: Path) -> None:
    """Two budgets of the skull: the graph with what they take, and the cut."""
    folder.mkdir(parents=True, exist_ok=True)
    clusters = meshes.build(samples.path("skull.ply"))
    hierarchy, at = clusters.hierarchy, places(clusters)
    first, before = hierarchy.predecessors
    after = np.repeat(np.arange(len(hierarchy)), np.diff(first))
    size = np.ptp(clusters.bounds, axis=0).max()
    view = {"azimuth": 35, "elevation": 15, "up": (0, 0, 1), "viewport": (640, 440)}
    camera = hra.Camera.orbit(clusters.bounds, distance=0.95 * size, **view)
    figure = Figure(figsize=(14, 8), layout="constrained")
    for row, budget in zip(figure.subplots(2, 2, width_ratios=(2, 1)), (3_000, 12_000), strict=True):
        allocation = meshes.MeshAllocator(clusters).allocate(camera, budget)
        taken = allocation.selected
        row[0].add_collection(LineCollection([*np.stack([at[before], at[after]], axis=1)], color="0.6", linewidth=0.2))
        row[0].scatter(*at[~taken].T, s=5, color="0.7")
        row[0].scatter(*at[taken].T, s=9, color="#d55e00")
        row[0].set(ylabel="depth in the graph", xlabel="place along the skull", xticks=[])
        row[0].set_title(f"{taken.sum()} of {taken.size} groups refined")
        row[0].invert_yaxis()
        row[1].imshow(meshes.render(clusters, allocation.cut, camera, "cluster"))
        row[1].set_title(f"{allocation.cost:,.0f} triangles in {allocation.cut.size} clusters")
        row[1].axis("off")
        print(f"{budget:,} triangles: {taken.sum()} of {taken.size} groups refined")
    figure.savefig(folder / "cluster_dag.png", dpi=90)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
