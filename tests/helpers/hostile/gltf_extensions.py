"""glTF files with compressed views and with instances: EXT_meshopt_compression, EXT_mesh_gpu_instancing."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator, Mapping
from typing import Any

import meshoptimizer
import numpy as np

from hra.domains.meshes.mesh import meshopt
from tests.helpers.hostile.cases import FACES, POINTS, TETRAHEDRON, Case
from tests.helpers.hostile.gltf import REMOVE, edited, glb, octets, plain, text

_MESHOPT, _KHRONOS, _INSTANCING = "EXT_meshopt_compression", "KHR_meshopt_compression", "EXT_mesh_gpu_instancing"
_ENTRY = "bufferViews.{}.extensions.EXT_meshopt_compression.{}"
# A quarter turn around z: x to y.
_TURN = np.array([0, 0, np.sqrt(0.5), np.sqrt(0.5)], np.float32)


def filtered(name: str, values: np.ndarray, stride: int, bits: int) -> bytes:
    """``values`` float32 [n, k] as rows of ``stride`` bytes by one of the library's filters: Oct, Quat or Exp."""
    function = getattr(meshopt.library(), f"meshopt_encodeFilter{name}")
    values, result = np.ascontiguousarray(values, np.float32), np.zeros(len(values) * stride, np.uint8)
    sizes = [ctypes.c_size_t(len(values)), ctypes.c_size_t(stride), ctypes.c_int(bits)]
    modes = [ctypes.c_int(0)] if name == "Exp" else []
    pointers = ctypes.c_void_p(result.ctypes.data), ctypes.c_void_p(values.ctypes.data)
    function(pointers[0], *sizes, pointers[1], *modes)
    return result.tobytes()


class Packed:
    """A header whose views are compressed one after the other into its first buffer; the second is the fallback."""

    def __init__(self, name: str = _MESHOPT) -> None:
        self.name, self.content, self.views, self.plain_bytes = name, b"", [], 0

    def add(self, rows: bytes, stride: int, mode: str, more: Mapping[str, Any] | None = None) -> int:
        """Compress ``rows`` of ``stride`` bytes; the number of their view."""
        count = len(rows) // stride
        data = _encoded(rows, stride, count, mode)
        entry = {"buffer": 0, "byteOffset": len(self.content), "byteLength": len(data), "byteStride": stride}
        view = {"buffer": 1, "byteOffset": self.plain_bytes, "byteLength": len(rows)}
        if mode == "ATTRIBUTES":
            view["byteStride"] = stride
        self.views.append(view | {"extensions": {self.name: entry | {"mode": mode, "count": count} | dict(more or {})}})
        self.content += data + bytes(-len(data) % 4)
        self.plain_bytes += len(rows) + -len(rows) % 4
        return len(self.views) - 1

    def header(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """The header of a scene of one primitive, with the compressed data embedded."""
        base = {
            "extensionsUsed": [self.name, "KHR_mesh_quantization"],
            "extensionsRequired": [self.name, "KHR_mesh_quantization"],
            "bufferViews": self.views,
            "buffers": [
                {"byteLength": len(self.content), "uri": octets(self.content)},
                {"byteLength": self.plain_bytes, "extensions": {self.name: {"fallback": True}}},
            ],
        }
        return edited(changes, edited(base, plain()[0]))


def _encoded(rows: bytes, stride: int, count: int, mode: str) -> bytes:
    if mode == "ATTRIBUTES":
        return meshoptimizer.encode_vertex_buffer(np.frombuffer(rows, np.uint8), count, stride)
    numbers = np.frombuffer(rows, np.uint16 if stride == 2 else np.uint32).astype(np.uint32)
    encode = meshoptimizer.encode_index_buffer if mode == "TRIANGLES" else meshoptimizer.encode_index_sequence
    return encode(numbers, count, int(numbers.max()) + 1)


def compressed(index_type: type = np.uint16, mode: str = "TRIANGLES", name: str = _MESHOPT) -> dict[str, Any]:
    """The tetrahedron with positions and indices compressed."""
    return _packed(index_type, mode, name).header(
        {"accessors.1.componentType": 5123 if index_type is np.uint16 else 5125}
    )


def packed_bytes(index_type: type = np.uint16, mode: str = "TRIANGLES") -> bytes:
    """The buffer of the same."""
    return _packed(index_type, mode, _MESHOPT).content


def _packed(index_type: type, mode: str, name: str) -> Packed:
    packed, indices = Packed(name), FACES.astype(index_type)
    packed.add(POINTS.tobytes(), 12, "ATTRIBUTES")
    packed.add(indices.tobytes(), indices.itemsize, mode)
    return packed


def _by_exponents() -> dict[str, Any]:
    packed = Packed()
    packed.add(filtered("Exp", POINTS, 12, 15), 12, "ATTRIBUTES", {"filter": "EXPONENTIAL"})
    packed.add(FACES.astype(np.uint16).tobytes(), 2, "TRIANGLES")
    return packed.header({})


def _by_shorts() -> dict[str, Any]:
    """Positions of two bytes a coordinate, with normals of one byte."""
    packed = Packed()
    packed.add(np.pad(POINTS, [(0, 0), (0, 1)]).astype("<i2").tobytes(), 8, "ATTRIBUTES")
    packed.add(FACES.astype(np.uint16).tobytes(), 2, "TRIANGLES")
    normals = np.tile(np.array([0, 0.6, 0.8, 0], np.float32), (4, 1))
    packed.add(filtered("Oct", normals, 4, 8), 4, "ATTRIBUTES", {"filter": "OCTAHEDRAL"})
    normal = {"bufferView": 2, "componentType": 5120, "normalized": True, "count": 4, "type": "VEC3"}
    changes = {"accessors.0.componentType": 5122, "meshes.0.primitives.0.attributes.NORMAL": 2, "accessors.2": normal}
    return packed.header(changes)


def instanced(
    places: np.ndarray, rotation: np.ndarray | None = None, scale: np.ndarray | None = None
) -> dict[str, Any]:
    """The tetrahedron's header with instances of its node."""
    arrays = {"TRANSLATION": places, "ROTATION": rotation, "SCALE": scale}
    arrays = {name: array for name, array in arrays.items() if array is not None}
    content, views, accessors, attributes = b"", [], [], {}
    for name, array in arrays.items():
        attributes[name] = 2 + len(accessors)
        views.append({"buffer": 1, "byteOffset": len(content), "byteLength": array.nbytes})
        kind, whole = f"VEC{array.shape[1]}", array.dtype == np.int16
        entry = {"bufferView": 2 + len(accessors), "count": len(array), "type": kind}
        accessors.append(entry | ({"componentType": 5122, "normalized": True} if whole else {"componentType": 5126}))
        content += array.tobytes() + bytes(-array.nbytes % 4)
    header, chunk = plain()
    header["buffers"] = [{"byteLength": 72, "uri": octets(chunk)}, {"byteLength": len(content), "uri": octets(content)}]
    header["bufferViews"] += views
    header["accessors"] += accessors
    changes = {"extensionsUsed": [_INSTANCING], "extensionsRequired": [_INSTANCING]}
    return edited({**changes, f"nodes.0.extensions.{_INSTANCING}.attributes": attributes}, header)


_PLACES = np.array([[0, 0, 0], [5, 0, 0], [0, 0, -7]], np.float32)
_SIZES = np.array([[1, 1, 1], [2, 1, 1], [-1, 1, 1]], np.float32)


def cases() -> Iterator[Case]:
    """All of them."""
    for name, header in _accepted().items():
        yield Case(f"gltf {name}", text(header), ".gltf", TETRAHEDRON)
    header = edited({"buffers.0.uri": REMOVE}, compressed())
    yield Case("glb with meshopt compression", glb(header, packed_bytes()), ".glb", TETRAHEDRON)
    # What only other readers take is not looked at: these zeros are not tetrahedron.
    spare = {"buffers.1.uri": "zeros.bin", "extensionsRequired": ["KHR_mesh_quantization"]}
    header = edited(spare, compressed())
    zeros = {"zeros.bin": bytes(header["buffers"][1]["byteLength"])}
    yield Case(
        "gltf with meshopt compression and a fallback",
        text(header),
        ".gltf",
        TETRAHEDRON,
        beside=zeros,
        lenient="bounds",
    )
    yield from _placed()
    for name, changes in _refused().items():
        yield Case(f"gltf compressed, {name}", text(edited(changes, compressed())), ".gltf")
    for name, changes in _refused_instances().items():
        yield Case(f"gltf instanced, {name}", text(edited(changes, instanced(_PLACES, scale=_SIZES))), ".gltf")


def seeds() -> tuple[tuple[bytes, str], ...]:
    """Valid headers as text, and GLB files, whose compressed bytes lie open to damage."""
    found = [(case.content, case.suffix) for case in cases() if case.accepted and not case.beside]
    for index_type, mode in ((np.uint16, "TRIANGLES"), (np.uint32, "INDICES")):
        header = edited({"buffers.0.uri": REMOVE}, compressed(index_type, mode))
        found += [(glb(header, packed_bytes(index_type, mode)), ".glb")] * 6
    return tuple(found)


def _accepted() -> dict[str, dict[str, Any]]:
    return {
        "with meshopt compression": compressed(),
        "with meshopt compression by its newer name": compressed(name=_KHRONOS),
        "with compressed indices of four bytes": compressed(np.uint32),
        "with a compressed sequence of indices": compressed(mode="INDICES"),
        "with a compressed sequence of four bytes": compressed(np.uint32, "INDICES"),
        "with compressed exponents": _by_exponents(),
        "with compressed shorts and normals": _by_shorts(),
    }


def _placed() -> Iterator[Case]:
    all_places = np.concatenate([TETRAHEDRON + place for place in _PLACES])
    yield Case("gltf with instances", text(instanced(_PLACES)), ".gltf", all_places)
    sized = [TETRAHEDRON * size + place for size, place in zip(_SIZES, _PLACES, strict=True)]
    sized[2] = sized[2][:, ::-1]
    yield Case("gltf with scaled instances", text(instanced(_PLACES, scale=_SIZES)), ".gltf", np.concatenate(sized))
    turned = np.stack([-TETRAHEDRON[..., 1], TETRAHEDRON[..., 0], TETRAHEDRON[..., 2]], axis=2)
    alone = instanced(_PLACES[1:2], _TURN[None])
    yield Case("gltf with a turned instance", text(alone), ".gltf", turned + _PLACES[1])
    outer = edited({"nodes.0.translation": [0, 3, 0], "nodes.0.scale": [2, 2, 2]}, alone)
    around = 2 * (turned + _PLACES[1]) + np.array([0, 3, 0])
    yield Case("gltf with an instance of a moved node", text(outer), ".gltf", around)
    short = instanced(_PLACES[:1], np.array([[0, 0, 32767, 0]], np.int16))
    half = TETRAHEDRON * np.array([-1, -1, 1])
    yield Case("gltf with an instance turned by shorts", text(short), ".gltf", half)


def _refused() -> dict[str, dict[str, Any]]:
    content = packed_bytes()
    first = {name: _ENTRY.format(0, name) for name in ("buffer", "byteLength", "byteOffset", "byteStride", "count")}
    second = {name: _ENTRY.format(1, name) for name in ("byteLength", "byteStride", "count", "mode", "filter")}
    damaged = bytes([content[0] ^ 0xFF]) + content[1:]
    return {
        "without a buffer": {first["buffer"]: REMOVE},
        "of a buffer that is not there": {first["buffer"]: 7},
        "in the fallback": {first["buffer"]: 1},
        "without a count": {first["count"]: REMOVE},
        "of another count than the view": {first["count"]: 5},
        "of count 0": {first["count"]: 0},
        "of a stride that is not a multiple of four": {first["byteStride"]: 6, first["count"]: 8},
        "of a stride of 512": {first["byteStride"]: 512},
        "of another stride than the view": {first["byteStride"]: 4, first["count"]: 12},
        "beyond the buffer": {first["byteLength"]: 10_000},
        "at an offset beyond the buffer": {first["byteOffset"]: 10_000},
        "cut off": {first["byteLength"]: 5},
        "of another mode": {second["mode"]: "TRIANGLES "},
        "with indices as attributes": {second["mode"]: "ATTRIBUTES"},
        "with triangles as a sequence": {second["mode"]: "INDICES"},
        "with a filter for indices": {second["filter"]: "OCTAHEDRAL"},
        "with a filter for another stride": {_ENTRY.format(0, "filter"): "QUATERNION"},
        "with the filter for colours": {_ENTRY.format(0, "filter"): "COLOR"},
        "with an unknown filter": {_ENTRY.format(0, "filter"): "BROTLI"},
        "with a stride of one byte": {second["byteStride"]: 1, second["count"]: 24},
        "of eleven corners": {second["count"]: 11, "bufferViews.1.byteLength": 22, "accessors.1.count": 9},
        "with damaged bytes": {"buffers.0.uri": octets(damaged)},
        "with zeros for data": {"buffers.0.uri": octets(bytes(len(content)))},
        "with a fallback that is not a flag": {"buffers.1.extensions.EXT_meshopt_compression.fallback": 1},
        "with a view into the fallback": {"bufferViews.0.extensions": REMOVE},
        "of 2 GB": {
            first["count"]: 2**31 // 12,
            "bufferViews.0.byteLength": 2**31 // 12 * 12,
            "buffers.1.byteLength": 2**31,
        },
    }


def _refused_instances() -> dict[str, dict[str, Any]]:
    entry = f"nodes.0.extensions.{_INSTANCING}"
    return {
        "without attributes": {entry: {}},
        "with no attribute": {f"{entry}.attributes": {}},
        "with another attribute": {f"{entry}.attributes": {"PLACE": 2}},
        "with an accessor that is not there": {f"{entry}.attributes.SCALE": 9},
        "of different counts": {"accessors.3.count": 2},
        "with positions of two columns": {"accessors.2.type": "VEC2"},
        "with scales that are rotations": {f"{entry}.attributes": {"TRANSLATION": 2, "ROTATION": 3}},
        "with whole numbers for places": {"accessors.2.componentType": 5122},
        "with a rotation of length 0": {
            f"{entry}.attributes.ROTATION": 4,
            "accessors.4": {"componentType": 5126, "count": 3, "type": "VEC4"},
        },
        "with a place that is not finite": {
            "buffers.1.uri": octets(struct.pack("<f", np.nan) + _PLACES.tobytes()[4:] + _SIZES.tobytes())
        },
        "in 10 million places": {
            "accessors.2": {"componentType": 5126, "count": 10_000_000, "type": "VEC3"},
            f"{entry}.attributes": {"TRANSLATION": 2},
        },
        "in a million places of nothing": {
            "accessors.2": {"componentType": 5126, "count": 1_000_000, "type": "VEC3"},
            f"{entry}.attributes": {"TRANSLATION": 2},
        },
    }
