"""Skins and morph targets of a glTF file at rest: where vertices are before any animation moves them.

The nodes of a skin place its vertices, and the node that shows the mesh does not (Khronos glTF 2.0, section 3.7.3.3).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from hra.domains.meshes.files.gltf_accessors import Accessors
from hra.domains.meshes.files.gltf_nodes import local_matrix
from hra.errors import FileError


def world_matrices(header: Mapping[str, Any]) -> np.ndarray:
    """The matrix of each node to the scene, float64 [N, 4, 4]; nodes are a forest."""
    nodes = header.get("nodes", [])
    matrices = np.array([local_matrix(node) for node in nodes]).reshape(-1, 4, 4)
    inner = {child for node in nodes for child in node.get("children", [])}
    pending = [number for number in range(len(nodes)) if number not in inner]
    while pending:
        number = pending.pop()
        for child in nodes[number].get("children", []):
            matrices[child] = matrices[number] @ matrices[child]
            pending.append(child)
    return matrices


def joint_matrices(accessors: Accessors, skin: int) -> np.ndarray:
    """Matrices float64 [J, 4, 4] of a skin at rest, from the mesh to the scene.

    Raises
    ------
    FileError : fewer inverse matrices than joints.
    """
    joints = accessors.header["skins"][skin]["joints"]
    return world_matrices(accessors.header)[joints] @ _inverse_bind(accessors, skin)


def joint_pivots(accessors: Accessors, skin: int) -> np.ndarray:
    """Where the joints of a skin are in the mesh when it is bound, float64 [J, 3]."""
    inverse = _inverse_bind(accessors, skin)
    return -np.einsum("jab,jb->ja", np.linalg.pinv(inverse[:, :3, :3]), inverse[:, :3, 3])


def _inverse_bind(accessors: Accessors, skin: int) -> np.ndarray:
    entry = accessors.header["skins"][skin]
    count = len(entry["joints"])
    if "inverseBindMatrices" not in entry:
        return np.tile(np.eye(4), (count, 1, 1))
    found = accessors.scale(entry["inverseBindMatrices"])
    if found.shape[1] != 16 or len(found) < count:
        where = f"{accessors.views.where}, skins[{skin}]"
        raise FileError("a skin has fewer inverse bind matrices than joints", where=where)
    return found[:count].astype(np.float64).reshape(-1, 4, 4).transpose(0, 2, 1)


def influences(accessors: Accessors, primitive: Mapping[str, Any], where: str) -> Iterator[tuple[np.ndarray, ...]]:
    """Joints int64 [V] and weights float64 [V] of a primitive, one influence after the other; weights sum up to 1.

    Raises
    ------
    FileError : joints without weights, or the other way round.
    """
    used = primitive["attributes"]
    joints, weights = (
        [accessors.array(used[key]) if stem == "JOINTS" else accessors.scale(used[key]) for key in keys]
        for stem in ("JOINTS", "WEIGHTS")
        for keys in [sorted(key for key in used if key.partition("_")[0] == stem)]
    )
    if len(joints) != len(weights):
        raise FileError("a skinned primitive has other joints than weights", where=where)
    total = sum((array.astype(np.float64).sum(axis=1) for array in weights), np.zeros(1))
    for numbers, shares in zip(joints, weights, strict=True):
        for column in range(numbers.shape[1]):
            # Without any weight the first joint has all, as in viewers.
            whole = 1.0 if numbers is joints[0] and column == 0 else 0.0
            share = np.divide(shares[:, column], total, out=np.full(len(shares), whole), where=total > 0)
            yield numbers[:, column].astype(np.int64), share


def skinned(matrices: np.ndarray, parts: Iterator[tuple[np.ndarray, ...]], count: int, where: str) -> np.ndarray:
    """The matrix of each of ``count`` vertices, float64 [V, 4, 4], from joint ``matrices`` [J, 4, 4] by influence.

    Raises
    ------
    FileError : a joint that the skin does not have.
    """
    blended, any_part = np.zeros((count, 4, 4)), False
    for joints, weights in parts:
        used = weights > 0
        if used.any() and joints[used].max() >= len(matrices):
            what = f"a vertex names joint {joints[used].max()}, but the skin has {len(matrices)}"
            raise FileError(what, where=where)
        blended[used] += weights[used, None, None] * matrices[joints[used]]
        any_part = True
    return blended if any_part else np.tile(np.eye(4), (count, 1, 1))


def transformed(points: np.ndarray, matrices: np.ndarray) -> np.ndarray:
    """Points [V, 3], each by its own of the ``matrices`` [V, 4, 4]."""
    return np.einsum("vij,vj->vi", matrices[:, :3, :3], points) + matrices[:, :3, 3]


def morphed(accessors: Accessors, primitive: Mapping[str, Any], weights: list[float], name: str) -> np.ndarray | None:
    """What the targets add to attribute ``name`` at rest, float64 [V, 3]; None for nothing."""
    total = None
    for target, weight in zip(primitive.get("targets", []), weights, strict=False):
        if weight and name in target:
            moved = weight * accessors.scale(target[name]).astype(np.float64)
            total = moved if total is None else total + moved
    return total
