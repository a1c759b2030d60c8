"""The nodes of a glTF file: a forest, and the places where each mesh is shown (Khronos glTF 2.0, section 3.5).

A node may show its mesh in many places (extension EXT_mesh_gpu_instancing). Parsed meshes are moved there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from hra.domains.meshes.files.gltf_accessors import Accessors
from hra.domains.meshes.files.parsed import Parsed
from hra.domains.meshes.files.structure import Misfit, index, mapping, record
from hra.domains.meshes.mesh.attributes import VertexAttributes
from hra.errors import FileError
from hra.files.limits import Limits

# What nodes without these words say.
REST = {"translation": (0, 0, 0), "rotation": (0, 0, 0, 1), "scale": (1, 1, 1)}
# How far Khronos' validator lets the length of a rotation be from 1.
_UNIT = 0.00769
NAME = "EXT_mesh_gpu_instancing"
_RECORD = record(
    {"attributes": mapping(index("accessors"), r"_.*|TRANSLATION|ROTATION|SCALE", 1)}, required=["attributes"]
)
_BYTE, _SHORT, _FLOAT = 5120, 5122, 5126
_FORMATS = {
    "TRANSLATION": ("VEC3", {(_FLOAT, False)}),
    "ROTATION": ("VEC4", {(_FLOAT, False), (_BYTE, True), (_SHORT, True)}),
    "SCALE": ("VEC3", {(_FLOAT, False)}),
}


def check_nodes(header: dict[str, Any], limits: Limits, where: str) -> None:
    """Refuse nodes that form no forest, scenes that begin within a tree that moves them, and transforms that are none.

    Raises
    ------
    FileError : names the node; LimitExceeded : nodes within nodes beyond ``limits.node_depth``.
    """
    nodes = header.get("nodes", [])
    parent = [-1] * len(nodes)
    for number, node in enumerate(nodes):
        _check_transform(node, f"{where}, nodes[{number}]")
        for child in node.get("children", []):
            if parent[child] >= 0:
                raise FileError(f"node {child} has two parents", where=f"{where}, nodes[{number}]")
            parent[child] = number
    visited = 0
    pending = [(number, 1) for number in range(len(nodes)) if parent[number] < 0]
    while pending:
        number, depth = pending.pop()
        visited += 1
        limits.check("node_depth", depth, f"{where}, nodes[{number}]")
        pending += [(child, depth + 1) for child in nodes[number].get("children", [])]
    if visited < len(nodes):
        raise FileError("some nodes are their own ancestors", where=f"{where}, nodes")
    for number, scene in enumerate(header.get("scenes", [])):
        _check_roots(scene.get("nodes", []), parent, nodes, f"{where}, scenes[{number}]")


def _check_roots(roots: list[int], parent: list[int], nodes: list[dict[str, Any]], where: str) -> None:
    """Refuse ``roots`` of a scene that have parents, unless these are elsewhere and move nothing (UniGLTF)."""
    listed, still = set(roots), set[int]()
    for root in roots:
        above = parent[root]
        while above >= 0 and above not in still:
            if above in listed:
                raise FileError(f"node {root} of a scene is below its node {above}, too", where=where)
            if not np.array_equal(local_matrix(nodes[above]), np.eye(4)):
                raise FileError(f"node {root} of a scene has a parent that moves it, node {above}", where=where)
            still.add(above)
            above = parent[above]


def _check_transform(node: dict[str, Any], where: str) -> None:
    if "matrix" in node:
        if node["matrix"][3::4] != [0, 0, 0, 1]:
            raise FileError("the last row of a matrix is not 0 0 0 1", where=where)
        if REST.keys() & node:
            raise FileError("a node has a matrix and a translation, rotation or scale", where=where)
    length = np.linalg.norm(node.get("rotation", REST["rotation"]))
    if abs(length - 1) > _UNIT:
        raise FileError(f"a rotation has the length {length:g}, not 1", where=where, fix="export it again")


def shown(header: dict[str, Any]) -> Iterator[tuple[int, np.ndarray]]:
    """Number and matrix float64 [4, 4] to the scene of each node of the first scene that has a mesh, depth first."""
    scenes = header.get("scenes")
    return _below(header, scenes[header.get("scene", 0)].get("nodes", []) if scenes else None)


def scene_nodes(header: dict[str, Any]) -> Iterator[tuple[int, np.ndarray]]:
    """The same of all scenes, each node once."""
    scenes = header.get("scenes")
    roots = dict.fromkeys(root for scene in scenes for root in scene.get("nodes", [])) if scenes else None
    return _below(header, None if roots is None else list(roots))


def _below(header: dict[str, Any], roots: list[int] | None) -> Iterator[tuple[int, np.ndarray]]:
    nodes = header.get("nodes", [])
    if roots is None:
        inner = {child for node in nodes for child in node.get("children", [])}
        roots = [number for number in range(len(nodes)) if number not in inner]
    pending = [(number, np.eye(4)) for number in reversed(roots)]
    while pending:
        number, outer = pending.pop()
        matrix = outer @ local_matrix(nodes[number])
        if "mesh" in nodes[number]:
            yield number, matrix
        pending += [(child, matrix) for child in reversed(nodes[number].get("children", []))]


def local_matrix(node: dict[str, Any]) -> np.ndarray:
    """The matrix float64 [4, 4] of a node to the one above it."""
    if "matrix" in node:
        return np.array(node["matrix"], np.float64).reshape(4, 4).T
    place, rotation, scale = (np.array(node.get(name, REST[name]), np.float64) for name in REST)
    matrix = np.eye(4)
    matrix[:3, :3] = rotation_matrices(rotation[None] / np.linalg.norm(rotation))[0] * scale
    matrix[:3, 3] = place
    return matrix


def check_instancing(header: dict[str, Any], where: str) -> None:
    """Refuse instances whose accessors have other formats or counts than the extension allows.

    Raises
    ------
    FileError : names the node.
    """
    for number, node in enumerate(header.get("nodes", [])):
        entry, place = node.get("extensions", {}).get(NAME), f"{where}, nodes[{number}]"
        if entry is None:
            continue
        try:
            _RECORD(entry, header)
        except Misfit as misfit:
            raise FileError(f"{NAME} is wrong: {misfit.what}", where=f"{place}, {misfit.place}") from misfit
        _check_formats(header, entry["attributes"], place)


def _check_formats(header: dict[str, Any], attributes: dict[str, int], where: str) -> None:
    used = {name: header["accessors"][number] for name, number in attributes.items()}
    for name, (kind, formats) in _FORMATS.items():
        accessor = used.get(name, {"type": kind, "componentType": _FLOAT})
        if accessor["type"] != kind or (accessor["componentType"], accessor.get("normalized", False)) not in formats:
            raise FileError(f"{name} of instances has a format that {NAME} does not allow", where=where)
    counts = {accessor["count"] for accessor in used.values()}
    if len(counts) > 1:
        raise FileError(f"the attributes of instances have different counts: {sorted(counts)}", where=where)


def place_count(header: dict[str, Any], node: dict[str, Any]) -> int:
    """The number of places in which a node of a checked header shows its mesh."""
    entry = node.get("extensions", {}).get(NAME)
    return 1 if entry is None else header["accessors"][next(iter(entry["attributes"].values()))]["count"]


def local_matrices(accessors: Accessors, node: dict[str, Any], where: str) -> np.ndarray:
    """Matrices float64 [n, 4, 4] from the mesh of a node to the node, one of them where it has no instances.

    Raises
    ------
    FileError : a rotation of length 0.
    """
    matrices = np.tile(np.eye(4), (place_count(accessors.header, node), 1, 1))
    attributes = node.get("extensions", {}).get(NAME, {}).get("attributes", {})
    if "ROTATION" in attributes:
        rotations = accessors.scale(attributes["ROTATION"]).astype(np.float64)
        length = np.linalg.norm(rotations, axis=1, keepdims=True)
        if not (length > 0).all():
            raise FileError("a rotation of an instance has no length", where=where, fix="export it again")
        matrices[:, :3, :3] = rotation_matrices(rotations / length)
    if "SCALE" in attributes:
        matrices[:, :3, :3] *= accessors.scale(attributes["SCALE"])[:, None, :]
    if "TRANSLATION" in attributes:
        matrices[:, :3, 3] = accessors.scale(attributes["TRANSLATION"])
    return matrices


def rotation_matrices(rotations: np.ndarray) -> np.ndarray:
    """Unit quaternions (x, y, z, w) float64 [n, 4] as matrices [n, 3, 3]."""
    x, y, z, w = rotations.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), 2, 0)


def moved(part: Parsed, matrices: np.ndarray) -> Parsed:
    """Copies of a part in the coordinates that ``matrices`` [n, 4, 4] lead to, one after the other.

    Mirrored copies are turned outside out again.
    """
    if np.array_equal(matrices, np.eye(4)[None]):
        return part
    count, copies = len(part.positions), len(matrices)
    linear = matrices[:, :3, :3]
    with np.errstate(over="ignore", invalid="ignore"):  # refused later, when positions are checked
        positions = _products(part.positions, linear) + matrices[:, None, :3, 3]
        mirrored = np.linalg.det(linear) < 0
    triangles = np.where(mirrored[:, None, None], part.triangles[:, ::-1], part.triangles)
    triangles = triangles + (count * np.arange(copies))[:, None, None]
    carried = None if part.attributes is None else _moved_attributes(part.attributes, linear)
    return Parsed(positions.reshape(-1, 3), triangles.reshape(-1, 3), carried)


def _moved_attributes(attributes: VertexAttributes, linear: np.ndarray) -> VertexAttributes:
    turned = {}
    if attributes.normals is not None:
        turned["normals"] = _moved_normals(attributes.normals, linear).reshape(-1, 3)
    if attributes.tangents is not None:
        turned["tangents"] = _moved_tangents(attributes.tangents, linear).reshape(-1, 4)
    return replace(attributes.take(np.tile(np.arange(len(attributes)), len(linear))), **turned)


def _products(rows: np.ndarray, matrices: np.ndarray) -> np.ndarray:
    """Each of ``rows`` [V, 3] times each of ``matrices`` [n, 3, 3] transposed, float64 [n, V, 3].

    Column by column, because a matrix product may round equal rows differently, and seams would open.
    """
    x, y, z = rows.astype(np.float64).T[:, :, None]
    a, b, c = np.moveaxis(matrices, 2, 0)[:, :, None]
    return x * a + y * b + z * c


def _moved_normals(normals: np.ndarray, linear: np.ndarray) -> np.ndarray:
    """Normals turn by the inverse transpose, here as cofactors, which exist for flattening matrices too."""
    largest = np.abs(linear).max(axis=(1, 2), keepdims=True)
    linear = linear / np.where(largest > 0, largest, 1.0)
    a, b, c = np.moveaxis(linear, 1, 0)
    cofactors = np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)], axis=1)
    sign = np.sign(np.linalg.det(linear))
    return _unit(_products(normals, cofactors * np.where(sign == 0, 1.0, sign)[:, None, None]))


def _moved_tangents(tangents: np.ndarray, linear: np.ndarray) -> np.ndarray:
    """Tangents lie in the surface and move with it; mirrored ones have their bitangent on the other side."""
    signs = np.where(np.linalg.det(linear) < 0, -1, 1)[:, None] * tangents[:, 3]
    return np.concatenate([_unit(_products(tangents[:, :3], linear)), signs[..., None]], axis=2, dtype=np.float32)


def _unit(rows: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(rows, axis=2, keepdims=True)
    return np.divide(rows, length, out=np.zeros_like(rows), where=length > 0).astype(np.float32)
