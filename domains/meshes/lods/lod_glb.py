"""Several meshes as the levels of one node in a GLB file, by the extension MSFT_lod.

Each level is written as a file of its own first; what several of these share (images, textures, materials) is stored
once. MSFT_lod: https://github.com/KhronosGroup/glTF/tree/main/extensions/2.0/Vendor/MSFT_lod
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Sequence
from typing import Any

from hra.domains.meshes.files.gltf_coordinates import map_infos
from hra.domains.meshes.files.write_glb import glb_bytes
from hra.domains.meshes.mesh.triangle_mesh import TriangleMesh

_JSON_CHUNK, _BINARY_CHUNK = 0x4E4F534A, 0x004E4942
_HEADER, _CHUNK_HEADER = 12, 8


def lod_glb_bytes(levels: Sequence[TriangleMesh], extras: Sequence[dict[str, Any]]) -> bytes:
    """The ``levels``, fine to coarse, as one GLB file with ``extras`` for each node."""
    joined = _Joined()
    nodes = [
        {"name": f"LOD{number}", "mesh": joined.add_file(glb_bytes(mesh), f"LOD{number}"), "extras": more}
        for number, (mesh, more) in enumerate(zip(levels, extras, strict=True))
    ]
    header: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": "hra"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": nodes,
    }
    if len(nodes) > 1:
        nodes[0]["extensions"] = {"MSFT_lod": {"ids": list(range(1, len(nodes)))}}
        header["extensionsUsed"] = ["MSFT_lod"]
    binary = b"".join(joined.parts)
    header |= {kind: entries for kind, entries in joined.entries.items() if entries}
    header["buffers"] = [{"byteLength": len(binary)}]
    text = json.dumps(header, separators=(",", ":")).encode()
    chunks = _chunk(text + b" " * (-len(text) % 4), _JSON_CHUNK) + _chunk(binary, _BINARY_CHUNK)
    return b"glTF" + struct.pack("<II", 2, _HEADER + len(chunks)) + chunks


def _chunk(content: bytes, kind: int) -> bytes:
    return struct.pack("<II", len(content), kind) + content


def _split(file: bytes) -> tuple[dict[str, Any], bytes]:
    """Header and binary chunk of a file that `glb_bytes` has made: just these two chunks."""
    (length,) = struct.unpack_from("<I", file, _HEADER)
    end = _HEADER + _CHUNK_HEADER + length
    return json.loads(file[_HEADER + _CHUNK_HEADER : end]), file[end + _CHUNK_HEADER :]


class _Joined:
    """The lists of several glTF headers as one; equal entries get one number."""

    def __init__(self) -> None:
        kinds = ("bufferViews", "accessors", "images", "samplers", "textures", "materials", "meshes")
        self.entries: dict[str, list[dict[str, Any]]] = {kind: [] for kind in kinds}
        self.parts: list[bytes] = []
        self._size = 0
        self._known: dict[Any, int] = {}

    def add_file(self, file: bytes, name: str) -> int:
        """Add a file of one mesh, which gets a ``name``; the number of that mesh."""
        header, binary = _split(file)
        views = [self._view(view, binary) for view in header["bufferViews"]]
        accessors = self._add_all(header, "accessors", lambda e: e | {"bufferView": views[e["bufferView"]]})
        images = self._add_all(header, "images", lambda e: e | {"bufferView": views[e["bufferView"]]})
        samplers = self._add_all(header, "samplers", lambda e: e)
        textures = self._add_all(header, "textures", lambda e: _with_numbers(e, source=images, sampler=samplers))
        materials = self._add_all(
            header, "materials", lambda e: map_infos(e, lambda info: _with_numbers(info, index=textures))
        )
        named = {"name": name, **header["meshes"][0]}
        return self._add("meshes", _with_accessors(named, accessors, materials))

    def _add_all(self, header: dict[str, Any], kind: str, renumbered: Callable[[dict[str, Any]], Any]) -> list[int]:
        return [self._add(kind, renumbered(entry)) for entry in header.get(kind, [])]

    def _add(self, kind: str, entry: dict[str, Any]) -> int:
        key = kind, json.dumps(entry, sort_keys=True)
        if key not in self._known:
            self._known[key] = len(self.entries[kind])
            self.entries[kind].append(entry)
        return self._known[key]

    def _view(self, view: dict[str, Any], binary: bytes) -> int:
        content = binary[view["byteOffset"] : view["byteOffset"] + view["byteLength"]]
        key = view.get("target"), content
        if key not in self._known:
            self._known[key] = len(self.entries["bufferViews"])
            self.entries["bufferViews"].append(view | {"byteOffset": self._size})
            padding = -len(content) % 4
            self.parts += [content, bytes(padding)]
            self._size += len(content) + padding
        return self._known[key]


def _with_numbers(entry: dict[str, Any], **numbers: list[int]) -> dict[str, Any]:
    """The entry with other numbers of what it refers to."""
    return entry | {name: new[entry[name]] for name, new in numbers.items() if name in entry}


def _with_accessors(mesh: dict[str, Any], accessors: list[int], materials: list[int]) -> dict[str, Any]:
    primitives = []
    for primitive in mesh["primitives"]:
        attributes = {name: accessors[number] for name, number in primitive["attributes"].items()}
        entry = primitive | {"attributes": attributes, "indices": accessors[primitive["indices"]]}
        primitives.append(entry | ({"material": materials[entry["material"]]} if "material" in entry else {}))
    return mesh | {"primitives": primitives}
