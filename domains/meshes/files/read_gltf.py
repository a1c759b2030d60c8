"""glTF and GLB in: the triangles of a scene with their attributes, materials and images, at rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hra.domains.meshes.files.gltf_accessors import Accessors, Views, check_accessors, element_bytes
from hra.domains.meshes.files.gltf_coordinates import coordinate_sets, layout_of
from hra.domains.meshes.files.gltf_draco import packed, unpacked
from hra.domains.meshes.files.gltf_extensions import lost_as_one
from hra.domains.meshes.files.gltf_files import read_buffers, split_glb
from hra.domains.meshes.files.gltf_materials import laid_out, read_materials, report_bright
from hra.domains.meshes.files.gltf_meshopt import check_compressed, decoded_bytes, is_fallback
from hra.domains.meshes.files.gltf_nodes import check_instancing, check_nodes, local_matrices, moved, place_count, shown
from hra.domains.meshes.files.gltf_poses import influences, joint_matrices, morphed, skinned, transformed
from hra.domains.meshes.files.gltf_primitives import (
    check_primitives,
    shows_triangles,
    triangle_count,
    triangles_of,
)
from hra.domains.meshes.files.gltf_structure import check_structure, leave_out_unsaid
from hra.domains.meshes.files.parsed import Parsed, joined_parts, unit, vertex_attributes
from hra.domains.meshes.files.resolver import SiblingFiles
from hra.domains.meshes.mesh.attributes import VertexAttributes
from hra.domains.meshes.mesh.materials import Material
from hra.errors import FileError, warn
from hra.files.json_text import parse_object
from hra.files.limits import DEFAULT, Limits

# What a vertex and a triangle take on their way: as read, moved, joined and welded.
_VERTEX_BYTES, _TRIANGLE_BYTES = 100, 60
# The same of tangents and a second set of coordinates.
_MORE_BYTES = 60


def read_gltf(
    data: bytes, files: SiblingFiles, where: str, *, attributes: bool = True, limits: Limits = DEFAULT
) -> Parsed:
    """The triangles of the scene of a glTF or GLB file, in the scene's coordinates.

    Raises
    ------
    FileError : the header is not glTF 2.0, or promises what the bytes do not hold; a buffer is missing.
    LimitExceeded : meshes are repeated, or accessors unpacked, beyond what the file may take.
    """
    accessors = open_gltf(data, files, where, limits)[0]
    _report_lost(accessors.header, where)
    materials = read_materials(accessors.views, files, where) if attributes else None
    reader = _Meshes(accessors, materials, {})
    shown_nodes = shown(accessors.header)
    return joined_parts([part for node, matrix in shown_nodes for part in reader.placed(node, matrix)], where)


def open_gltf(
    data: bytes, files: SiblingFiles, where: str, limits: Limits = DEFAULT, *, repeated: bool = True
) -> tuple[Accessors, bytes]:
    """The accessors of a checked file, and the text of its header.

    Parameters
    ----------
    repeated : whether meshes will be repeated wherever they are shown, which takes memory.

    Raises
    ------
    FileError, LimitExceeded : see `read_gltf`.

    Warns
    -----
    RepairWarning : a material shines brighter than the format allows, or data compressed by Draco has other counts than
        are stated.
    """
    text, chunk = split_glb(data, where) if data.startswith(b"glTF") else (data, None)
    header = parse_object(text, "glTF header", where, limits)
    leave_out_unsaid(header)
    check_structure(header, where)
    report_bright(header, where)
    check_accessors(header, where)
    check_nodes(header, limits, where)
    check_primitives(header, where)
    check_compressed(header, where)
    check_instancing(header, where)
    _check_size(header, files, limits, where, repeated)
    views = Views(header, read_buffers(header, chunk, files, where), where)
    accessors = Accessors(views, unpacked(views))
    if accessors.unpacked:  # whose counts may be others than those that were stated
        check_primitives(header, where)
        _check_size(header, files, limits, where, repeated)
    return accessors, text


def _check_size(header: dict[str, Any], files: SiblingFiles, limits: Limits, where: str, repeated: bool) -> None:
    """Add up what all meshes, or all places where they are shown, will take before any is read."""
    limits.check("images", len(header.get("images", [])), where)
    vertices, triangles, taken = [], [], []
    for mesh in header.get("meshes", []):
        drawn = [p for p in mesh["primitives"] if "POSITION" in p["attributes"]]
        counts = [header["accessors"][p["attributes"]["POSITION"]]["count"] for p in drawn]
        vertices.append(sum(counts))
        taken.append(sum(count * _vertex_bytes(p) for count, p in zip(counts, drawn, strict=True)))
        triangles.append(sum(triangle_count(header, p) for p in drawn))
    if not repeated:
        placed = [(number, 1) for number in range(len(vertices))]
    else:
        placed = [
            (header["nodes"][node]["mesh"], place_count(header, header["nodes"][node])) for node, _ in shown(header)
        ]
    places = sum(count for _, count in placed)
    limits.check("instances", places, where)
    vertex_count, triangle_total, vertex_bytes = (
        sum(of[mesh] * count for mesh, count in placed) for of in (vertices, triangles, taken)
    )
    limits.check("vertices", vertex_count, where)
    limits.check("triangles", triangle_total, where)
    size = files.size + sum(b["byteLength"] for b in header.get("buffers", []) if _beside(b))
    needed = vertex_bytes + _TRIANGLE_BYTES * triangle_total + decoded_bytes(header)
    plain = decoded_bytes(header) + _draco_bytes(header)
    limits.check_memory(needed, size, f"{where}, which shows meshes in {places} places", plain)


def _draco_bytes(header: dict[str, Any]) -> int:
    """What all that Draco compressed takes when it is decoded, as accessors state it."""
    primitives = [p for mesh in header.get("meshes", []) for p in mesh["primitives"] if packed(p) is not None]
    numbers = {k for p in primitives for k in (*p["attributes"].values(), *([p["indices"]] if "indices" in p else []))}
    return sum(header["accessors"][k]["count"] * element_bytes(header["accessors"][k]) for k in numbers)


def _vertex_bytes(primitive: dict[str, Any]) -> int:
    return _VERTEX_BYTES + (0 if {"TANGENT", "TEXCOORD_1"}.isdisjoint(primitive["attributes"]) else _MORE_BYTES)


def _report_lost(header: dict[str, Any], where: str) -> None:
    """Name what one mesh at rest does not hold of the scene."""
    lost = lost_as_one(header)
    if lost:
        what = f"{where}: the scene becomes one mesh at rest and loses {'; '.join(lost)}"
        warn(what)


def _beside(buffer: dict[str, Any]) -> bool:
    """Whether a buffer is a file of its own."""
    return not buffer.get("uri", "data:").startswith("data:") and not is_fallback(buffer)


@dataclass(frozen=True, eq=False)
class _Meshes:
    """Meshes by number, each read when it is first shown."""

    accessors: Accessors
    materials: list[Material] | None
    known: dict[int, dict[int, Parsed]]

    def placed(self, number: int, matrix: np.ndarray) -> Iterator[Parsed]:
        """The primitives of the mesh of node ``number`` wherever it shows them, by its ``matrix`` [4, 4]."""
        node, where = self.accessors.header["nodes"][number], f"{self.accessors.views.where}, nodes[{number}]"
        parts = self.mesh(node["mesh"])
        weights = node.get("weights", self.accessors.header["meshes"][node["mesh"]].get("weights", []))
        if any(weights) or "skin" in node:
            joints = joint_matrices(self.accessors, node["skin"]) if "skin" in node else None
            parts = {k: self._at_rest(node["mesh"], k, part, weights, joints) for k, part in parts.items()}
            if joints is not None:
                return iter(parts.values())
        matrices = matrix @ local_matrices(self.accessors, node, where)
        return (moved(part, matrices) for part in parts.values())

    def mesh(self, number: int) -> dict[int, Parsed]:
        """The primitives of a mesh in its own coordinates, those of triangles."""
        if number not in self.known:
            primitives = self.accessors.header["meshes"][number]["primitives"]
            where = f"{self.accessors.views.where}, meshes[{number}].primitives"
            self.known[number] = {
                part: self._primitive(primitive, f"{where}[{part}]")
                for part, primitive in enumerate(primitives)
                if shows_triangles(primitive, f"{where}[{part}]")
            }
        return self.known[number]

    def _at_rest(self, mesh: int, number: int, part: Parsed, weights: list[float], joints: np.ndarray | None) -> Parsed:
        """A primitive moved by its morph targets and then by its skin."""
        primitive = self.accessors.header["meshes"][mesh]["primitives"][number]
        where, carried = f"{self.accessors.views.where}, meshes[{mesh}].primitives[{number}]", part.attributes
        positions, normals = part.positions.astype(np.float64), None if carried is None else carried.normals
        tangents = None if carried is None else carried.tangents
        positions = positions + (
            0 if (more := morphed(self.accessors, primitive, weights, "POSITION")) is None else more
        )
        if normals is not None and (more := morphed(self.accessors, primitive, weights, "NORMAL")) is not None:
            normals = normals + more
        if joints is not None:
            found = influences(self.accessors, primitive, where)
            matrices = skinned(joints, found, len(positions), where)
            linear, positions = matrices[:, :3, :3], transformed(positions, matrices)
            # As viewers do: exact where joints turn and scale evenly.
            normals = None if normals is None else np.einsum("vij,vj->vi", linear, normals)
            if tangents is not None:
                turned = np.einsum("vij,vj->vi", linear, tangents[:, :3])
                tangents = np.concatenate([unit(turned), tangents[:, 3:]], axis=1).astype(np.float32)
        if carried is not None:
            normals = None if normals is None else unit(normals).astype(np.float32)
            carried = replace(carried, normals=normals, tangents=tangents)
        return replace(part, positions=positions, attributes=carried)

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

    def _attributes(self, primitive: dict[str, Any], count: int, where: str) -> VertexAttributes | None:
        used, material, entry = primitive["attributes"], None, {}
        if "material" in primitive and self.materials is not None:
            entry = self.accessors.header["materials"][primitive["material"]]
            material = self.materials[primitive["material"]]
        layout = layout_of(entry, coordinate_sets(primitive), where)
        names = {"normals": "NORMAL", "colors": "COLOR_0"} | ({"tangents": "TANGENT"} if "NORMAL" in used else {})
        arrays = {name: self.accessors.scale(used[key]) for name, key in names.items() if key in used}
        for name, found in zip(("uv", "uv2"), layout.sets, strict=False):
            arrays[name] = found.applied(self.accessors.scale(used[f"TEXCOORD_{found.number}"]))
        material = None if material is None else laid_out(material, layout.of, where)
        return vertex_attributes(count, where, **arrays, material=material)
