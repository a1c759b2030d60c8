"""Small glTF scenes made in tests: a wavy sheet of many triangles, and whatever else a test adds to the header."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

_KINDS = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
_COMPONENTS = {"i1": 5120, "u1": 5121, "i2": 5122, "u2": 5123, "u4": 5125, "f4": 5126}


class Scene:
    """A header that grows, with the binary chunk behind it; one node shows one sheet.

    Parameters
    ----------
    side : vertices along each side of the sheet.
    """

    def __init__(self, side: int = 17) -> None:
        self.header: dict[str, Any] = {
            "asset": {"version": "2.0"},
            "scene": 0,
            "scenes": [{"nodes": [0]}],
            "nodes": [{"mesh": 0, "name": "sheet"}],
            "meshes": [{"name": "wavy", "primitives": []}],
            "accessors": [],
            "bufferViews": [],
        }
        self.chunk = b""
        self.side = side
        row, column = np.divmod(np.arange(side * side), side)
        self.uv = np.stack([column, row], axis=1).astype(np.float32) / (side - 1)
        height = np.sin(5 * self.uv[:, 0]) * np.cos(4 * self.uv[:, 1]) / 5
        self.positions = np.column_stack([self.uv[:, 0], height, self.uv[:, 1]]).astype(np.float32)
        corner = (np.arange(side - 1)[:, None] * side + np.arange(side - 1)).reshape(-1)
        steps = np.array([[0, side, 1], [1, side, side + 1]])
        self.triangles = (corner[:, None, None] + steps).reshape(-1, 3)
        attributes = {"POSITION": self.add(self.positions, bounds=True), "TEXCOORD_0": self.add(self.uv)}
        self.primitive = {
            "attributes": attributes,
            "indices": self.add(self.triangles.reshape(-1, 1).astype(np.uint16)),
        }
        self.header["meshes"][0]["primitives"].append(self.primitive)

    def add(self, array: np.ndarray, *, bounds: bool = False, **more: Any) -> int:
        """An accessor of the rows of ``array`` [n, k]; its number."""
        array = np.ascontiguousarray(array)
        entry = {"bufferView": self.add_bytes(array.tobytes()), "componentType": _COMPONENTS[array.dtype.str[1:]]}
        entry |= {"count": len(array), "type": _KINDS[array.shape[1]], **more}
        if bounds:
            entry |= {"min": array.min(axis=0).tolist(), "max": array.max(axis=0).tolist()}
        self.header["accessors"].append(entry)
        return len(self.header["accessors"]) - 1

    def add_bytes(self, content: bytes) -> int:
        """A view of ``content``; its number."""
        self.header["bufferViews"].append({"buffer": 0, "byteOffset": len(self.chunk), "byteLength": len(content)})
        self.chunk += content + bytes(-len(content) % 4)
        return len(self.header["bufferViews"]) - 1

    def write(self, path: Path) -> Path:
        """Write it as GLB."""
        header = self.header | {"buffers": [{"byteLength": len(self.chunk)}]}
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 4)
        parts = struct.pack("<II", len(text), 0x4E4F534A) + text
        parts += struct.pack("<II", len(self.chunk), 0x004E4942) + self.chunk
        path.write_bytes(b"glTF" + struct.pack("<II", 2, 12 + len(parts)) + parts)
        return path

    def skin(self, scale: float = 1.0) -> None:
        """Two joints below a node of that scale, which bend the sheet; the bind pose is that of the positions."""
        lower, upper = len(self.header["nodes"]), len(self.header["nodes"]) + 1
        inverse = np.tile(np.eye(4, dtype=np.float32) / scale, (2, 1, 1))
        inverse[:, 3, 3] = 1
        inverse[1, 0, 3] = -0.5
        self.header["nodes"] += [
            {"name": "lower", "children": [upper], "scale": [scale] * 3},
            {"name": "upper", "translation": [0.5, 0, 0]},
        ]
        self.header["scenes"][0]["nodes"].append(lower)
        matrices = self.add(inverse.transpose(0, 2, 1).reshape(2, 16))
        self.header["skins"] = [{"joints": [lower, upper], "inverseBindMatrices": matrices, "name": "bones"}]
        self.header["nodes"][0]["skin"] = 0
        share = np.clip(2 * self.uv[:, 0] - 0.5, 0, 1)
        weights = np.zeros((len(share), 4), np.float32)
        weights[:, 0], weights[:, 1] = 1 - share, share
        joints = np.where(weights > 0, np.arange(4), 0).astype(np.uint8)
        self.primitive["attributes"] |= {"JOINTS_0": self.add(joints), "WEIGHTS_0": self.add(weights)}
        times = self.add(np.array([[0], [1]], np.float32), bounds=True)
        turned = np.array([[0, 0, 0, 1], [0, 0, np.sqrt(0.5), np.sqrt(0.5)]], np.float32)
        sampler = {"input": times, "output": self.add(turned)}
        channel = {"sampler": 0, "target": {"node": upper, "path": "rotation"}}
        self.header["animations"] = [{"name": "bend", "samplers": [sampler], "channels": [channel]}]

    def morph(self) -> None:
        """Two targets, of positions and normals."""
        lift = np.zeros_like(self.positions)
        lift[:, 1] = np.square(self.uv[:, 0])
        side = np.zeros_like(self.positions)
        side[:, 2] = np.sin(3 * self.uv[:, 1])
        self.primitive["targets"] = [{"POSITION": self.add(one, bounds=True)} for one in (lift, side)]
        self.header["meshes"][0]["weights"] = [0.0, 0.0]


def fetched(triangles: np.ndarray) -> float:
    """Vertices that a cache of the last sixteen lacks, for each of the triangles [F, 3]; half is the least possible."""
    cache: list[int] = []
    count = 0
    for vertex in triangles.reshape(-1).tolist():
        if vertex not in cache:
            count, cache = count + 1, [*cache, vertex][-16:]
    return count / len(triangles)


class Read:
    """A GLB file as a test looks at it."""

    def __init__(self, path: Path) -> None:
        data = path.read_bytes()
        length = struct.unpack_from("<I", data, 12)[0]
        self.header: dict[str, Any] = json.loads(data[20 : 20 + length])
        self.chunk = data[28 + length :]

    def array(self, number: int) -> np.ndarray:
        """The rows [n, k] of an accessor."""
        entry = self.header["accessors"][number]
        view = self.header["bufferViews"][entry["bufferView"]]
        dtype = np.dtype("<" + next(kind for kind, code in _COMPONENTS.items() if code == entry["componentType"]))
        columns = next(count for count, kind in _KINDS.items() if kind == entry["type"])
        stride = view.get("byteStride", dtype.itemsize * columns)
        begin = view["byteOffset"] + entry.get("byteOffset", 0)
        rows = np.ndarray((entry["count"], columns), dtype, self.chunk, begin, (stride, dtype.itemsize))
        return rows.copy()

    def view(self, number: int) -> bytes:
        """The bytes of a view."""
        view = self.header["bufferViews"][number]
        return self.chunk[view["byteOffset"] : view["byteOffset"] + view["byteLength"]]
