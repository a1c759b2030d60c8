"""A mesh at every triangle budget: the clusters that one camera needs most, to be turned in the browser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.camera import Camera
from hra.domains import meshes
from hra.errors import BudgetTooSmall
from hra.pages.explore.packed import packed
from hra.pages.explore.track import STEPS, Number, budgets_between, slider, tracks

# Triangles of the largest budget: what pages of about 3 MB hold.
MOST_TRIANGLES = 60_000


def mesh_view(mesh: meshes.ClusterMesh, camera: Camera, budget: int) -> dict[str, Any]:
    """What a page needs to show a mesh at every budget, up to `MOST_TRIANGLES`.

    Parameters
    ----------
    camera : for which triangles are spent; budget : where the slider begins, one of its steps.

    Raises
    ------
    BudgetTooSmall : the coarsest cut has more triangles than a page can hold.
    """
    hierarchy = mesh.hierarchy
    largest = min(hierarchy.total_cost, MOST_TRIANGLES)
    if hierarchy.base_cost > largest:
        what = f"the coarsest cut has {hierarchy.base_cost:,.0f} triangles, a page holds {largest:,}"
        raise BudgetTooSmall(what, where="the mesh", fix="simplify it first")
    budgets = budgets_between(hierarchy.base_cost, largest, STEPS, (budget,))
    problem = meshes.MeshAllocator(mesh).problem(camera, np.inf)
    made = tracks(problem, budgets)
    drawn, number = drawn_mesh(mesh, camera, [cut for track in made for cut in track.cuts])
    return {
        **drawn,
        **slider(budgets, budget, "triangles", f"error in {problem.unit}"),
        "tracks": [track.record(number) for track in made],
    }


def drawn_mesh(mesh: meshes.ClusterMesh, camera: Camera, cuts: Sequence[np.ndarray]) -> tuple[dict[str, Any], Number]:
    """What the browser draws ``cuts`` from, and the page's numbers of clusters."""
    drawn = _Drawn.of(mesh, np.unique(np.concatenate(cuts)))
    arrays = ("positions", "corners", "offsets", "level", "error_rank")
    record = {
        "kind": "mesh",
        "name": "mesh",
        "camera": _camera(camera, mesh.bounds),
        "bounds": mesh.bounds.tolist(),
        **{name: packed(getattr(drawn, name)) for name in arrays},
    }
    return record, lambda cut: np.searchsorted(drawn.clusters, cut)


@dataclass(frozen=True, eq=False)
class _Drawn:
    """The clusters that any answer needs, with just their vertices.

    Attributes
    ----------
    clusters : int64 [C], their numbers, ascending.
    positions : uint16 [V, 3], on a grid over the mesh's bounds.
    corners : uint32 [3 T], vertices of all triangles; offsets : uint32 [C + 1], where each cluster's begin.
    level : uint8 [C]; error_rank : uint8 [C], 0 for no error to 255 for the largest.
    """

    clusters: np.ndarray
    positions: np.ndarray
    corners: np.ndarray
    offsets: np.ndarray
    level: np.ndarray
    error_rank: np.ndarray

    @classmethod
    def of(cls, mesh: meshes.ClusterMesh, clusters: np.ndarray) -> _Drawn:
        used, corners = np.unique(mesh.triangles(clusters).ravel(), return_inverse=True)
        low, high = mesh.bounds.astype(np.float64)
        grid = np.rint(65535 * (mesh.positions[used] - low) / np.maximum(high - low, 1e-30))
        sizes = 3 * mesh.triangles_per_cluster[clusters]
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.uint32)
        error = mesh.hierarchy.attribute("error")[clusters]
        rank = np.searchsorted(np.unique(error), error) / max(len(np.unique(error)) - 1, 1)
        narrow = np.uint16 if len(used) <= 65536 else np.uint32
        return cls(
            clusters,
            grid.astype(np.uint16),
            corners.astype(narrow),
            offsets,
            mesh.hierarchy.attribute("level")[clusters].astype(np.uint8),
            np.rint(255 * rank).astype(np.uint8),
        )


def _camera(camera: Camera, bounds: np.ndarray) -> dict[str, Any]:
    """Where the browser begins: an orbit around the point on the camera's axis that is nearest to the mesh's middle."""
    world = np.linalg.inv(camera.view)
    eye, ahead = np.asarray(camera.position, float), -world[:3, 2]
    target = eye + ahead * ((bounds.mean(axis=0) - eye) @ ahead)
    return {
        "eye": eye.tolist(),
        "target": target.tolist(),
        "up": world[:3, 1].tolist(),
        "focal": float(camera.projection[1, 1]),
        "viewport": list(camera.viewport),
    }
