"""Which meshes stand where: copies as arrays, which of them a view may see, and one copy as it is to be drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hra.camera.matrices import view_matrix
from hra.camera.view import View
from hra.domains.meshes.allocator import Clusters, check_clusters
from hra.domains.meshes.scene.placed_camera import Eye, copies_in_view
from hra.errors import CameraError, HraError, UnitMismatch, wrong_kind
from hra.model.arrays import frozen, indices, to_numpy
from hra.model.hierarchy import Hierarchy


@dataclass(frozen=True, eq=False)
class Extent:
    """Where the surface of a mesh is, in boxes.

    Attributes
    ----------
    whole : float32 [1, 2, 3], around all of it.
    sources : float32 [S, 2, 3], around its source clusters.
    """

    whole: np.ndarray
    sources: np.ndarray

    @classmethod
    def of(cls, hierarchy: Hierarchy) -> Extent:
        """From the nested boxes of a mesh's clusters."""
        boxes = hierarchy.attribute("box")
        base = boxes[hierarchy.added_by < 0]
        whole = np.stack([base[:, 0].min(axis=0), base[:, 1].max(axis=0)])
        return cls(whole[None], boxes[hierarchy.removed_by < 0])

    @property
    def center(self) -> np.ndarray:
        """The middle of the box around everything, float64 [3]."""
        return self.whole[0].astype(np.float64).mean(axis=0)

    @property
    def radius(self) -> float:
        """From the center to a corner."""
        return float(np.linalg.norm(self.whole[0, 1].astype(np.float64) - self.center))


class Instance(NamedTuple):
    """One copy to draw: a mesh, where it stands, and which of its clusters.

    A tuple, since scenes make thousands in a frame.

    Attributes
    ----------
    number : its place in the order of the scene's placements.
    mesh : shared between copies.
    placement : float64 [4, 4], object to world.
    cut : int64 [K], numbers of clusters.

    Examples
    --------
    >>> import numpy as np, hra
    >>> from hra.domains import meshes
    >>> skull = meshes.build(hra.samples.path("skull.ply"))
    >>> scene = meshes.Scene([(skull, np.eye(4)[None])])
    >>> camera = hra.Camera.orbit(skull.bounds, azimuth=30, up=(0, 0, 1))
    >>> (instance,) = scene.realize(scene.allocate(camera, budget=2_000))
    >>> len(instance.mesh.mesh(instance.cut).triangles) <= 2_000
    True
    """

    number: int
    mesh: Clusters
    placement: np.ndarray
    cut: np.ndarray


@dataclass(frozen=True, eq=False)
class Placements:
    """Copies of meshes, one after the other.

    Attributes
    ----------
    meshes : K different ones; ``extents`` of each.
    mesh_of : int64 [B], the mesh of each copy; ``matrices`` float64 [B, 4, 4], object to world.
    centers, radii : float64 [B, 3] and [B], spheres of the world around the copies.
    """

    meshes: tuple[Clusters, ...]
    extents: tuple[Extent, ...]
    mesh_of: np.ndarray
    matrices: np.ndarray
    centers: np.ndarray
    radii: np.ndarray

    @classmethod
    def of(cls, placed: Sequence[tuple[Clusters, Any]]) -> Placements:
        """Pairs of a mesh and its placements [B, 4, 4], checked.

        Raises
        ------
        HraError : no copies; UnitMismatch : some meshes cost triangles and others bytes.
        CameraError : a placement that is not [4, 4], not finite, not affine, or singular.
        """
        if not isinstance(placed, Sequence) or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in placed):
            raise wrong_kind("placed", placed, (list, tuple), "pass [(clusters, matrices), ...]")
        for mesh, _ in placed:
            check_clusters("placed", mesh)
        checked = [(mesh, _matrices(matrices)) for mesh, matrices in placed]
        meshes = {id(mesh): mesh for mesh, matrices in checked if len(matrices)}
        _check(list(meshes.values()))
        kinds, extents = list(meshes), tuple(Extent.of(mesh.hierarchy) for mesh in meshes.values())
        mesh_of = np.concatenate(
            [np.full(len(matrices), kinds.index(id(mesh))) for mesh, matrices in checked if len(matrices)]
        )
        matrices = np.concatenate([matrices for _, matrices in checked if len(matrices)])
        middle = np.stack([extent.center for extent in extents])[mesh_of]
        centers = np.einsum("bij,bj->bi", matrices[:, :3, :3], middle) + matrices[:, :3, 3]
        stretch = np.linalg.svd(matrices[:, :3, :3], compute_uv=False)[:, 0]
        radii = np.array([extent.radius for extent in extents])[mesh_of] * stretch
        return cls(tuple(meshes.values()), extents, *map(frozen, (mesh_of, matrices, centers, radii)))


def keys_of(keys: Any, count: int) -> np.ndarray | None:
    """``keys`` as int64 [B], each once; None stays None.

    Raises
    ------
    ArrayError : not one whole number >= 0 for each copy.
    HraError : two copies have the same.
    """
    if keys is None:
        return None
    result = indices("keys", keys, 0, 2**62, count)
    if np.unique(result).size < count:
        raise HraError("two copies have the same key", where="keys", fix="give each copy a number of its own")
    return frozen(result)


def _matrices(given: Any) -> np.ndarray:
    """Placements as float64 [B, 4, 4]."""
    matrices = to_numpy(given)
    if matrices.ndim in (0, 2) and matrices.size:
        what = f"placements must be numbers [B, 4, 4], got {matrices.dtype} {list(matrices.shape)}"
        raise CameraError(what, where="placed", fix="pass a list of matrices, or matrix[None] for a single copy")
    if not len(matrices):
        return np.empty((0, 4, 4))
    if not _are_affine(matrices):  # one by one, to name what is wrong
        return np.stack([view_matrix(matrix, "placement") for matrix in matrices])
    return matrices.astype(np.float64)


def _are_affine(matrices: np.ndarray) -> bool:
    """Whether `view_matrix` certainly accepts all of them."""
    if matrices.ndim != 3 or matrices.shape[1:] != (4, 4) or matrices.dtype.kind not in "iuf":
        return False
    if not (np.isfinite(matrices).all() and (np.abs(matrices) < 1e100).all()):
        return False
    stretch = np.linalg.svd(matrices[:, :3, :3].astype(np.float64), compute_uv=False)
    return bool((matrices[:, 3] == (0, 0, 0, 1)).all() and (stretch[:, 2] > 1e-11 * stretch[:, 0]).all())


def _check(meshes: Sequence[Clusters]) -> None:
    if not meshes:
        raise HraError("a scene needs at least one instance", where="placed")
    units = sorted({mesh.hierarchy.cost_unit for mesh in meshes})
    if len(units) > 1:
        fix = "give all meshes the same cost, see with_cost"
        raise UnitMismatch("the meshes of a scene cost different things", where=", ".join(units), fix=fix)


def instances_seen(placed: Placements, views: Sequence[View]) -> np.ndarray:
    """What of each copy the ``views`` of the world may see, int8 [B]: 0 nothing, 1 something, 2 all of it.

    Conservative. By the sphere around the copy, then by the boxes around its source clusters.
    """
    seen = np.zeros(len(placed.matrices), np.int8)
    for kind, extent in enumerate(placed.extents):
        numbers = np.flatnonzero(placed.mesh_of == kind)
        for view in views:
            spheres = (placed.centers, placed.radii)
            copies_in_view(Eye.of(view.camera), placed.matrices, numbers, spheres, extent.whole, extent.sources, seen)
    return seen
