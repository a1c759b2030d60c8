"""A finished GLB file with its geometry packed by EXT_meshopt_compression, exact or rounded.

All that triangles, animations and skins refer to is packed: arrays of one layout together in one view, as the codecs
work on bytes at equal places of elements that follow each other. Triangles are put in the order in which a GPU's vertex
cache hits most, and vertices in the order in which triangles meet them, which packs best, too.

Rounded files keep these floats: positions are multiples of a power of two, at least 2^14 of them along the longest side
of their mesh, and texture coordinates of 2^-16. The filter EXPONENTIAL stores them as whole numbers. Normals and
tangents are stored on an octahedron with 10 bits, as KHR_mesh_quantization allows. Animations are rounded to 2^-15 of
the largest number of a track (weights of targets to 2^-12), translations to that of its way, and times to 2^-15 of a
second; rotations with half turns between keys stay exact. What targets add to normals is rounded to 2^-11. Nodes of
scenes say single floats in eight digits. Weights of skins are rounded to 2^-12 with the same sum. Joints and colours
stay exact.

Source: Khronos, glTF extensions EXT_meshopt_compression (version 0 of the vertex codec, 1 of the index codec) and
KHR_mesh_quantization.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from hra.domains.meshes.files.gltf_accessors import (
    COLUMNS,
    Accessors,
    Views,
    element_bytes,
    is_mostly_zero,
    padded_rows,
    parts_in_views,
)
from hra.domains.meshes.files.gltf_extensions import changes_by_pointers, extensions, numbers_held
from hra.domains.meshes.files.gltf_files import split_glb
from hra.domains.meshes.files.gltf_keys import is_half_turn
from hra.domains.meshes.files.gltf_meshopt import NAMES, meshopt_codec
from hra.domains.meshes.files.gltf_nodes import REST
from hra.domains.meshes.files.gltf_primitives import accessors_of, is_blended, vertex_accessors
from hra.domains.meshes.files.write_glb import QUANTIZATION, container
from hra.domains.meshes.mesh.connected import connected
from hra.domains.meshes.mesh.meshopt import octahedral, vertex_cache_order
from hra.domains.meshes.mesh.point_grid import power_above
from hra.domains.meshes.mesh.weld import by_first_use

Compression = Literal["none", "meshopt", "rounded"]
COMPRESSIONS: tuple[Compression, ...] = ("none", "meshopt", "rounded")

_NAME = NAMES[0]
_FLOAT, _SHORT, _USHORT, _UINT = 5126, 5122, 5123, 5125
_ARRAY_BUFFER, _ELEMENT_BUFFER = 34962, 34963
_TRIANGLES = 4
_LONGEST_ELEMENT = 256
# Of rounded files: steps along a mesh, the step in texture coordinates (a quarter of a pixel of 16,384), and bits of
# normals: a quarter of a degree at most, as less shows as bands on polished surfaces.
_STEPS, _FINE, _DIRECTION_BITS = 2.0**15, 2.0**-16, 10
# And the steps of what morph targets add to normals, and of times, in seconds.
_TURN, _INSTANT = 2.0**-11, 2.0**-15
# Steps of weights of skins and of morph targets, as what they move is a part of the mesh's length, and a float's last
# but one digit.
_WEIGHTS, _DIGITS = 2.0**12, 2.0**-22
# Numbers of at most as many characters are said exactly: far away they would move by more than a mesh's own steps.
_SHORT_NUMBER = 14
_LARGEST_SINGLE = float(np.finfo(np.float32).max)
# How far sums of weights of skins may be from 1.
_UNEVEN = 0.01
# The filter holds whole numbers of 24 bits and exponents of 8, with signs.
_MOST, _EXPONENTS = 2.0**23 - 1, range(-100, 100)
# Extensions of primitives that name neither single vertices nor triangles.
_ORDERLESS = {"KHR_materials_variants"}
# About as many bytes as a header needs to say that an array is sparse.
_SPARSE_WORDS = 130


class _Kind(NamedTuple):
    """How an accessor is packed: those of one kind share a view."""

    mode: str
    stride: int
    filter: str = "NONE"
    target: int | None = None


def position_step(parts: Sequence[np.ndarray]) -> float:
    """The step of rounded positions in a mesh with these positions [V, 3], 0 where nothing is rounded."""
    points = np.concatenate([np.empty((0, 3)), *parts])
    longest = float((points.max(axis=0) - points.min(axis=0)).max()) if len(points) else 0.0
    return power_above(longest) / _STEPS if longest < math.inf else 0.0


def with_brief_nodes(header: dict[str, Any]) -> dict[str, Any]:
    """A header whose nodes say where they are in few digits: single floats, 10^-7 of the largest number of a vector.

    Short numbers and vectors of doubles keep theirs, as places on a globe need them. What nodes without words say is
    not said.
    """
    nodes = []
    for node in header.get("nodes", []):
        own = {key: _few_digits(value) if key in REST else value for key, value in node.items()}
        own |= {"matrix": _brief(node["matrix"])} if "matrix" in node else {}
        nodes.append({key: value for key, value in own.items() if key not in REST or tuple(value) != REST[key]})
    return {**header, "nodes": nodes} if nodes else header


def _few_digits(vector: Sequence[float]) -> list[float]:
    largest = max(map(abs, vector))
    if largest == 0 or not all(map(_is_single, vector)):
        return _brief(vector)
    places = 7 - math.floor(math.log10(largest))
    return _brief([round(x, places) if _is_long(x) else x for x in vector])


def _brief(numbers: Sequence[float]) -> list[float]:
    """Numbers that are the same single floats, long ones in as few digits as can be."""
    short = [float(str(np.float32(x))) if _is_long(x) and _is_single(x) else x for x in numbers]
    return [int(x) if x in (0, 1, -1) else x for x in short]


def _is_long(number: float) -> bool:
    return isinstance(number, float) and len(repr(number)) > _SHORT_NUMBER


def _is_single(number: float) -> bool:
    return abs(number) <= _LARGEST_SINGLE and float(np.float32(number)) == number


def rounded_weights(weights: np.ndarray) -> np.ndarray:
    """Weights of skins float [n, k] in steps of 2^-12, each row with the same sum; as they are where it is not 1 or 0.

    The largest remainders are rounded up, so that none moves by more than a step.
    """
    if weights.dtype.kind != "f":
        return weights
    totals, scaled = weights.sum(axis=1, dtype=np.float64), weights.astype(np.float64) * _WEIGHTS
    even = (np.abs(totals - 1) <= _UNEVEN) | (totals == 0)
    whole = np.floor(scaled)
    missing = np.rint(totals * _WEIGHTS) - whole.sum(axis=1)
    rank = np.argsort(np.argsort(whole - scaled, axis=1, kind="stable"), axis=1, kind="stable")
    rounded = ((whole + (rank < missing[:, None])) / _WEIGHTS).astype(np.float32)
    return np.where(even[:, None], rounded, weights)


def repacked(file: bytes, compression: Compression, *, brief_nodes: bool = False) -> bytes:
    """A GLB file of this library's own with packed geometry; its vertices and triangles may be in another order.

    Parameters
    ----------
    brief_nodes : whether rounded files have the nodes of `with_brief_nodes`, which moves what they show: who asks
        for them counts that.

    Raises
    ------
    MissingExtra : the package with the codecs is not installed.
    """
    if compression == "none":
        return file
    text, chunk = split_glb(file, "levels")
    header = json.loads(text)
    if brief_nodes and compression == "rounded":
        header = with_brief_nodes(header)
    return _Packing(header, chunk or b"", rounded=compression == "rounded").file()


class _Packing:
    """A header while it changes, and the arrays of its accessors that are packed, by number."""

    def __init__(self, header: dict[str, Any], chunk: bytes | memoryview, *, rounded: bool) -> None:
        self.header, self.rounded = header, rounded
        self.views: list[dict[str, Any]] = header.get("bufferViews", [])
        self.entries: list[dict[str, Any]] = header.get("accessors", [])
        self.accessors = Accessors(Views(header, [chunk], "levels"))
        self.contents = [self.accessors.views.content(number) for number in range(len(self.views))]
        self.held = numbers_held(header)
        self.roles = self._roles()
        self.arrays = {number: np.array(self.accessors.array(number)) for number in self._free()}
        self.few = {number for number in self.arrays if is_mostly_zero(self.entries[number])}
        self._by_keys()
        self.kinds: dict[int, _Kind] = {}

    def file(self) -> bytes:
        """See `repacked`."""
        for primitives in self._sharing():
            self._reorder(primitives)
        if self.rounded:
            self._round()
        for number, array in self.arrays.items():
            if number not in self.kinds:
                self._as_is(number, array)
        return self._written()

    def _primitives(self) -> Iterator[dict[str, Any]]:
        for mesh in self.header.get("meshes", []):
            yield from mesh["primitives"]

    def _roles(self) -> dict[int, set[tuple[str, str]]]:
        """What each accessor is for: a kind (vertex, target, index, sequence, key), and the name of the attribute."""
        found: dict[int, set[tuple[str, str]]] = {}

        def note(number: int, kind: str, name: str = "") -> None:
            found.setdefault(number, set()).add((kind, name))

        for primitive in self._primitives():
            if set(primitive.get("extensions", {})) - _ORDERLESS:  # which may say what no view holds
                for number in accessors_of(primitive):
                    if "bufferView" not in self.entries[number]:
                        note(number, "extension")
            for name, number in primitive["attributes"].items():
                note(number, "vertex", name)
            for target in primitive.get("targets", []):
                for name, number in target.items():
                    note(number, "target", name)
            if "indices" in primitive:
                note(primitive["indices"], "index" if primitive.get("mode", _TRIANGLES) == _TRIANGLES else "sequence")
        for animation in self.header.get("animations", []):
            for number, sampler in enumerate(animation["samplers"]):
                note(sampler["input"], "key", "time")
                paths = {c["target"]["path"] for c in animation["channels"] if c["sampler"] == number}
                for path in paths or {""}:
                    note(sampler["output"], "key", path)
        for skin in self.header.get("skins", []):
            if "inverseBindMatrices" in skin:
                note(skin["inverseBindMatrices"], "key")
        return found

    def _is_key(self, number: int) -> bool:
        return all(kind == "key" for kind, _ in self.roles[number])

    def _by_keys(self) -> None:
        """Weights of many targets lie in rows by keys, whose bytes resemble those of the next; not if rows are long."""
        for animation in self.header.get("animations", []):
            for sampler in animation["samplers"]:
                number, count = sampler["output"], self.entries[sampler["input"]]["count"]
                array = self.arrays.get(number)
                if self.roles[number] == {("key", "weights")} and array is not None and array.size % count == 0:
                    rows = array.reshape(count, -1)
                    self.arrays[number] = rows if rows[0].nbytes <= _LONGEST_ELEMENT else array

    def _free(self) -> list[int]:
        """The accessors in whose views nothing else lies that must stay as it is."""
        stay = {image["bufferView"] for image in self.header.get("images", []) if "bufferView" in image} | self.held
        stay |= {number for number, view in enumerate(self.views) if view.get("extensions")}
        free = {}
        for number, entry in enumerate(self.entries):
            kinds = {"vertex" if kind == "target" else kind for kind, _ in self.roles.get(number, ())}
            views = {part["bufferView"] for part, *_ in parts_in_views(entry)}
            if number in self.held or len(kinds) != 1 or "extension" in kinds:
                stay |= views
            else:
                free[number] = views
        while blocked := [number for number, views in free.items() if views & stay]:
            for number in blocked:
                stay |= free.pop(number)
        return list(free)

    def _sharing(self) -> list[list[dict[str, Any]]]:
        """The primitives that share vertices, directly or by others, in groups."""
        pairs, first = [], []
        for primitive in self._primitives():
            used = list(accessors_of(primitive))
            first.append(used[0])
            pairs += [(used[0], number, number) for number in used]
        root = connected(np.array(pairs, np.int64).reshape(-1, 3), len(self.entries))
        groups: dict[int, list[dict[str, Any]]] = {}
        for number, primitive in zip(first, self._primitives(), strict=True):
            groups.setdefault(int(root[number]), []).append(primitive)
        return list(groups.values())

    def _reorder(self, primitives: Sequence[dict[str, Any]]) -> None:
        """Put the triangles and vertices of primitives that share them in the order in which they pack best."""
        if not all(self._orderless(primitive) for primitive in primitives):
            return
        vertices = {number for primitive in primitives for number in vertex_accessors(primitive)}
        counts = {len(self.arrays[number]) for number in vertices}
        triangles = {primitive["indices"]: self.arrays[primitive["indices"]].reshape(-1, 3) for primitive in primitives}
        if len(counts) != 1 or any(one.max(initial=0) >= min(counts) for one in triangles.values()):
            return
        layered = {primitive["indices"] for primitive in primitives if is_blended(self.header, primitive)}
        ordered = [one if k in layered else vertex_cache_order(one, min(counts)) for k, one in triangles.items()]
        order, corners = by_first_use(np.concatenate(ordered).reshape(-1))
        if len(order) < min(counts):  # what no triangle shows stays where it is, and all numbers with it
            return
        ends = np.cumsum([one.size for one in ordered])[:-1]
        for (number, one), own in zip(triangles.items(), np.split(corners, ends), strict=True):
            self.arrays[number] = own.astype(one.dtype)[:, None]
        for number in vertices:
            self.arrays[number] = self.arrays[number][order]

    def _orderless(self, primitive: Mapping[str, Any]) -> bool:
        """Whether nothing says anything of a primitive's vertices and triangles by their numbers."""
        own = primitive.get("indices"), *vertex_accessors(primitive)
        roles = {kind for number in own if number in self.roles for kind, _ in self.roles[number]}
        return (
            all(number in self.arrays for number in own)
            and "sequence" not in roles
            and len(self.arrays[primitive["indices"]]) % 3 == 0
            and not set(primitive.get("extensions", {})) - _ORDERLESS
        )

    def _round(self) -> None:
        """Round what is worth it."""
        steps, fine, splines = self._position_steps(), _FINE / _enlarged(self.header), self._splines()
        joints = self._joints()
        for number, array in list(self.arrays.items()):
            names = {name for _, name in self.roles[number]}
            kinds = {kind for kind, _ in self.roles[number]}
            if self.entries[number]["componentType"] != _FLOAT or not np.isfinite(array).all():
                continue
            if names == {"POSITION"}:
                self._exponential(number, array, steps[number])
            elif kinds == {"vertex"} and all(name.startswith("TEXCOORD_") for name in names):
                self._exponential(number, array, fine)
            elif kinds == {"vertex"} and len(names) == 1 and names <= {"NORMAL", "TANGENT"}:
                self._octahedral(number, array)
            elif number in joints:
                rounded = rounded_weights(array)
                if (rounded * _WEIGHTS % 1).any():
                    continue
                # Joints that lose their weights say nothing.
                said = self.arrays[joints[number]]
                said[(rounded == 0) & rounded.any(axis=1, keepdims=True)] = 0
                self._bound(joints[number], said)
                self._exponential(number, rounded, 1 / _WEIGHTS)
            elif kinds == {"target"} and names <= {"NORMAL", "TANGENT"}:
                self._exponential(number, array, _TURN)
            elif names == {"time"}:
                if (np.diff(np.rint(array.astype(np.float64) / _INSTANT), axis=0) > 0).all():
                    self._exponential(number, array, _INSTANT)
            elif kinds == {"key"} and len(names) == 1 and names <= {"translation", "rotation", "scale", "weights"}:
                # Tangents may be much larger than what they lead to.
                values = array.reshape(splines[number], 3, -1)[:, 1] if number in splines else array
                if names == {"rotation"} and number not in splines and is_half_turn(values[:-1], values[1:]).any():
                    continue
                largest = power_above(float(np.abs(values).max(initial=0)))
                if names == {"translation"}:  # on its way, but with no more digits than floats have
                    step = max(position_step([values]), largest * _DIGITS)
                else:
                    step = largest / (_WEIGHTS if names == {"weights"} else _STEPS)
                self._exponential(number, array, step)

    def _joints(self) -> dict[int, int]:
        """The joints of weights, by accessor: of pairs that belong to each other alone and are all of a vertex."""
        pairs, several = set(), set()
        for primitive in self._primitives():
            named = primitive["attributes"]
            pairs.add((named.get("WEIGHTS_0"), named.get("JOINTS_0")))
            several |= {named.get("WEIGHTS_0")} if "WEIGHTS_1" in named else set()
        found = {}
        for weights, joints in pairs:
            both = weights in self.arrays and joints in self.arrays and weights not in several
            alone = both and sum(weights == one or joints == other for one, other in pairs) == 1
            if alone and len(self.roles[weights]) == len(self.roles[joints]) == 1:
                found[weights] = joints
        return found

    def _splines(self) -> dict[int, int]:
        """The keys of each accessor that has values between tangents; files of other counts are not refused."""
        samplers = [sampler for one in self.header.get("animations", []) for sampler in one["samplers"]]
        smooth = [sampler for sampler in samplers if sampler.get("interpolation") == "CUBICSPLINE"]
        found = {sampler["output"]: self.entries[sampler["input"]]["count"] for sampler in smooth}
        return {number: keys for number, keys in found.items() if self.entries[number]["count"] % (3 * keys) == 0}

    def _position_steps(self) -> dict[int, float]:
        """The step of each accessor of positions: that of its mesh, the least one if there are several."""
        steps: dict[int, float] = {}
        for mesh in self.header.get("meshes", []):
            places = [p["attributes"]["POSITION"] for p in mesh["primitives"] if "POSITION" in p["attributes"]]
            step = position_step([self.accessors.scale(number) for number in places])
            targets = [one["POSITION"] for p in mesh["primitives"] for one in p.get("targets", []) if "POSITION" in one]
            for number in (*places, *targets):
                steps[number] = min(step, steps.get(number, math.inf))
        return steps

    def _exponential(self, number: int, array: np.ndarray, step: float) -> None:
        """Store floats as whole multiples of a power of two, unless these are too long."""
        exponent = math.frexp(step)[1] - 1
        whole = np.rint(np.ldexp(array.astype(np.float64), -exponent))
        if step <= 0 or exponent not in _EXPONENTS or np.abs(whole).max(initial=0) > _MOST:
            return
        rounded = np.ldexp(whole, exponent).astype(np.float32).reshape(-1, COLUMNS[self.entries[number]["type"]])
        self._bound(number, rounded)
        words = (whole.astype(np.int64) & 0xFFFFFF) | ((exponent & 0xFF) << 24)
        target = None if self._is_key(number) else _ARRAY_BUFFER
        self._pack(number, words.astype("<u4"), _Kind("ATTRIBUTES", 4 * array.shape[1], "EXPONENTIAL", target))

    def _bound(self, number: int, rows: np.ndarray) -> None:
        """Say the bounds of an accessor's new ``rows`` [n, k] where it says any."""
        for name, end in (("min", rows.min), ("max", rows.max)):
            if name in self.entries[number]:
                self.entries[number][name] = _brief(end(axis=0).tolist())

    def _octahedral(self, number: int, array: np.ndarray) -> None:
        """Store directions on an octahedron, unless some have no length, which would get one."""
        if not array[:, :3].any(axis=1).all():
            return
        entry = self.entries[number]
        self._pack(number, octahedral(array, _DIRECTION_BITS), _Kind("ATTRIBUTES", 8, "OCTAHEDRAL", _ARRAY_BUFFER))
        entry |= {"componentType": _SHORT, "normalized": True}
        for name in ("min", "max"):
            entry.pop(name, None)
        self._require(QUANTIZATION)

    def _as_is(self, number: int, array: np.ndarray) -> None:
        """Pack an accessor without changing its numbers."""
        roles = {kind for kind, _ in self.roles[number]}
        if roles <= {"index", "sequence"}:
            if array.dtype.itemsize == 1:
                array, self.entries[number]["componentType"] = array.astype(np.uint16), _USHORT
            mode = "TRIANGLES" if roles == {"index"} and len(array) % 3 == 0 else "INDICES"
            self._pack(number, array, _Kind(mode, array.dtype.itemsize, target=_ELEMENT_BUFFER))
            return
        if self._is_key(number):
            self._pack(number, array, _Kind("ATTRIBUTES", array.dtype.itemsize * array.shape[1]))
            return
        rows = padded_rows(array, self.entries[number]["type"])
        self._pack(number, rows, _Kind("ATTRIBUTES", rows.shape[1], target=_ARRAY_BUFFER))

    def _pack(self, number: int, array: np.ndarray, kind: _Kind) -> None:
        self.arrays[number], self.kinds[number] = np.ascontiguousarray(array), kind

    def _parts(self) -> Iterator[tuple[dict[str, Any], np.ndarray, _Kind]]:
        """Each array that is packed, after the part of its accessor that refers to it."""
        for number, kind in self.kinds.items():
            entry, array = self.entries[number], self.arrays[number]
            sparse = self._sparse(number) if number in self.few else None
            for name in ("bufferView", "byteOffset", "sparse"):
                entry.pop(name, None)
            if sparse is None:
                yield entry, array, kind
            elif len(sparse):
                short = len(array) <= np.iinfo(np.uint16).max
                indices, values = {"componentType": _USHORT if short else _UINT}, {}
                entry["sparse"] = {"count": len(sparse), "indices": indices, "values": values}
                yield indices, *_of_places(sparse, short)
                yield values, array[sparse], kind._replace(target=None)

    def _sparse(self, number: int) -> np.ndarray | None:
        """The rows of a sparse accessor that are not zero; None where it is shorter with all."""
        array, kind = self.arrays[number], self.kinds[number]
        bits = array & 0xFFFFFF if kind.filter == "EXPONENTIAL" else array.view(np.uint8)
        rows = np.flatnonzero(bits.reshape(len(array), -1).any(axis=1))
        if not len(rows):
            return rows
        if kind.mode != "ATTRIBUTES" or element_bytes(self.entries[number]) != kind.stride:  # sparse values are dense
            return None
        places, how = _of_places(rows, short=True)
        parts = [(kind, array), (how, places), (kind, array[rows])]
        every, *few = (len(_view(one, content.tobytes(), 0)[1]) for one, content in parts)
        return rows if sum(few) + _SPARSE_WORDS < every else None

    def _joined(self, parts: Sequence[tuple[dict[str, Any], np.ndarray, _Kind]]) -> dict[_Kind, bytearray]:
        """The arrays of each kind, each once; what refers to them says where they begin."""
        contents: dict[_Kind, bytearray] = {kind: bytearray() for *_, kind in parts}
        known: dict[tuple[_Kind, bytes], int] = {}
        for entry, array, kind in parts:
            content = array.tobytes()
            if (kind, content) not in known:
                known[kind, content] = len(contents[kind])
                contents[kind] += content
            entry["byteOffset"] = known[kind, content]
        return contents

    def _written(self) -> bytes:
        """The file: views of packed arrays stand behind those that stay."""
        self._drop({part["bufferView"] for number in self.kinds for part, *_ in parts_in_views(self.entries[number])})
        own, added, unpacked = list(self._parts()), {}, 0
        for kind, content in self._joined(own).items():
            view, packed = _view(kind, bytes(content), unpacked)
            unpacked += view["byteLength"] + -view["byteLength"] % 4 if _NAME in view.get("extensions", {}) else 0
            added[kind] = len(self.views)
            self.views.append(view)
            self.contents.append(packed)
        for entry, _, kind in own:
            entry["bufferView"] = added[kind]
        parts, at = [], 0
        for view, content in zip(self.views, self.contents, strict=True):
            view.get("extensions", {}).get(_NAME, view).update(byteOffset=at, byteLength=len(content))
            parts += [content, bytes(-len(content) % 4)]
            at += len(content) + -len(content) % 4
        buffers: list[dict[str, Any]] = [{"byteLength": at}] if at else []
        if unpacked:
            buffers.append({"byteLength": unpacked, "extensions": {_NAME: {"fallback": True}}})
            self._require(_NAME)
        self.header |= {"buffers": buffers} if buffers else {}
        return container(self.header, b"".join(parts))

    def _drop(self, freed: set[int]) -> None:
        """Take views away, or what is in them where extensions may refer to others by their numbers."""
        for number in freed:
            self.views[number], self.contents[number] = {"buffer": 0}, bytes(4)
        if self.held:
            return
        kept = [number for number in range(len(self.views)) if number not in freed]
        self.views[:], self.contents = [self.views[k] for k in kept], [self.contents[k] for k in kept]
        number = dict(zip(kept, range(len(kept)), strict=True))
        parts = [part for entry in self.entries for part, *_ in parts_in_views(entry)]
        for part in (*parts, *(image for image in self.header.get("images", []) if "bufferView" in image)):
            part["bufferView"] = number.get(part["bufferView"], 0)

    def _require(self, name: str) -> None:
        for kind in ("extensionsUsed", "extensionsRequired"):
            if name not in self.header.setdefault(kind, []):
                self.header[kind].append(name)


def _view(kind: _Kind, content: bytes, begin: int) -> tuple[dict[str, Any], bytes]:
    """A view of the arrays of a kind and its bytes: packed, where that is shorter or numbers are filtered."""
    view = {"target": kind.target} if kind.target else {}
    view |= {"byteStride": kind.stride} if kind.target == _ARRAY_BUFFER else {}
    packed = _encoded(kind, content)
    if packed is None or (len(packed) >= len(content) and kind.filter == "NONE"):
        return {"buffer": 0, **view}, content
    how = {"buffer": 0, "byteStride": kind.stride, "count": len(content) // kind.stride, "mode": kind.mode}
    how |= {"filter": kind.filter} if kind.filter != "NONE" else {}
    place = {"buffer": 1, "byteOffset": begin, "byteLength": len(content)}
    return place | view | {"extensions": {_NAME: how}}, packed


def _encoded(kind: _Kind, content: bytes) -> bytes | None:
    """The bytes of a packed view, None where the codec does not take them."""
    codec = meshopt_codec()
    if kind.mode == "ATTRIBUTES":
        if kind.stride % 4 or kind.stride > _LONGEST_ELEMENT:
            return None
        codec.encode_vertex_version(0)
        rows = np.frombuffer(content, np.uint8).reshape(-1, kind.stride)
        return codec.encode_vertex_buffer(rows, len(rows), kind.stride)
    codec.encode_index_version(1)
    indices = np.frombuffer(content, f"<u{kind.stride}").astype(np.uint32)
    encode = codec.encode_index_buffer if kind.mode == "TRIANGLES" else codec.encode_index_sequence
    try:
        return encode(indices)
    except RuntimeError:
        return None


def _of_places(rows: np.ndarray, short: bool) -> tuple[np.ndarray, _Kind]:
    """Places of sparse values as they are packed."""
    places = rows.astype(np.uint16 if short else np.uint32)
    return places, _Kind("INDICES", places.dtype.itemsize)


def _enlarged(header: Mapping[str, Any]) -> float:
    """By how much texture transforms enlarge coordinates at most, a power of two; infinite where they may move."""
    if changes_by_pointers(header):
        return math.inf
    named = (content for name, content in extensions(header) if name == "KHR_texture_transform")
    scales = [abs(side) for content in named for side in content.get("scale", [])]
    return power_above(max([1.0, *scales]))
