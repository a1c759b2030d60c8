"""The nodes of a glTF file: a forest, and where each mesh is shown (Khronos glTF 2.0, section 3.5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from hra.domains.meshes.files.gltf_instancing import rotation_matrices
from hra.errors import FileError
from hra.files.limits import Limits

# How far Khronos' validator lets the length of a rotation be from 1.
_UNIT = 0.00769


def check_nodes(header: dict[str, Any], limits: Limits, where: str) -> None:
    """Refuse nodes that form no forest, scenes that begin within one, and transforms that are none.

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
        inner = [node for node in scene.get("nodes", []) if parent[node] >= 0]
        if inner:
            raise FileError(f"node {inner[0]} of a scene has a parent", where=f"{where}, scenes[{number}]")


def _check_transform(node: dict[str, Any], where: str) -> None:
    if "matrix" in node:
        if node["matrix"][3::4] != [0, 0, 0, 1]:
            raise FileError("the last row of a matrix is not 0 0 0 1", where=where)
        if {"translation", "rotation", "scale"} & set(node):
            raise FileError("a node has a matrix and a translation, rotation or scale", where=where)
    length = np.linalg.norm(node.get("rotation", (0, 0, 0, 1)))
    if abs(length - 1) > _UNIT:
        raise FileError(f"a rotation has the length {length:g}, not 1", where=where, fix="export it again")


def shown(header: dict[str, Any]) -> Iterator[tuple[int, np.ndarray]]:
    """Number and matrix float64 [4, 4] to the scene of each node that has a mesh, depth first."""
    nodes = header.get("nodes", [])
    inner = {child for node in nodes for child in node.get("children", [])}
    roots = [number for number in range(len(nodes)) if number not in inner]
    if header.get("scenes"):
        roots = header["scenes"][header.get("scene", 0)].get("nodes", [])
    pending = [(number, np.eye(4)) for number in reversed(roots)]
    while pending:
        number, outer = pending.pop()
        matrix = outer @ _local_matrix(nodes[number])
        if "mesh" in nodes[number]:
            yield number, matrix
        pending += [(child, matrix) for child in reversed(nodes[number].get("children", []))]


def _local_matrix(node: dict[str, Any]) -> np.ndarray:
    if "matrix" in node:
        return np.array(node["matrix"], np.float64).reshape(4, 4).T
    rotation = np.array([node.get("rotation", (0, 0, 0, 1))], np.float64)
    turn = rotation_matrices(rotation / np.linalg.norm(rotation))[0]
    matrix = np.eye(4)
    matrix[:3, :3] = turn * np.array(node.get("scale", (1, 1, 1)))
    matrix[:3, 3] = node.get("translation", (0, 0, 0))
    return matrix
