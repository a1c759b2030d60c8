"""Mesh files out, beside the target and renamed, so that a reader never sees half a file; GLB in full.

GLB has one primitive for each material, attributes as they are, images byte by byte. trimesh's exporter, which writes
the other formats, would encode images again and keep vertex colours or texture coordinates, not both.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from hra.domains.meshes.files.gltf_accessors import padded_rows
from hra.domains.meshes.files.gltf_materials import material_entries
from hra.domains.meshes.mesh.attributes import VertexAttributes
from hra.domains.meshes.mesh.triangle_mesh import completed_normals
from hra.errors import FileError, needs, warn
from hra.files.atomic_write import write_atomically
from hra.files.local_files import local_path
from hra.files.ply import binary_table

if TYPE_CHECKING:
    from hra.domains.meshes.mesh.point_grid import PointGrid
    from hra.domains.meshes.mesh.triangle_mesh import TriangleMesh

_FLOAT, _UINT8, _UINT16, _UINT32 = 5126, 5121, 5123, 5125
_ARRAY_BUFFER, _ELEMENT_BUFFER = 34962, 34963
# 65,535 is the restart value of 16-bit strips, which glTF forbids as an index.
_MAX_UINT16_VERTICES = 65_535
# How far from 1 the length of a tangent may be: Khronos' validator is as strict.
_UNIT = 5e-4
QUANTIZATION = "KHR_mesh_quantization"
_JSON_CHUNK, _BINARY_CHUNK = 0x4E4F534A, 0x004E4942
SUFFIXES = (".glb", ".obj", ".off", ".ply", ".stl")
# What the formats hold of a mesh's attributes.
_CARRIED = {".glb": ("uv", "normals", "colors", "material", "uv2", "tangents"), ".ply": ("normals", "colors")}


class _Binary:
    """The binary chunk while it grows, with the header's views and accessors into it."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.size = 0
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []

    def add_view(self, content: bytes, target: int | None = None) -> int:
        """A view of ``content``, aligned to four bytes; its number."""
        view = {"buffer": 0, "byteOffset": self.size, "byteLength": len(content)}
        self.views.append(view | ({"target": target} if target else {}))
        padding = -len(content) % 4
        self.parts += [content, bytes(padding)]
        self.size += len(content) + padding
        return len(self.views) - 1

    def add_accessor(self, array: np.ndarray, component: int, kind: str, target: int, **more: Any) -> int:
        """An accessor of all rows of ``array`` with a view of its own; its number."""
        rows = padded_rows(array, kind) if target == _ARRAY_BUFFER else array
        view = self.add_view(rows.tobytes(), target)
        self.views[view] |= {"byteStride": rows.shape[1]} if rows.nbytes > array.nbytes else {}
        entry = {"bufferView": view, "componentType": component, "count": len(array), "type": kind}
        self.accessors.append(entry | more)
        return len(self.accessors) - 1


def glb_bytes(
    mesh: TriangleMesh, grid: PointGrid | None = None, beside: Mapping[bytes, str] = MappingProxyType({})
) -> bytes:
    """The mesh as a GLB file (Khronos glTF 2.0); equal meshes give equal bytes.

    Normals of length 0 are replaced by those of the surface, because glTF allows none.

    Parameters
    ----------
    grid : of positions, which are stored as its numbers then (KHR_mesh_quantization).
    beside : names of images that are files of their own.
    """
    binary = _Binary()
    attributes = mesh.attributes
    materials = attributes.materials if attributes is not None else ()
    primitives = [_primitive(mesh, number, triangles, binary, grid) for number, triangles in by_material(mesh)]
    place = moved_to(mesh.origin)
    if grid is not None:
        place = {"translation": np.add(grid.origin, mesh.origin).tolist(), "scale": [grid.step] * 3}
    header: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": "hra"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0, **place}],
        "meshes": [{"primitives": primitives}],
    }
    header |= material_entries(materials, _set_count(attributes), binary.add_view, beside)
    for kind in ("extensionsUsed", "extensionsRequired") if grid is not None else ():
        header[kind] = [*header.get(kind, []), QUANTIZATION]
    header |= {"accessors": binary.accessors, "bufferViews": binary.views, "buffers": [{"byteLength": binary.size}]}
    return container(header, b"".join(binary.parts))


def moved_to(origin: tuple[float, float, float]) -> dict[str, Any]:
    """What puts a node at an origin, in doubles: viewers subtract their eye from it before they round."""
    return {"translation": list(origin)} if any(origin) else {}


def container(header: dict[str, Any], binary: bytes) -> bytes:
    """A GLB file of a header and its binary chunk, whose length is a multiple of four."""
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<II", len(text), _JSON_CHUNK) + text + struct.pack("<II", len(binary), _BINARY_CHUNK) + binary
    return b"glTF" + struct.pack("<II", 2, 12 + len(chunks)) + chunks


def by_material(mesh: TriangleMesh) -> Iterable[tuple[int | None, np.ndarray]]:
    """The triangles [F, 3] of each material that has any, in the order of materials."""
    material = mesh.attributes.material if mesh.attributes is not None else None
    if material is None:
        return [(None, mesh.triangles)]
    of_triangle = material[mesh.triangles[:, 0]]
    return [(int(number), mesh.triangles[of_triangle == number]) for number in np.unique(of_triangle)]


def _primitive(
    mesh: TriangleMesh, material: int | None, triangles: np.ndarray, binary: _Binary, grid: PointGrid | None
) -> dict[str, Any]:
    """A primitive with vertices of its own: no other one uses those of its material."""
    vertices, local = np.unique(triangles, return_inverse=True)
    positions = mesh.positions[vertices] if grid is None else grid.snap(mesh.positions[vertices])
    accessors = {
        "POSITION": binary.add_accessor(
            *(positions, _FLOAT if grid is None else _UINT16, "VEC3", _ARRAY_BUFFER),
            min=positions.min(axis=0).tolist(),
            max=positions.max(axis=0).tolist(),
        )
    }
    if mesh.attributes is not None:
        accessors |= _attribute_accessors(mesh, mesh.attributes.take(vertices), vertices, binary)
    short = len(vertices) <= _MAX_UINT16_VERTICES
    index_type = np.uint16 if short else np.uint32
    indices = local.reshape(-1).astype(index_type)
    entry: dict[str, Any] = {
        "attributes": accessors,
        "indices": binary.add_accessor(indices, _UINT16 if short else _UINT32, "SCALAR", _ELEMENT_BUFFER),
    }
    return entry if material is None else entry | {"material": material}


def _attribute_accessors(
    mesh: TriangleMesh, attributes: VertexAttributes, vertices: np.ndarray, binary: _Binary
) -> dict[str, int]:
    found = {}
    if attributes.normals is not None:
        normals = completed_normals(mesh)[vertices]
        found["NORMAL"] = binary.add_accessor(normals, _FLOAT, "VEC3", _ARRAY_BUFFER)
        if attributes.tangents is not None and _are_unit(attributes.tangents[:, :3]):
            found["TANGENT"] = binary.add_accessor(attributes.tangents, _FLOAT, "VEC4", _ARRAY_BUFFER)
    for name, uv in (("TEXCOORD_0", attributes.uv), ("TEXCOORD_1", attributes.uv2)):
        if uv is not None:
            found[name] = binary.add_accessor(uv, _FLOAT, "VEC2", _ARRAY_BUFFER)
    if attributes.colors is not None:
        found["COLOR_0"] = binary.add_accessor(attributes.colors, _UINT8, "VEC4", _ARRAY_BUFFER, normalized=True)
    return found


def _are_unit(rows: np.ndarray) -> bool:
    """Whether all of ``rows`` [V, 3] have unit length, which glTF asks for; viewers make tangents where none are."""
    return bool((np.abs(np.linalg.norm(rows, axis=1) - 1) < _UNIT).all())


def _set_count(attributes: VertexAttributes | None) -> int:
    """How many sets of texture coordinates there are."""
    return 0 if attributes is None else (attributes.uv is not None) + (attributes.uv2 is not None)


def export(mesh: TriangleMesh, path: str | Path) -> None:
    """Write ``mesh`` as GLB, OBJ, OFF, PLY or STL, by the suffix of ``path``.

    GLB takes all attributes, PLY normals and vertex colours. The others take none, and none of them a material. An
    origin becomes the translation of GLB's node, and is added to the numbers of all others but STL, as doubles.

    Raises
    ------
    FileError : unknown suffix, or the file cannot be written.
    MissingExtra : trimesh is not installed (GLB and PLY need none).

    Warns
    -----
    RepairWarning : STL is written without the origin.
    """
    write_atomically(path, encode(mesh, local_path(path).suffix, str(path)))


def encode(mesh: TriangleMesh, suffix: str, where: str = "") -> bytes:
    """The file that `export` writes for ``suffix``.

    Raises
    ------
    FileError : unknown suffix.
    MissingExtra : trimesh is not installed (GLB and PLY need none).

    Warns
    -----
    RepairWarning : STL is written without the origin.
    """
    kind = suffix.lower()
    if kind not in SUFFIXES:
        raise FileError(f"the format {suffix!r} is not written", where=where, fix=f"use {', '.join(SUFFIXES)}")
    if kind in (".glb", ".ply"):
        return glb_bytes(mesh) if kind == ".glb" else _ply_bytes(mesh)
    return _by_trimesh(mesh, kind[1:])


def _ply_bytes(mesh: TriangleMesh) -> bytes:
    """Binary PLY with normals and colours; of positions doubles where there is an origin."""
    columns = dict(zip("xyz", _places(mesh).T, strict=True))
    if mesh.attributes is not None and mesh.attributes.normals is not None:
        columns |= dict(zip(("nx", "ny", "nz"), mesh.attributes.normals.T, strict=True))
    if mesh.attributes is not None and mesh.attributes.colors is not None:
        columns |= dict(zip(("red", "green", "blue", "alpha"), mesh.attributes.colors.T, strict=True))
    return binary_table(columns, triangles=mesh.triangles)


def _places(mesh: TriangleMesh) -> np.ndarray:
    return mesh.positions + np.array(mesh.origin) if any(mesh.origin) else mesh.positions


def holds_normals(suffix: str) -> bool:
    """Whether files of this format hold normals."""
    return "normals" in _CARRIED.get(suffix.lower(), ())


def left_out(attributes: Sequence[str], suffix: str) -> list[str]:
    """Which of a mesh's ``attributes``, by their names in `VertexAttributes`, files of this format do not hold."""
    return [name for name in attributes if name not in _CARRIED.get(suffix.lower(), ())]


def _by_trimesh(mesh: TriangleMesh, kind: str) -> bytes:
    with needs("trimesh", "formats"):
        import trimesh
    places = _places(mesh)
    if kind == "stl" and any(mesh.origin):
        what = f"STL holds float32: coordinates count from {list(mesh.origin)}"
        warn(what)
        places = mesh.positions
    geometry = trimesh.Trimesh(places, mesh.triangles, process=False)
    content = geometry.export(file_type=kind)
    return content.encode() if isinstance(content, str) else bytes(content)
