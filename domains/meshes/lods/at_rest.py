"""Where a glTF scene shows its meshes at rest, and how far their levels are from them there.

A skin moves every vertex by a matrix of its own, and targets that are set move each by a distance of its own, so these
meshes are measured as they are posed. What lies beside a mesh in one place need not lie beside it in another, so there
it is measured alone: in the places that enlarge it most, and for all others by the largest singular value of a matrix,
by which it lengthens distances at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hra.domains.meshes.distances.two_sided import hausdorff_bound
from hra.domains.meshes.files.gltf_nodes import local_matrices, scene_nodes
from hra.domains.meshes.files.gltf_poses import influences, joint_matrices, morphed, skinned, transformed
from hra.domains.meshes.files.gltf_scene import GltfScene, Place
from hra.domains.meshes.mesh.triangle_mesh import TriangleMesh

# A mesh is measured in this many places of different sizes, the largest first.
_MEASURED = 4
# What rounding adds to distances in another place.
_ROUNDING = 1 + 2.0**-20


class Pose(NamedTuple):
    """One way in which nodes show a mesh.

    skin : number, or None; weights : those of its morph targets, empty where none is set; matrices : float64 [n, 4, 4]
    to the scene from where these leave the mesh; a skin's is the identity.
    """

    skin: int | None
    weights: tuple[float, ...]
    matrices: np.ndarray

    @property
    def rigid(self) -> bool:
        """Whether its matrices say all."""
        return self.skin is None and not self.weights

    def shows(self, matrix: np.ndarray) -> np.ndarray:
        """Whether each of its places is that of a matrix [4, 4], bool [n]."""
        return (self.matrices == matrix).all(axis=(1, 2))


def poses(scene: GltfScene) -> dict[int, list[Pose]]:
    """How the scenes show each mesh, by its number.

    Raises
    ------
    FileError : a rotation of an instance has no length.
    """
    header = scene.accessors.header
    found: dict[int, dict[tuple[int | None, tuple[float, ...]], list[np.ndarray]]] = {}
    for number, outer in scene_nodes(header):
        node, where = header["nodes"][number], f"{scene.where}, nodes[{number}]"
        weights = node.get("weights", header["meshes"][node["mesh"]].get("weights", []))
        way = node.get("skin"), tuple(weights) if any(weights) else ()
        own = found.setdefault(node["mesh"], {}).setdefault(way, [])
        if "skin" not in node:
            own.append(outer @ local_matrices(scene.accessors, node, where))
        elif not own:
            own.append(np.eye(4)[None])
    return {
        mesh: [Pose(skin, weights, np.concatenate(matrices)) for (skin, weights), matrices in own.items()]
        for mesh, own in found.items()
    }


def posed(scene: GltfScene, place: Place, pose: Pose, rows: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Points float64 [n, 3] of a primitive, like its vertices ``rows``, where targets and skin move them.

    Raises
    ------
    FileError : a joint that the skin does not have, or joints without weights.
    """
    accessors, primitive = scene.accessors, scene.primitive(place)
    where = f"{scene.where}, meshes[{place[0]}].primitives[{place[1]}]"
    more = morphed(accessors, primitive, list(pose.weights), "POSITION")
    points = points if more is None else points + more[rows]
    if pose.skin is None:
        return points
    count = len(accessors.array(primitive["attributes"]["POSITION"]))
    joints = joint_matrices(accessors, pose.skin)
    return transformed(points, skinned(joints, influences(accessors, primitive, where), count, where)[rows])


class Surface(NamedTuple):
    """A mesh of a scene and its levels.

    Attributes
    ----------
    places : primitives of the scene.
    number, row : of each vertex [V] its primitive among these, and the vertex there that it is like.
    points : float64 [V, 3] in the space of the primitive.
    source, levels : triangles int64 [F, 3] of the mesh and of its levels, fine to coarse.
    """

    places: Sequence[Place]
    number: np.ndarray
    row: np.ndarray
    points: np.ndarray
    source: np.ndarray
    levels: Sequence[np.ndarray]


def distances_alone(scene: GltfScene, surface: Surface, ways: Sequence[Pose]) -> np.ndarray:
    """Bounds on how far levels of one mesh are from it in all places of these poses, float64 [L]."""
    found = np.zeros(len(surface.levels))
    parts = surface.source, *surface.levels
    used, flat = np.unique(np.concatenate(parts), return_inverse=True)
    triangles = np.split(flat.reshape(-1, 3).astype(np.uint32), np.cumsum([len(one) for one in parts])[:-1])
    number, row = surface.number[used], surface.row[used]
    for pose in ways:
        points = surface.points[used]
        for k in np.unique(number).tolist():
            own = number == k
            points[own] = posed(scene, surface.places[k], pose, row[own], points[own])
        linear = pose.matrices[:, :3, :3]
        # Lengths, and so distances, are the same where the products with the transpose are.
        lengths = np.einsum("nij,nik->njk", linear, linear).astype(np.float32).reshape(-1, 9)
        linear = linear[np.unique(lengths, axis=0, return_index=True)[1]]
        largest = np.linalg.norm(linear, 2, axis=(1, 2))
        order = np.argsort(-largest)
        bounds = [_distances(points @ one.T, triangles) for one in linear[order[:_MEASURED]]]
        bounds += [most * _distances(points, triangles) for most in largest[order[_MEASURED : _MEASURED + 1]]]
        found = np.maximum(found, _ROUNDING * np.max(bounds, axis=0))
    return found


def _distances(points: np.ndarray, triangles: Sequence[np.ndarray]) -> np.ndarray:
    """Bounds on the distances of the first ``triangles`` of points float64 [V, 3] from the others, float64 [L]."""
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    source, *levels = [TriangleMesh((points - middle).astype(np.float32), one) for one in triangles]
    return np.array([hausdorff_bound(source, level) for level in levels])
