"""glTF and GLB in: the triangles of a scene with their attributes, materials and images."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hra.domains.meshes.files.gltf_accessors import Accessors, check_accessors
from hra.domains.meshes.files.gltf_container import split_glb
from hra.domains.meshes.files.gltf_files import read_buffers
from hra.domains.meshes.files.gltf_materials import read_materials, transform_coordinates
from hra.domains.meshes.files.gltf_nodes import check_nodes, instances
from hra.domains.meshes.files.gltf_primitives import (
    check_primitives,
    coordinates,
    shows_triangles,
    triangle_count,
    triangles_of,
)
from hra.domains.meshes.files.gltf_structure import check_structure
from hra.domains.meshes.files.parsed import Parsed, joined_parts, vertex_attributes
from hra.domains.meshes.files.resolver import SiblingFiles
from hra.domains.meshes.materials import Material
from hra.errors import FileError, RepairWarning
from hra.safety.json_text import parse_object
from hra.safety.limits import DEFAULT, Limits

# What a vertex and a triangle take on their way: as read, moved, joined and welded.
_VERTEX_BYTES, _TRIANGLE_BYTES = 100, 60
_INSTANCING = "EXT_mesh_gpu_instancing"


def read_gltf(
    data: bytes, files: SiblingFiles, where: str, *, attributes: bool = True, limits: Limits = DEFAULT
) -> Parsed:
    """The triangles of the scene of a glTF or GLB file, in the scene's coordinates.

    Raises
    ------
    FileError : the header is not glTF 2.0, or promises what the bytes do not hold; a buffer is missing.
    LimitExceeded : meshes are repeated, or accessors unpacked, beyond what the file may take.
    """
    text, chunk = split_glb(data, where) if data.startswith(b"glTF") else (data, None)
    header = parse_object(text, "glTF header", where, limits)
    check_structure(header, where)
    check_accessors(header, where)
    check_nodes(header, limits, where)
    check_primitives(header, where)
    _check_size(header, files, limits, where)
    _report_instancing(header, where)
    accessors = Accessors(header, read_buffers(header, chunk, files, where), where)
    materials = read_materials(header, accessors.buffers, files, where) if attributes else None
    reader = _Meshes(accessors, materials, {})
    parts = [_move(part, matrix) for mesh, matrix in instances(header) for part in reader.mesh(mesh)]
    return joined_parts(parts, where)


def _check_size(header: dict[str, Any], files: SiblingFiles, limits: Limits, where: str) -> None:
    """Add up what all instances will take before any is read."""
    limits.check("images", len(header.get("images", [])), where)
    vertices, triangles = [], []
    for mesh in header.get("meshes", []):
        shown = [p for p in mesh["primitives"] if "POSITION" in p["attributes"]]
        vertices.append(sum(header["accessors"][p["attributes"]["POSITION"]]["count"] for p in shown))
        triangles.append(sum(triangle_count(header, p) for p in shown))
    placed = [mesh for mesh, _ in instances(header)]
    limits.check("instances", len(placed), where)
    vertex_count, triangle_total = sum(vertices[mesh] for mesh in placed), sum(triangles[mesh] for mesh in placed)
    limits.check("vertices", vertex_count, where)
    limits.check("triangles", triangle_total, where)
    size = files.size + sum(b["byteLength"] for b in header.get("buffers", []) if not _embed(b))
    needed = _VERTEX_BYTES * vertex_count + _TRIANGLE_BYTES * triangle_total
    limits.check_memory(needed, size, f"{where}, which shows meshes in {len(placed)} places")


def _report_instancing(header: dict[str, Any], where: str) -> None:
    """An extension that is not required has another appearance without it: here each mesh once."""
    count = sum(_INSTANCING in node.get("extensions", {}) for node in header.get("nodes", []))
    if count:
        what = f"{where}: {count} nodes show their meshes once, for {_INSTANCING} is not read"
        warnings.warn(what, RepairWarning, stacklevel=4)


def _embed(buffer: dict[str, Any]) -> bool:
    return buffer.get("uri", "data:").startswith("data:")


@dataclass(frozen=True, eq=False)
class _Meshes:
    """Meshes by number, each read when it is first shown."""

    accessors: Accessors
    materials: list[Material] | None
    known: dict[int, list[Parsed]]

    def mesh(self, number: int) -> list[Parsed]:
        """The primitives of a mesh in its own coordinates, those of triangles."""
        if number not in self.known:
            primitives = self.accessors.header["meshes"][number]["primitives"]
            where = f"{self.accessors.where}, meshes[{number}].primitives"
            self.known[number] = [
                self._primitive(primitive, f"{where}[{part}]")
                for part, primitive in enumerate(primitives)
                if shows_triangles(primitive, f"{where}[{part}]")
            ]
        return self.known[number]

    def _primitive(self, primitive: dict[str, Any], where: str) -> Parsed:
        positions = self.accessors.scale(primitive["attributes"]["POSITION"])
        if "indices" in primitive:
            indices = self.accessors.array(primitive["indices"])[:, 0]
        else:
            indices = np.arange(len(positions))
        triangles = triangles_of(indices, primitive.get("mode", 4), where)
        if triangles.size and triangles.max() >= len(positions):
            what = f"an index is {triangles.max()}, but there are {len(positions)} vertices"
            raise FileError(what, where=where)
        carried = None if self.materials is None else self._attributes(primitive, len(positions), where)
        return Parsed(positions, triangles, carried)

    def _attributes(self, primitive: dict[str, Any], count: int, where: str):
        used, arrays = primitive["attributes"], {}
        names = {"uv": coordinates(self.accessors.header, primitive), "normals": "NORMAL", "colors": "COLOR_0"}
        for name, key in names.items():
            if key in used:
                arrays[name] = self.accessors.scale(used[key])
        material = None
        if "material" in primitive and self.materials is not None:
            material = self.materials[primitive["material"]]
            if "uv" in arrays:
                arrays["uv"] = transform_coordinates(
                    arrays["uv"], self.accessors.header["materials"][primitive["material"]], where
                )
        return vertex_attributes(count, where, **arrays, material=material)


def _move(part: Parsed, matrix: np.ndarray) -> Parsed:
    """A part in the coordinates that ``matrix`` [4, 4] leads to; mirrored parts are turned outside out again."""
    if np.array_equal(matrix, np.eye(4)):
        return part
    linear = matrix[:3, :3]
    with np.errstate(over="ignore", invalid="ignore"):  # refused later, when positions are checked
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
    linear = linear / (np.abs(linear).max() or 1.0)
    a, b, c = linear
    cofactors = np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)])
    turned = _product(normals, cofactors * (np.sign(np.linalg.det(linear)) or 1.0))
    length = np.linalg.norm(turned, axis=1, keepdims=True)
    return np.divide(turned, length, out=np.zeros_like(turned), where=length > 0).astype(np.float32)
