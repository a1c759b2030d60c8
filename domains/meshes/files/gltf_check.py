"""glTF and GLB claims checked against the bytes that are there (Khronos glTF 2.0, sections 3 and 4)."""

from __future__ import annotations

import json
import struct
from typing import Any

from hra.errors import FileError

_MAGIC, _JSON_CHUNK, _BINARY_CHUNK = 0x46546C67, 0x4E4F534A, 0x004E4942
_HEADER, _CHUNK_HEADER = 12, 8
_COMPONENT_BYTES = {5120: 1, 5121: 1, 5122: 2, 5123: 2, 5125: 4, 5126: 4}
_COMPONENTS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
# Triangles and strips; trimesh passes over fans without a word.
_TRIANGLE_MODES = (4, 5)
# What a file may require that changes how its bytes are to be read, and is not understood here.
_UNREADABLE = {"KHR_draco_mesh_compression", "EXT_meshopt_compression", "EXT_mesh_gpu_instancing"}
_MAX_NODE_DEPTH = 500
# Accessors may name the same bytes again and again; together they may unpack to this many times the file and a bit.
_COPIES, _SMALL = 3, 2**24


def check_glb(data: bytes, where: str) -> None:
    """Refuse a GLB container whose magic, version or lengths are wrong, or whose JSON `check_header` refuses.

    Raises
    ------
    FileError : names what is wrong.
    """
    if len(data) < _HEADER + _CHUNK_HEADER:
        raise FileError("the file is too short for a GLB header", where=where)
    magic, version, length, chunk, kind = struct.unpack_from("<IIIII", data)
    if magic != _MAGIC or version != 2:
        raise FileError("this is not a GLB file of version 2", where=where)
    if length > len(data) or _HEADER + _CHUNK_HEADER + chunk > length or kind != _JSON_CHUNK:
        raise FileError("a length in the GLB header exceeds the file: it is truncated or damaged", where=where)
    check_header(parse_header(split_glb(data)[0], where), len(data), where)


def split_glb(data: bytes) -> tuple[bytes, bytes | None]:
    """The JSON chunk of a checked GLB file, and the binary chunk if there is one."""
    (length,) = struct.unpack_from("<I", data, _HEADER)
    begin = _HEADER + _CHUNK_HEADER
    end = begin + length
    text = data[begin:end]
    while end + _CHUNK_HEADER <= len(data):
        length, kind = struct.unpack_from("<II", data, end)
        begin = end + _CHUNK_HEADER
        if kind == _BINARY_CHUNK:
            return text, data[begin : begin + length]
        end = begin + length
    return text, None


def check_gltf(data: bytes, where: str) -> None:
    """Refuse a glTF text file whose JSON `check_header` refuses.

    Raises
    ------
    FileError : names what is wrong.
    """
    check_header(parse_header(data, where), len(data), where)


def check_header(header: dict[str, Any], size: int, where: str) -> None:
    """Refuse accessors beyond their buffers, primitives that are no triangles, and nodes that form no forest.

    Parameters
    ----------
    size : of the file in bytes.

    Raises
    ------
    FileError : names what is wrong.
    """
    try:
        unreadable = sorted(_UNREADABLE & set(header.get("extensionsRequired", [])))
        if unreadable:
            fix = "export it without compression"
            raise FileError(f"it requires {', '.join(unreadable)}, which is not read", where=where, fix=fix)
        accessors = header.get("accessors", [])
        for number, accessor in enumerate(accessors):
            _check_accessor(header, accessor, size, f"{where}, accessor {number}")
        copied = sum(_copied_bytes(header, accessor) for accessor in accessors)
        if copied > _COPIES * size + _SMALL:
            fix = "export it without overlapping accessors"
            raise FileError(f"{len(accessors)} accessors would unpack to {copied} bytes", where=where, fix=fix)
        for number, mesh in enumerate(header.get("meshes", [])):
            for primitive in mesh["primitives"]:
                if primitive.get("mode", 4) not in _TRIANGLE_MODES:
                    what = "only triangles and triangle strips are read, no points, lines or fans"
                    raise FileError(what, where=f"{where}, mesh {number}", fix="export it as triangles")
        _check_nodes(header.get("nodes", []), where)
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        raise FileError(f"the glTF header is malformed ({type(error).__name__}: {error})", where=where) from error


def parse_header(text: bytes, where: str) -> dict[str, Any]:
    """The JSON header of a glTF file.

    Raises
    ------
    FileError : not JSON, or not an object.
    """
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileError(f"the glTF header is not valid JSON: {error}", where=where) from error
    if not isinstance(header, dict):
        raise FileError("the glTF header is not a JSON object", where=where)
    return header


def _check_accessor(header: dict[str, Any], accessor: dict[str, Any], size: int, where: str) -> None:
    element = _COMPONENT_BYTES[accessor["componentType"]] * _COMPONENTS[accessor["type"]]
    count = accessor["count"]
    if "bufferView" in accessor:
        view = header["bufferViews"][accessor["bufferView"]]
        room = min(view["byteLength"], header["buffers"][view["buffer"]]["byteLength"])
        needed = accessor.get("byteOffset", 0) + (count - 1) * view.get("byteStride", element) + element
    else:
        # Without a view an accessor is all zeros, so that nothing in the file would back its size.
        room, needed = size, count * element
    if count < 1 or accessor.get("byteOffset", 0) < 0 or needed > room:
        raise FileError(f"it claims {count} elements, which its {room} bytes cannot hold", where=where)


def _copied_bytes(header: dict[str, Any], accessor: dict[str, Any]) -> int:
    """What reading a checked accessor takes in memory beside the file: nothing where its elements lie side by side."""
    view = header["bufferViews"][accessor["bufferView"]] if "bufferView" in accessor else None
    if view is not None and "byteStride" not in view:
        return 0
    return _COMPONENT_BYTES[accessor["componentType"]] * _COMPONENTS[accessor["type"]] * accessor["count"]


def _check_nodes(nodes: list[dict[str, Any]], where: str) -> None:
    depth = [0] * len(nodes)
    children = {child for node in nodes for child in node.get("children", [])}
    pending = [number for number in range(len(nodes)) if number not in children]
    visited = 0
    while pending:
        number = pending.pop()
        visited += 1
        for child in nodes[number].get("children", []):
            depth[child] = depth[number] + 1
            pending.append(child)
        if visited > len(nodes) or depth[number] > _MAX_NODE_DEPTH:
            break
    if pending or visited != len(nodes):
        raise FileError(
            f"the nodes form no forest of depth below {_MAX_NODE_DEPTH}", where=where, fix="export it again"
        )
