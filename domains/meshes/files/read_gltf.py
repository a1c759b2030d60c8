"""glTF and GLB in: accessors decoded by trimesh; nodes, materials and images read from the JSON header.

trimesh would open images, drop texture coordinates without a material and number frames at random. It hands custom
attributes through as they are, so each primitive's attributes are named as custom ones before it sees the header.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from hra.domains.meshes.files.gltf_check import parse_header, split_glb
from hra.domains.meshes.files.gltf_files import read_buffers
from hra.domains.meshes.files.gltf_materials import read_materials
from hra.domains.meshes.files.parsed import Parsed, joined_parts, vertex_attributes
from hra.domains.meshes.files.resolver import SiblingFiles
from hra.domains.meshes.materials import Material
from hra.errors import FileError

# Nodes may use a mesh again and again, so that a small file could fill the memory.
MAX_VERTICES = 50_000_000
_CUSTOM = {"TEXCOORD_0": "_HRA_UV", "NORMAL": "_HRA_NORMAL", "COLOR_0": "_HRA_COLOR"}


def read_gltf(data: bytes, files: SiblingFiles, where: str, *, attributes: bool = True) -> Parsed:
    """The triangles of all nodes of a checked glTF or GLB file, in the scene's coordinates.

    Raises
    ------
    FileError : a buffer is missing or shorter than stated, or attributes of a primitive number differently.
    """
    from trimesh.exchange.gltf import load_gltf

    text, chunk = split_glb(data) if data.startswith(b"glTF") else (data, None)
    header = parse_header(text, where)
    buffers = read_buffers(header, chunk, files, where)
    materials = read_materials(header, buffers, files, where) if attributes else []
    found = {f"buffer{number}": content for number, content in enumerate(buffers)}
    stripped = json.dumps(_with_custom_attributes(header)).encode()
    parsed = load_gltf(io.BytesIO(stripped), resolver=found, skip_materials=True)
    geometries = iter(parsed["geometry"].values())
    primitives = [
        [_primitive(header, primitive, next(geometries), materials, attributes, where) for primitive in m["primitives"]]
        for m in header.get("meshes", [])
    ]
    instances = [(part, matrix) for mesh, matrix in _instances(header) for part in primitives[mesh]]
    if sum(len(part.positions) for part, _ in instances) > MAX_VERTICES:
        fix = "instance the built mesh instead"
        raise FileError(f"its nodes repeat meshes to more than {MAX_VERTICES} vertices", where=where, fix=fix)
    return joined_parts([_moved(part, matrix) for part, matrix in instances if len(part.triangles)], where)


def _with_custom_attributes(header: dict[str, Any]) -> dict[str, Any]:
    """The header with buffers by number, meshes without names, and what trimesh drops as custom attributes."""
    meshes = [
        {"primitives": [{**p, "attributes": _custom(p["attributes"])} for p in mesh["primitives"]]}
        for mesh in header.get("meshes", [])
    ]
    buffers = [
        {"byteLength": buffer["byteLength"], "uri": f"buffer{number}"}
        for number, buffer in enumerate(header.get("buffers", []))
    ]
    kept = ("asset", "accessors", "bufferViews", "extensionsUsed", "extensionsRequired")
    return {name: header[name] for name in kept if name in header} | {"meshes": meshes, "buffers": buffers}


def _custom(attributes: dict[str, int]) -> dict[str, int]:
    renamed = {_CUSTOM[name]: accessor for name, accessor in attributes.items() if name in _CUSTOM}
    return {"POSITION": attributes["POSITION"]} | renamed


def _primitive(
    header: dict[str, Any],
    primitive: dict[str, Any],
    geometry: dict[str, Any],
    materials: list[Material],
    attributes: bool,
    where: str,
) -> Parsed:
    """One primitive in the coordinates of its mesh."""
    used, found = primitive["attributes"], geometry.get("vertex_attributes", {})
    positions = _normalized(header, used["POSITION"], geometry["vertices"])
    carried = None
    if attributes:
        arrays = {
            name: _normalized(header, used[key], found[_CUSTOM[key]])
            for name, key in (("uv", "TEXCOORD_0"), ("normals", "NORMAL"), ("colors", "COLOR_0"))
            if key in used
        }
        material = materials[primitive["material"]] if "material" in primitive else None
        carried = vertex_attributes(len(positions), where, **arrays, material=material)
    return Parsed(positions, geometry["faces"], carried)


def _normalized(header: dict[str, Any], accessor: int, values: np.ndarray) -> np.ndarray:
    """Integers that stand for -1 .. 1 or 0 .. 1 as floats (glTF 2.0, section 3.11)."""
    if values.dtype.kind == "f" or not header["accessors"][accessor].get("normalized"):
        return values
    return np.maximum(values.astype(np.float64) / np.iinfo(values.dtype).max, -1)


def _instances(header: dict[str, Any]) -> Iterator[tuple[int, np.ndarray]]:
    """Mesh number and matrix float64 [4, 4] to the scene of each node that has a mesh, depth first."""
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
            yield nodes[number]["mesh"], matrix
        pending += [(child, matrix) for child in reversed(nodes[number].get("children", []))]


def _local_matrix(node: dict[str, Any]) -> np.ndarray:
    if "matrix" in node:
        return np.array(node["matrix"], np.float64).reshape(4, 4).T
    x, y, z, w = node.get("rotation", (0, 0, 0, 1))
    rotation = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    matrix = np.eye(4)
    matrix[:3, :3] = rotation * np.array(node.get("scale", (1, 1, 1)))
    matrix[:3, 3] = node.get("translation", (0, 0, 0))
    return matrix


def _moved(part: Parsed, matrix: np.ndarray) -> Parsed:
    """A part in the coordinates that ``matrix`` [4, 4] leads to; mirrored parts are turned outside out again."""
    if np.array_equal(matrix, np.eye(4)):
        return part
    linear = matrix[:3, :3]
    positions = _product(part.positions, linear) + matrix[:3, 3]
    mirrored = np.linalg.det(linear) < 0
    triangles = part.triangles[:, ::-1] if mirrored else part.triangles
    carried = part.attributes
    if carried is not None and carried.normals is not None:
        carried = replace(carried, normals=_moved_normals(carried.normals, linear))
    return Parsed(positions, triangles, carried)


def _product(rows: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Each of ``rows`` [n, 3] times ``matrix`` [3, 3] transposed, float64.

    Column by column, because a matrix product may round equal rows differently, and seams would open.
    """
    x, y, z = rows.astype(np.float64).T[:, :, None]
    return x * matrix[:, 0] + y * matrix[:, 1] + z * matrix[:, 2]


def _moved_normals(normals: np.ndarray, linear: np.ndarray) -> np.ndarray:
    """Normals turn by the inverse transpose, here as cofactors, which exist for flattening matrices too."""
    a, b, c = linear
    cofactors = np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)])
    turned = _product(normals, cofactors * (np.sign(np.linalg.det(linear)) or 1.0))
    length = np.linalg.norm(turned, axis=1, keepdims=True)
    return np.divide(turned, length, out=np.zeros_like(turned), where=length > 0).astype(np.float32)
