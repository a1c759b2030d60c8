"""glTF and GLB files: one valid scene with something of everything, changed in one place at a time."""

from __future__ import annotations

import base64
import io
import json
import struct
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

import numpy as np
from PIL import Image

from tests.helpers.hostile.cases import FACES, POINTS, TETRAHEDRON, Case

REMOVE = object()
UV = np.array([[0, 0], [1, 0], [0, 1], [1, 1]], np.float32)
_NORMALS = np.tile(np.array([0, 0, 1], np.float32), (4, 1))
_JOINTS = np.zeros((4, 4), np.uint8)
_WEIGHTS = np.tile(np.array([1, 0, 0, 0], np.float32), (4, 1))
_OCTETS = "data:application/octet-stream;base64,"
_STRETCHED, _RIGHT, _FARTHER = POINTS * [2, 1, 1], np.array([3, 0, 0]), np.array([5, 0, 0])


def picture(kind: str = "PNG", size: tuple[int, int] = (4, 2)) -> bytes:
    """A small image file."""
    out = io.BytesIO()
    Image.new("RGB", size, (200, 10, 30)).save(out, kind)
    return out.getvalue()


def octets(content: bytes, head: str = _OCTETS) -> str:
    """A data URI."""
    return head + base64.b64encode(content).decode()


def document() -> dict[str, Any]:
    """A valid header with materials, a skin, an animation, a camera and morph targets; one tetrahedron is drawn."""
    builder = _Builder()
    position = builder.add(POINTS, "VEC3", target=34962, min=[0, 0, 0], max=[1, 1, 1])
    indices = builder.add(FACES.astype(np.uint16).reshape(-1), "SCALAR", target=34963)
    uv = builder.add(UV, "VEC2", target=34962)
    normal = builder.add(_NORMALS, "VEC3", target=34962)
    joints = builder.add(_JOINTS, "VEC4", target=34962)
    weights = builder.add(_WEIGHTS, "VEC4", target=34962)
    inverse = builder.add(np.eye(4, dtype=np.float32).reshape(1, 16), "MAT4")
    times = builder.add(np.array([0, 1], np.float32), "SCALAR", min=[0], max=[1])
    moves = builder.add(np.zeros((2, 3), np.float32), "VEC3")
    primitive = {"attributes": {"POSITION": position, "TEXCOORD_0": uv, "NORMAL": normal}, "indices": indices}
    target = {"POSITION": position}
    skinned = {**primitive["attributes"], "JOINTS_0": joints, "WEIGHTS_0": weights}
    return {
        "asset": {"version": "2.0", "generator": "a test"},
        "scene": 0,
        "scenes": [{"nodes": [0, 1, 2]}, {"nodes": [3, 2]}],
        "nodes": [
            {"mesh": 0, "name": "tetrahedron"},
            {"camera": 0, "translation": [0, 0, 5], "rotation": [0, 0, 0, 1], "scale": [1, 1, 1]},
            {"name": "joint"},
            {"mesh": 1, "skin": 0},
        ],
        "meshes": [
            {"primitives": [{**primitive, "material": 0, "mode": 4}]},
            {"primitives": [{"attributes": skinned, "indices": indices, "targets": [target]}], "weights": [0.5]},
        ],
        "skins": [{"joints": [2], "inverseBindMatrices": inverse, "skeleton": 2}],
        "animations": [
            {
                "samplers": [{"input": times, "output": moves, "interpolation": "LINEAR"}],
                "channels": [{"sampler": 0, "target": {"node": 2, "path": "translation"}}],
            }
        ],
        "cameras": [{"type": "perspective", "perspective": {"yfov": 1, "znear": 0.1, "zfar": 10, "aspectRatio": 1}}],
        "materials": [
            {
                "name": "red",
                "pbrMetallicRoughness": {
                    "baseColorFactor": [1, 1, 1, 1],
                    "baseColorTexture": {"index": 0, "texCoord": 0},
                    "metallicFactor": 0,
                    "roughnessFactor": 0.5,
                },
                "normalTexture": {"index": 0, "scale": 1},
                "occlusionTexture": {"index": 0, "strength": 1},
                "emissiveTexture": {"index": 0},
                "emissiveFactor": [0, 0, 0],
                "alphaMode": "MASK",
                "alphaCutoff": 0.5,
                "doubleSided": True,
            }
        ],
        "textures": [{"source": 0, "sampler": 0}],
        "images": [{"uri": octets(picture(), "data:image/png;base64,"), "mimeType": "image/png"}],
        "samplers": [{"magFilter": 9729, "minFilter": 9987, "wrapS": 10497, "wrapT": 33071}],
        "accessors": builder.accessors,
        "bufferViews": builder.views,
        "buffers": [{"byteLength": len(builder.content), "uri": octets(builder.content)}],
    }


class _Builder:
    def __init__(self) -> None:
        self.accessors: list[dict[str, Any]] = []
        self.views: list[dict[str, Any]] = []
        self.content = b""

    def add(self, array: np.ndarray, kind: str, target: int = 0, **bounds: Any) -> int:
        component = {"float32": 5126, "uint16": 5123, "uint8": 5121, "uint32": 5125}[array.dtype.name]
        content = array.tobytes()
        view: dict[str, Any] = {"buffer": 0, "byteOffset": len(self.content), "byteLength": len(content)}
        self.views.append(view | ({"target": target} if target else {}))
        self.content += content + bytes(-len(content) % 4)
        entry = {"bufferView": len(self.views) - 1, "componentType": component, "count": len(array), "type": kind}
        self.accessors.append(entry | bounds)
        return len(self.accessors) - 1


def edited(changes: Mapping[str, Any], base: dict[str, Any] | None = None) -> dict[str, Any]:
    """The document with other values at some paths such as "accessors.0.count"; REMOVE takes an entry away."""
    header = deepcopy(document() if base is None else base)
    for path, value in changes.items():
        steps: list[Any] = [int(step) if step.lstrip("-").isdigit() else step for step in path.split(".")]
        *way, last = steps
        place: Any = header
        for step in way:
            place = place[step] if isinstance(place, list) else place.setdefault(step, {})
        if value is REMOVE:
            del place[last]
        elif isinstance(place, list) and last == len(place):
            place.append(value)
        else:
            place[last] = value
    return header


def text(header: dict[str, Any]) -> bytes:
    """A header as the bytes of a .gltf file."""
    return json.dumps(header).encode()


def glb(header: dict[str, Any], chunk: bytes | None = None) -> bytes:
    """A header and a binary chunk as a GLB file."""
    words = text(header)
    parts = [(b"JSON", words + b" " * (-len(words) % 4))]
    if chunk is not None:
        parts.append((b"BIN\0", chunk + bytes(-len(chunk) % 4)))
    body = b"".join(struct.pack("<I4s", len(part), kind) + part for kind, part in parts)
    return b"glTF" + struct.pack("<II", 2, len(body) + 12) + body


def plain() -> tuple[dict[str, Any], bytes]:
    """A small valid header whose buffer is the binary chunk, and that chunk."""
    chunk = POINTS.tobytes() + FACES.astype(np.uint16).tobytes()
    header = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 1]},
            {"bufferView": 1, "componentType": 5123, "count": 12, "type": "SCALAR"},
        ],
        "bufferViews": [{"buffer": 0, "byteLength": 48}, {"buffer": 0, "byteOffset": 48, "byteLength": 24}],
        "buffers": [{"byteLength": 72}],
    }
    return header, chunk


def cases() -> Iterator[Case]:
    """All of them."""
    for name, header in _accepted().items():
        yield Case(f"gltf {name}", text(header), ".gltf", TETRAHEDRON)
    for name, (header, corners) in _moved().items():
        yield Case(f"gltf {name}", text(header), ".gltf", corners)
    for name, (leniency, changes) in _lenient().items():
        yield Case(f"gltf {name}", text(edited(changes)), ".gltf", TETRAHEDRON, lenient=leniency)
    for name, changes in _refused().items():
        yield Case(f"gltf {name}", text(edited(changes)), ".gltf")
    for name, content in _not_json().items():
        yield Case(f"gltf {name}", content, ".gltf")
    yield from _containers()
    yield from _coordinates()


def inline() -> dict[str, Any]:
    """The same header with its buffer embedded."""
    header, chunk = plain()
    return edited({"buffers.0.uri": octets(chunk)}, header)


def _accepted() -> dict[str, dict[str, Any]]:
    header, chunk = plain()
    percent = "data:application/octet-stream," + "".join(f"%{byte:02x}" for byte in chunk)
    whole = {"accessors.0.count": 4.0, "accessors.1.componentType": 5123.0, "bufferViews.1.byteOffset": 48.0}
    sparse = {
        "accessors.0.sparse": {
            "count": 1,
            "indices": {"bufferView": 2, "componentType": 5123},
            "values": {"bufferView": 3},
        },
        "bufferViews.2": {"buffer": 1, "byteLength": 2},
        "bufferViews.3": {"buffer": 1, "byteOffset": 4, "byteLength": 12},
        "buffers.1": {"byteLength": 16, "uri": octets(struct.pack("<Hxx3f", 1, 1, 0, 0))},
    }
    displaced = np.array(POINTS)
    displaced[1] = 9
    sparse_base = octets(displaced.tobytes() + chunk[48:])
    strided = np.zeros((4, 5), np.float32)
    strided[:, :3] = POINTS
    return {
        "with everything": document(),
        "with one tetrahedron": inline(),
        "with integers written as floats": edited(whole, inline()),
        "percent-encoded": edited({"buffers.0.uri": percent}, header),
        "with a sparse accessor": edited({**sparse, "buffers.0.uri": sparse_base}, inline()),
        "with a stride": edited(
            {
                "buffers.1": {"byteLength": 80, "uri": octets(strided.tobytes())},
                "bufferViews.0": {"buffer": 1, "byteLength": 80, "byteStride": 20},
            },
            inline(),
        ),
        "with unknown extensions and extras": edited(
            {"extensionsUsed": ["VENDOR_thing"], "nodes.0.extensions": {"VENDOR_thing": {"a": [1]}}, "extras": [1]}
        ),
        "with quantized positions": edited(
            {
                "extensionsUsed": ["KHR_mesh_quantization"],
                "extensionsRequired": ["KHR_mesh_quantization"],
                "buffers.1": {
                    "byteLength": 32,
                    "uri": octets(np.pad(POINTS, [(0, 0), (0, 1)]).astype("<i2").tobytes()),
                },
                "bufferViews.0": {"buffer": 1, "byteLength": 32, "byteStride": 8},
                "accessors.0.componentType": 5122,
            },
            inline(),
        ),
        "with an alpha mode that is unknown": edited({"materials.0.alphaMode": "SOLID"}),
        "without a scene": edited({"scene": REMOVE, "scenes": REMOVE}, inline()),
        "with minor version 1": edited({"asset.version": "2.1"}),
        "with bytes for indices": edited(
            {
                "buffers.1": {"byteLength": 12, "uri": octets(FACES.astype("u1").tobytes())},
                "bufferViews.1": {"buffer": 1, "byteLength": 12},
                "accessors.1.componentType": 5121,
            },
            inline(),
        ),
        "with materials that are required": edited(
            {
                "extensionsUsed": ["KHR_materials_unlit"],
                "extensionsRequired": ["KHR_materials_unlit"],
                "materials.0.extensions": {"KHR_materials_unlit": {}},
            }
        ),
    }


def _moved() -> dict[str, tuple[dict[str, Any], np.ndarray]]:
    """Headers with other corners than the tetrahedron's."""
    zeros = edited({"accessors.0.bufferView": REMOVE}, inline())
    zeros = edited(
        {
            "accessors.0.sparse": {
                "count": 3,
                "indices": {"bufferView": 2, "componentType": 5121},
                "values": {"bufferView": 3},
            },
            "bufferViews.2": {"buffer": 1, "byteLength": 3},
            "bufferViews.3": {"buffer": 1, "byteOffset": 4, "byteLength": 36},
            "buffers.1": {"byteLength": 40, "uri": octets(b"\1\2\3\0" + POINTS[1:].tobytes())},
        },
        zeros,
    )
    strip = edited(
        {"meshes.0.primitives.0": {"attributes": {"POSITION": 0}, "mode": 5}, "accessors.1": REMOVE},
        inline(),
    )
    matrix = [2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 3, 0, 0, 1]
    return {
        "sparse without a view": (zeros, TETRAHEDRON),
        "as a strip": (strip, POINTS[[[0, 1, 2], [2, 1, 3]]]),
        "as a fan": (
            edited({"meshes.0.primitives.0.mode": 6}, strip),
            POINTS[[[0, 1, 2], [0, 2, 3]]],
        ),
        "moved by a matrix": (edited({"nodes.0.matrix": matrix}, inline()), (_STRETCHED + _RIGHT)[FACES]),
        "scaled and moved": (
            edited({"nodes.0.scale": [2, 1, 1], "nodes.0.translation": [3, 0, 0]}, inline()),
            (_STRETCHED + _RIGHT)[FACES],
        ),
        "in two places": (
            edited({"nodes.1": {"mesh": 0, "translation": [5, 0, 0]}, "scenes.0.nodes": [0, 1]}, inline()),
            np.concatenate([TETRAHEDRON, TETRAHEDRON + _FARTHER]),
        ),
        "in the other scene": (
            edited({"scene": 1, "scenes.1": {"nodes": [1]}, "nodes.1": {"mesh": 0, "scale": [2, 1, 1]}}, inline()),
            _STRETCHED[FACES],
        ),
    }


def _lenient() -> dict[str, tuple[str, dict[str, Any]]]:
    """What Khronos' validator calls an error and is read all the same: leniency and change."""
    return {
        "positions without bounds": ("bounds", {"accessors.0.min": REMOVE, "accessors.0.max": REMOVE}),
        "positions with other bounds": ("bounds", {"accessors.0.max": [2, 1, 1]}),
        "positions beyond their bounds": ("bounds", {"accessors.0.min": [0.5, 0, 0]}),
        "bounds of positions that are null": ("nulls", {"accessors.0.max": [1, None, 1]}),
        "extensionsUsed empty": ("empty lists", {"extensionsUsed": []}),
        "node children empty": ("empty lists", {"nodes.0.children": []}),
        "primitive targets empty": ("empty lists", {"meshes.1.primitives.0.targets": [], "meshes.1.weights": []}),
        "views of another target": ("targets", {"bufferViews.0.target": 34963}),
        "normals that are not of unit length": ("normals", {"accessors.3.bufferView": 0}),
        "an emissiveFactor above 1": ("emission", {"materials.0.emissiveFactor": [2, 1, 0.5]}),
        "a scene that begins below a node that moves nothing": (
            "roots",
            {"nodes.4": {"children": [3], "scale": [1, 1, 1]}},
        ),
        "a shearing matrix": ("matrices", {"nodes.2.matrix": [1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]}),
        "an animation whose times fall": (
            "animations",
            {"animations.0.samplers.0.input": 7, "accessors.7.bufferView": 2, "accessors.7.count": 2},
        ),
        "an animation of two channels for one target": (
            "animations",
            {"animations.0.channels.1": {"sampler": 0, "target": {"node": 2, "path": "translation"}}},
        ),
        "a skin without a common root": ("skins", {"skins.0.skeleton": 0}),
        "a camera whose far is near": ("cameras", {"cameras.0.perspective.zfar": 0.01}),
        "an image that is missing": ("images", {"images.0": {"uri": "missing.png"}}),
        "an image of no known format": ("images", {"images.0": {"uri": octets(b"KTX 20")}}),
        "an image of another type than stated": ("images", {"images.0.mimeType": "image/jpeg"}),
        "an image that is cut off": ("images", {"images.0.uri": octets(picture()[:20], "data:image/png;base64,")}),
        "weights of another number": ("morph targets", {"meshes.1.weights": [0.5, 0.5]}),
        "an extension that is not declared": ("extensions", {"nodes.0.extensions": {"KHR_thing": {}}}),
        "a data URI of another media type": (
            "media types",
            {"buffers.0.uri": document()["buffers"][0]["uri"].replace("application/octet-stream", "text/plain")},
        ),
        "an emissive texture without its coordinates": ("coordinates", {"materials.0.emissiveTexture.texCoord": 1}),
    }


def _refused() -> dict[str, dict[str, Any]]:
    """Changes that make the document invalid, most of them after an error of Khronos' validator."""
    huge = 2**63
    return {
        "asset missing": {"asset": REMOVE},
        "version missing": {"asset.version": REMOVE},
        "version 1.0": {"asset.version": "1.0"},
        "version 3.0": {"asset.version": "3.0"},
        "version as a number": {"asset.version": 2.0},
        "version of words": {"asset.version": "two"},
        "minVersion 2.1": {"asset.minVersion": "2.1"},
        "a required extension that is unknown": {"extensionsUsed": ["X_y"], "extensionsRequired": ["X_y"]},
        "a required extension that is not used": {"extensionsRequired": ["KHR_materials_unlit"]},
        "extensionsUsed as an object": {"extensionsUsed": {}},
        "extensionsUsed of numbers": {"extensionsUsed": [1]},
        "extensionsUsed twice the same": {"extensionsUsed": ["A_b", "A_b"]},
        "accessors as an object": {"accessors": {}},
        "accessors empty": {"accessors": []},
        "an accessor as a number": {"accessors.0": 1},
        "an accessor as null": {"accessors.0": None},
        "accessor view -1": {"accessors.0.bufferView": -1},
        "accessor view beyond": {"accessors.0.bufferView": 99},
        "accessor view 0.5": {"accessors.0.bufferView": 0.5},
        "accessor view as text": {"accessors.0.bufferView": "0"},
        "accessor view as true": {"accessors.2.bufferView": True},
        "accessor offset -4": {"accessors.0.byteOffset": -4},
        "accessor offset beyond": {"accessors.0.byteOffset": 4},
        "accessor offset huge": {"accessors.0.byteOffset": huge},
        "accessor offset without a view": {"accessors.6.bufferView": REMOVE, "accessors.6.byteOffset": 4},
        "accessor type unknown": {"accessors.0.type": "VEC5"},
        "accessor type missing": {"accessors.0.type": REMOVE},
        "accessor component unknown": {"accessors.0.componentType": 5124},
        "accessor component missing": {"accessors.0.componentType": REMOVE},
        "accessor count 0": {"accessors.0.count": 0},
        "accessor count -1": {"accessors.0.count": -1},
        "accessor count 5 of 4": {"accessors.0.count": 5},
        "accessor count huge": {"accessors.0.count": huge},
        "accessor count 1e400": {"accessors.0.count": float("inf")},
        "accessor count missing": {"accessors.0.count": REMOVE},
        "accessor count 3.5": {"accessors.0.count": 3.5},
        "accessor count of 400 digits": {"accessors.0.count": 10**400},
        "accessor normalized as text": {"accessors.0.normalized": "no"},
        "accessor of floats normalized": {"accessors.0.normalized": True},
        "accessor min of two": {"accessors.0.min": [0, 0]},
        "accessor min of text": {"accessors.0.min": ["0", 0, 0]},
        "sparse count 0": _sparse(count=0),
        "sparse count 5 of 4": _sparse(count=5, indices=b"\0\1\2\3\4\0\0\0" + bytes(60)),
        "sparse indices that fall": _sparse(count=2, indices=b"\2\1\0\0" + bytes(24)),
        "sparse indices twice the same": _sparse(count=2, indices=b"\1\1\0\0" + bytes(24)),
        "sparse index beyond": _sparse(count=1, indices=b"\4\0\0\0" + bytes(24)),
        "sparse indices of floats": _sparse(component=5126),
        "sparse indices of shorts with a sign": _sparse(component=5122),
        "sparse without values": {**_sparse(), "accessors.0.sparse.values": REMOVE},
        "sparse without indices": {**_sparse(), "accessors.0.sparse.indices": REMOVE},
        "sparse values beyond their view": {**_sparse(), "accessors.0.sparse.values.byteOffset": 4},
        "sparse values in view -1": {**_sparse(), "accessors.0.sparse.values.bufferView": -1},
        "sparse values in a view beyond": {**_sparse(), "accessors.0.sparse.values.bufferView": 99},
        "sparse indices in a view with a stride": {**_sparse(), "bufferViews.9.byteStride": 4},
        "view buffer -1": {"bufferViews.0.buffer": -1},
        "view buffer beyond": {"bufferViews.0.buffer": 1},
        "view buffer missing": {"bufferViews.0.buffer": REMOVE},
        "view length 0": {"bufferViews.0.byteLength": 0},
        "view length beyond": {"bufferViews.0.byteLength": 10_000},
        "view length missing": {"bufferViews.0.byteLength": REMOVE},
        "view offset -4": {"bufferViews.1.byteOffset": -4},
        "view offset beyond": {"bufferViews.1.byteOffset": 10_000},
        "view offset huge": {"bufferViews.1.byteOffset": huge},
        "view stride 4 of 12": {"bufferViews.0.byteStride": 4},
        "view stride 2": {"bufferViews.0.byteStride": 2},
        "view stride 14": {"bufferViews.0.byteStride": 14},
        "view stride 256": {"bufferViews.0.byteStride": 256},
        "view stride 0": {"bufferViews.0.byteStride": 0},
        "view stride -12": {"bufferViews.0.byteStride": -12},
        "view stride longer than the view": {"bufferViews.0.byteStride": 60},
        "view of indices with a stride": {"bufferViews.1.byteStride": 4},
        "buffer length 0": {"buffers.0.byteLength": 0},
        "buffer length beyond": {"buffers.0.byteLength": 10_000},
        "buffer length missing": {"buffers.0.byteLength": REMOVE},
        "buffer length as text": {"buffers.0.byteLength": "300"},
        "buffer without data": {"buffers.0.uri": REMOVE},
        "buffer uri as a number": {"buffers.0.uri": 5},
        "buffer file that is missing": {"buffers.0.uri": "gone.bin"},
        "buffer file outside of the folder": {"buffers.0.uri": "../a.bin"},
        "buffer file outside, encoded": {"buffers.0.uri": "%2e%2e/a.bin"},
        "buffer file with NUL": {"buffers.0.uri": "a%00.bin"},
        "buffer file of 5,000 letters": {"buffers.0.uri": "a" * 5000},
        "buffer at an address": {"buffers.0.uri": "http://127.0.0.1:9/a.bin"},
        "buffer at file://": {"buffers.0.uri": "file:///etc/hostname"},
        "buffer that is the file itself": {"buffers.0.uri": "."},
        "base64 of other letters": {"buffers.0.uri": _OCTETS + "!!!!"},
        "base64 cut off": {"buffers.0.uri": document()["buffers"][0]["uri"][:-3]},
        "data without a comma": {"buffers.0.uri": "data:application/octet-stream;base64"},
        "nodes empty": {"nodes": []},
        "node mesh -1": {"nodes.0.mesh": -1},
        "node mesh beyond": {"nodes.0.mesh": 9},
        "node camera -1": {"nodes.1.camera": -1},
        "node camera beyond": {"nodes.1.camera": 3},
        "node skin beyond": {"nodes.3.skin": 1},
        "node skin without a mesh": {"nodes.3.mesh": REMOVE},
        "node child -1": {"nodes.0.children": [-1]},
        "node child beyond": {"nodes.0.children": [9]},
        "node child twice": {"nodes.0.children": [2, 2], "scenes": REMOVE, "scene": REMOVE},
        "node that is its own child": {"nodes.0.children": [0]},
        "node with two parents": {"nodes.0.children": [2], "nodes.1.children": [2], "scenes": REMOVE, "scene": REMOVE},
        "nodes in a circle": {"nodes.0.children": [1], "nodes.1.children": [0], "scenes": REMOVE, "scene": REMOVE},
        "node matrix of 15": {"nodes.0.matrix": [1] * 15},
        "node matrix of text": {"nodes.0.matrix": ["1"] * 16},
        "node matrix with a last row": {"nodes.0.matrix": [1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]},
        "node matrix beside a translation": {"nodes.1.matrix": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]},
        "node rotation of 3": {"nodes.0.rotation": [0, 0, 0]},
        "node rotation of 0": {"nodes.0.rotation": [0, 0, 0, 0]},
        "node rotation that is not of unit length": {"nodes.0.rotation": [0, 0, 1, 1]},
        "node rotation beyond 1": {"nodes.0.rotation": [0, 0, 0, 2]},
        "node scale of 2": {"nodes.0.scale": [1, 1]},
        "node translation of null": {"nodes.0.translation": [None, 0, 0]},
        "node translation of 1e400": {"nodes.0.translation": [float("inf"), 0, 0]},
        "node translation of nan": {"nodes.0.translation": [float("nan"), 0, 0]},
        "node translation of 400 digits": {"nodes.0.translation": [10**400, 0, 0]},
        "node name as a number": {"nodes.0.name": 5},
        "scene -1": {"scene": -1},
        "scene beyond": {"scene": 5},
        "scene without scenes": {"scenes": REMOVE},
        "scene node -1": {"scenes.0.nodes": [-1]},
        "scene node beyond": {"scenes.0.nodes": [99]},
        "scene node twice": {"scenes.0.nodes": [0, 0]},
        "scene node that is not a root": {"nodes.0.children": [2]},
        "scene node below one that moves it": {"nodes.4": {"children": [3], "scale": [1, 2, 1]}},
        "meshes empty": {"meshes": []},
        "mesh without primitives": {"meshes.0.primitives": REMOVE},
        "mesh of no primitives": {"meshes.0.primitives": []},
        "primitive without attributes": {"meshes.0.primitives.0.attributes": REMOVE},
        "primitive of no attributes": {"meshes.0.primitives.0.attributes": {}},
        "primitive without positions": {"meshes.0.primitives.0.attributes.POSITION": REMOVE},
        "primitive attribute -1": {"meshes.0.primitives.0.attributes.POSITION": -1},
        "primitive attribute beyond": {"meshes.0.primitives.0.attributes.POSITION": 99},
        "primitive attribute that is unknown": {"meshes.0.primitives.0.attributes.POSITIONS": 0},
        "primitive indices -1": {"meshes.0.primitives.0.indices": -1},
        "primitive indices beyond": {"meshes.0.primitives.0.indices": 99},
        "primitive indices of floats": {"meshes.0.primitives.0.indices": 7},
        "primitive indices of vectors": {"meshes.0.primitives.0.indices": 4},
        "primitive positions of two numbers": {"meshes.0.primitives.0.attributes.POSITION": 2},
        "primitive coordinates of three numbers": {"meshes.0.primitives.0.attributes.TEXCOORD_0": 3},
        "primitive normals of two numbers": {"meshes.0.primitives.0.attributes.NORMAL": 2},
        "primitive attributes of other counts": {"accessors.2.count": 3},
        "primitive material -1": {"meshes.0.primitives.0.material": -1},
        "primitive material beyond": {"meshes.0.primitives.0.material": 1},
        "primitive mode 7": {"meshes.0.primitives.0.mode": 7},
        "primitive of points": {"meshes.0.primitives.0.mode": 0},
        "primitive of lines": {"meshes.0.primitives.0.mode": 1},
        "primitive of 11 indices": {"accessors.1.count": 11},
        "primitive index of 9": {"buffers.0.uri": _with_indices([9])},
        "primitive index of restart": {"buffers.0.uri": _with_indices([65535])},
        "primitive position of nan": {"buffers.0.uri": _with_position(float("nan"))},
        "primitive position of infinity": {"buffers.0.uri": _with_position(float("inf"))},
        "primitive target beyond": {"meshes.1.primitives.0.targets.0.POSITION": 99},
        "weights of text": {"meshes.1.weights": ["a"]},
        "material factor of 2": {"materials.0.pbrMetallicRoughness.metallicFactor": 2},
        "material factor -1": {"materials.0.pbrMetallicRoughness.roughnessFactor": -1},
        "material colour of three": {"materials.0.pbrMetallicRoughness.baseColorFactor": [1, 1, 1]},
        "material colour of 2": {"materials.0.pbrMetallicRoughness.baseColorFactor": [2, 0, 0, 1]},
        "material texture -1": {"materials.0.pbrMetallicRoughness.baseColorTexture.index": -1},
        "material texture beyond": {"materials.0.pbrMetallicRoughness.baseColorTexture.index": 1},
        "material texture without an index": {"materials.0.pbrMetallicRoughness.baseColorTexture.index": REMOVE},
        "material texture coordinates that are not there": {
            "materials.0.pbrMetallicRoughness.baseColorTexture.texCoord": 1
        },
        "material texture coordinates -1": {"materials.0.pbrMetallicRoughness.baseColorTexture.texCoord": -1},
        "material cutoff -1": {"materials.0.alphaCutoff": -1},
        "material mode as a number": {"materials.0.alphaMode": 1},
        "material sides as a number": {"materials.0.doubleSided": 1},
        "material emission of two": {"materials.0.emissiveFactor": [0, 0]},
        "material normal texture beyond": {"materials.0.normalTexture.index": 9},
        "material name as a list": {"materials.0.name": []},
        "texture source -1": {"textures.0.source": -1},
        "texture source beyond": {"textures.0.source": 1},
        "texture sampler beyond": {"textures.0.sampler": 1},
        "image of nothing": {"images.0": {}},
        "image of a view and a uri": {"images.0.bufferView": 0},
        "image in a view beyond": {"images.0": {"bufferView": 99, "mimeType": "image/png"}},
        "image in a view without a type": {"images.0": {"bufferView": 8}},
        "image outside of the folder": {"images.0": {"uri": "../a.png"}},
        "image at an address": {"images.0": {"uri": "https://127.0.0.1:9/a.png"}},
        "image uri as a number": {"images.0.uri": 5},
        "sampler as a number": {"samplers.0": 5},
        "camera without a type": {"cameras.0.type": REMOVE},
        "camera without a perspective": {"cameras.0.perspective": REMOVE},
        "camera whose angle is 0": {"cameras.0.perspective.yfov": 0},
        "camera whose angle is text": {"cameras.0.perspective.yfov": "1"},
        "skin without joints": {"skins.0.joints": REMOVE},
        "skin of no joints": {"skins.0.joints": []},
        "skin joint beyond": {"skins.0.joints": [99]},
        "skin joint twice": {"skins.0.joints": [2, 2]},
        "skin skeleton beyond": {"skins.0.skeleton": 99},
        "skin matrices beyond": {"skins.0.inverseBindMatrices": 99},
        "animation without channels": {"animations.0.channels": REMOVE},
        "animation of no samplers": {"animations.0.samplers": []},
        "animation sampler beyond": {"animations.0.channels.0.sampler": 1},
        "animation node beyond": {"animations.0.channels.0.target.node": 99},
        "animation input beyond": {"animations.0.samplers.0.input": 99},
        "animation output -1": {"animations.0.samplers.0.output": -1},
        "animation path missing": {"animations.0.channels.0.target.path": REMOVE},
        "2,000 names of a missing buffer": _many_buffers(),
        "1,200 instances of 60,000 triangles": _many_instances(),
        "one 24 GB accessor": {"accessors.0": {"componentType": 5126, "count": 2_000_000_000, "type": "VEC3"}},
        "2,000 accessors of 100,000 zeros": _many_zeros(),
        "a chain of 3,000 nodes": {
            "nodes": [{"children": [i + 1]} for i in range(3000)] + [{"mesh": 0}],
            "scenes": [{"nodes": [0]}],
            "skins": REMOVE,
            "animations": REMOVE,
        },
    }


def _sparse(count: int = 1, indices: bytes = b"\1\0\0\0" + bytes(12), component: int = 5121) -> dict[str, Any]:
    used = {5121: 1, 5122: 2, 5126: 4}[component] * count
    return {
        "buffers.1": {"byteLength": len(indices), "uri": octets(indices)},
        "bufferViews.9": {"buffer": 1, "byteLength": max(used, 1)},
        "bufferViews.10": {"buffer": 1, "byteOffset": 8 if count > 4 else 4, "byteLength": 12 * max(count, 1)},
        "accessors.0.sparse": {
            "count": count,
            "indices": {"bufferView": 9, "componentType": component},
            "values": {"bufferView": 10},
        },
    }


def _content() -> bytearray:
    return bytearray(base64.b64decode(document()["buffers"][0]["uri"][len(_OCTETS) :]))


def _with_indices(first: list[int]) -> str:
    content = _content()
    content[48 : 48 + 2 * len(first)] = np.array(first, "<u2").tobytes()
    return octets(bytes(content))


def _with_position(value: float) -> str:
    content = _content()
    content[12:16] = struct.pack("<f", value)
    return octets(bytes(content))


def _many_buffers() -> dict[str, Any]:
    first = document()["buffers"][0]
    return {"buffers": [first, *[{"byteLength": 4, "uri": "missing.bin"}] * 2000]}


def _many_instances() -> dict[str, Any]:
    """1,200 nodes that show 60,000 triangles of a buffer that is 360 kB long."""
    corners = np.tile(FACES.astype(np.uint16), (15_000, 1))
    return {
        "buffers.1": {"byteLength": corners.nbytes, "uri": octets(corners.tobytes())},
        "bufferViews.9": {"buffer": 1, "byteLength": corners.nbytes},
        "accessors.9": {"bufferView": 9, "componentType": 5123, "count": corners.size, "type": "SCALAR"},
        "meshes.0.primitives.0.indices": 9,
        "nodes": [{"mesh": 0, "translation": [i, 0, 0]} for i in range(1200)],
        "scenes": [{"nodes": list(range(1200))}],
        "skins": REMOVE,
        "animations": REMOVE,
    }


def _many_zeros() -> dict[str, Any]:
    zeros = {"componentType": 5126, "count": 100_000, "type": "VEC3"}
    return {
        "accessors": [*document()["accessors"], *[zeros] * 2000],
        "meshes.0.primitives": [{"attributes": {"POSITION": 9 + i}} for i in range(2000)],
    }


def _not_json() -> dict[str, bytes]:
    whole = text(document())
    return {
        "of no bytes": b"",
        "of null": b"null",
        "of a list": b"[]",
        "of an empty object": b"{}",
        "of two objects": whole + whole,
        "cut off": whole[:-40],
        "of 100,000 brackets": b"[" * 100_000,
        "of nested objects": b'{"a":' * 3000 + b"1" + b"}" * 3000,
        "of nested extras": whole[:-1] + b', "extras": ' + b"[" * 900 + b"]" * 900 + b"}",
        "of 10 million empty lists": whole[:-1] + b', "extras": [' + b"[]," * 10_000_000 + b"[]]}",
        "in UTF-16": json.dumps(document()).encode("utf-16"),
        "with bytes that are not UTF-8": whole.replace(b"a test", b"\xff\xfe"),
        "with NaN for a number": whole.replace(b'"zfar": 10', b'"zfar": NaN'),
        "of XML": b"<x/>",
        "that is a PNG": picture(),
    }


def _containers() -> Iterator[Case]:
    header, chunk = plain()
    whole = glb(header, chunk)
    yield Case("glb", whole, ".glb", TETRAHEDRON)
    yield Case(
        "glb with an unknown chunk", _lengthened(whole, struct.pack("<I4s4s", 4, b"ABCD", b"abcd")), ".glb", TETRAHEDRON
    )
    yield Case("glb with embedded buffers", glb(inline()), ".glb", TETRAHEDRON)
    yield Case("glb with bytes behind its end", whole + b"abcd", ".glb", TETRAHEDRON)
    beside = edited({"buffers.0.uri": "my%20buffer.bin"}, header)
    yield Case("gltf with a buffer beside it", text(beside), ".gltf", TETRAHEDRON, beside={"my buffer.bin": chunk})
    short = {"my buffer.bin": chunk[:-4]}
    yield Case("gltf with a buffer beside it that is short", text(beside), ".gltf", beside=short)
    yield from _refused_containers(whole, header, chunk)
    names = edited({"buffers": [{"byteLength": 72, "uri": "big.bin"}] * 2000}, header)
    big = {"big.bin": chunk + bytes(2**20)}
    yield Case("gltf with 2,000 names of one file", text(names), ".gltf", TETRAHEDRON, beside=big)


def _lengthened(content: bytes, more: bytes) -> bytes:
    return content[:8] + struct.pack("<I", len(content) + len(more)) + content[12:] + more


def _refused_containers(whole: bytes, header: dict[str, Any], chunk: bytes) -> Iterator[Case]:
    words = text(header)
    faulty = {
        "of another magic": b"glTX" + whole[4:],
        "of version 1": whole[:4] + struct.pack("<I", 1) + whole[8:],
        "of version 3": whole[:4] + struct.pack("<I", 3) + whole[8:],
        "of length 4e9": whole[:8] + struct.pack("<I", 4_000_000_000) + whole[12:],
        "of length 4": whole[:8] + struct.pack("<I", 4) + whole[12:],
        "cut off in the header": whole[:10],
        "cut off behind the header": whole[:12],
        "cut off in the JSON": whole[:60],
        "cut off in the chunk": whole[:-8],
        "whose JSON is too long": whole[:12] + struct.pack("<I", 4_000_000_000) + whole[16:],
        "whose JSON is empty": b"glTF" + struct.pack("<IIII", 2, 20, 0, 0x4E4F534A),
        "whose first chunk is binary": whole[:16] + b"BIN\0" + whole[20:],
        "with two JSON chunks": _lengthened(whole, struct.pack("<I4s4s", 4, b"JSON", b"{}  ")),
        "with two binary chunks": _lengthened(whole, struct.pack("<I4s4s", 4, b"BIN\0", b"abcd")),
        "without its binary chunk": glb(header),
        "with a short binary chunk": glb(header, chunk[:-8]),
        "with half a chunk header": _lengthened(whole, b"abcd"),
        "with a chunk beyond the end": _lengthened(whole, struct.pack("<I4s", 400, b"ABCD")),
        "of text": words,
    }
    for name, content in faulty.items():
        yield Case(f"glb {name}", content, ".glb")


def _coordinates() -> Iterator[Case]:
    """Texture coordinates that are compared, too."""
    header = document()
    yield Case("gltf coordinates", text(header), ".gltf", TETRAHEDRON, uv=UV[FACES])
    second = edited(
        {
            "meshes.0.primitives.0.attributes.TEXCOORD_1": 2,
            "meshes.0.primitives.0.attributes.TEXCOORD_0": 9,
            "accessors.9": {"bufferView": 9, "componentType": 5126, "count": 4, "type": "VEC2"},
            "bufferViews.9": {"buffer": 1, "byteLength": 32},
            "buffers.1": {"byteLength": 32, "uri": octets(bytes(32))},
            "materials.0.pbrMetallicRoughness.baseColorTexture.texCoord": 1,
        }
    )
    yield Case("gltf coordinates of the second set", text(second), ".gltf", TETRAHEDRON, uv=UV[FACES])
    turned = edited(
        {
            "extensionsUsed": ["KHR_texture_transform"],
            "extensionsRequired": ["KHR_texture_transform"],
            "materials.0.pbrMetallicRoughness.baseColorTexture.extensions": {
                "KHR_texture_transform": {"offset": [0.5, 0.25], "scale": [2, 4]}
            },
        }
    )
    moved = UV * np.array([2, 4], np.float32) + np.array([0.5, 0.25], np.float32)
    yield Case("gltf coordinates that are transformed", text(turned), ".gltf", TETRAHEDRON, uv=moved[FACES])
