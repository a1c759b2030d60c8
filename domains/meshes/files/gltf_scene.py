"""A glTF scene in and out: the header is kept as it is, and the vertices and triangles of its primitives are replaced.

Nodes, skins, animations, cameras, lights, materials, images and what extensions say pass through untouched. Vertices of
a level are vertices of the source, so that joints, weights, morph targets and every other attribute are those of the
source, in its types; those that were moved differ from one of these in their position, and perhaps in attributes that
are given. Accessors and views that stay keep their numbers, because an extension may refer to them; a short file in
which none may refer to one gets new numbers, without gaps.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hra.domains.meshes.files.gltf_accessors import (
    COMPONENT,
    Accessors,
    element_bytes,
    end_in_view,
    is_mostly_zero,
    padded_rows,
    parts_in_views,
)
from hra.domains.meshes.files.gltf_draco import NAME as DRACO
from hra.domains.meshes.files.gltf_draco import packed
from hra.domains.meshes.files.gltf_extensions import extensions, numbers_held
from hra.domains.meshes.files.gltf_files import read_uri
from hra.domains.meshes.files.gltf_keys import channels_at_rest, enough_keys, needed_keys
from hra.domains.meshes.files.gltf_meshopt import NAMES as MESHOPT
from hra.domains.meshes.files.gltf_primitives import accessors_of, triangles_of
from hra.domains.meshes.files.gltf_structure import leave_out_unsaid
from hra.domains.meshes.files.read_gltf import open_gltf
from hra.domains.meshes.files.resolver import MissingFile, SiblingFiles
from hra.domains.meshes.files.suffixes import GLTF
from hra.domains.meshes.files.write_glb import container
from hra.domains.meshes.mesh.materials import image_type
from hra.domains.meshes.mesh.meshopt import unique_rows
from hra.domains.meshes.mesh.weld import by_first_use, first_occurrences
from hra.errors import FileError, warn
from hra.files.limits import DEFAULT, Limits
from hra.files.local_files import local_path, read_regular

_UBYTE, _USHORT, _UINT, _FLOAT = 5121, 5123, 5125, 5126
_ARRAY_BUFFER, _ELEMENT_BUFFER = 34962, 34963
_MAX_USHORT_VERTICES = 65_535
# What linear tracks move without jumps.
_MOVES = ("rotation", "translation", "scale", "weights")
# Bytes of a header that a sparse accessor takes.
_SPARSE_WORDS = 300
# Images that scenes pass through and `image_type` does not know: KTX2 of any texels.
_PASSED = {b"DDS ": "image/vnd-ms.dds", b"\xabKTX 20\xbb": "image/ktx2"}
_COMPRESSIONS = (DRACO, *MESHOPT)
# Says that triangles beside each other with the same first corner are one polygon; other triangles lose it.
_POLYGONS = "FB_ngon_encoding"
# Extensions of a primitive that say nothing of its single vertices and triangles, or that are read.
_OF_PRIMITIVES = {"KHR_materials_variants", "EXT_mesh_features", "EXT_structural_metadata", DRACO, _POLYGONS}

# Pointers of animations that lead to morph weights.
_WEIGHTS = re.compile(r"/(nodes|meshes)/(\d+)/weights(/|$)")

Place = tuple[int, int]


class Moved(NamedTuple):
    """Vertices like others at another position, perhaps with other attributes.

    Attributes
    ----------
    rows : int64 [K], the vertices of their primitives that they are like.
    points : float64 [K, 3], in their primitives' space.
    values : by the names of attributes, float64 [K, k] each, of those that may differ.
    fitted : bool [K], which vertices have these values; the others have those of their rows.
    """

    rows: np.ndarray
    points: np.ndarray
    values: Mapping[str, np.ndarray]
    fitted: np.ndarray


_NOTHING = Moved(np.empty(0, np.int64), np.empty((0, 3)), {}, np.empty(0, bool))
Levels = Sequence[Mapping[Place, np.ndarray]]


@dataclass(frozen=True, eq=False)
class GltfScene:
    """A checked glTF file.

    Attributes
    ----------
    accessors : over the header in whose numbers all references are ints.
    header : as it stands in the file, without what says nothing.
    files : beside it.
    """

    accessors: Accessors
    header: dict[str, Any]
    files: SiblingFiles
    # The keys that tracks need and the channels that files can do without, by what they are found from: to find them
    # takes longer than the rest of a file that is tried.
    _keys: dict[tuple[Any, ...], np.ndarray] = field(default_factory=dict)
    _resting: dict[float, set[tuple[int, int]]] = field(default_factory=dict)

    @classmethod
    def open(cls, path: str | Path, limits: Limits = DEFAULT) -> GltfScene:
        """Read a ``.glb`` or ``.gltf`` file.

        Raises
        ------
        FileError, LimitExceeded, MissingExtra : see `load`; or another suffix.
        """
        file = local_path(path)
        if file.suffix.lower() not in GLTF:
            what, fix = (
                f"{file.suffix[:20]!r} is no suffix of a glTF scene",
                f"use {', '.join(GLTF)}; of a mesh lod_chain",
            )
            raise FileError(what, where=str(path), fix=fix)
        data = read_regular(file, limits)
        files = SiblingFiles(file.parent, limits, len(data))
        accessors, text = open_gltf(data, files, str(path), limits, repeated=False)
        header = json.loads(text)
        leave_out_unsaid(header)
        return cls(accessors, header, files)

    @property
    def where(self) -> str:
        """The name of the file."""
        return self.accessors.views.where

    @property
    def compressions(self) -> list[str]:
        """The extensions that compress its geometry; files are written without them."""
        return [name for name in self.accessors.header.get("extensionsUsed", []) if name in _COMPRESSIONS]

    @property
    def moves(self) -> bool:
        """Whether it has animations, or skins that a program may pose."""
        return any(self.accessors.header.get(kind) for kind in ("animations", "skins"))

    def primitive(self, place: Place) -> dict[str, Any]:
        """A primitive of the checked header by the numbers of its mesh and of itself there."""
        return self.accessors.header["meshes"][place[0]]["primitives"][place[1]]

    def triangles(self, place: Place) -> np.ndarray:
        """The triangles of a primitive, int64 [F, 3], as numbers of its vertices.

        Raises
        ------
        FileError : an index is out of range, or corners are left over.
        """
        primitive, where = self.primitive(place), f"{self.where}, meshes[{place[0]}].primitives[{place[1]}]"
        count = self.accessors.header["accessors"][primitive["attributes"]["POSITION"]]["count"]
        indices = self.accessors.array(primitive["indices"])[:, 0] if "indices" in primitive else np.arange(count)
        triangles = triangles_of(indices, primitive.get("mode", 4), where)
        if triangles.size and triangles.max() >= count:
            raise FileError(f"an index is {triangles.max()}, but there are {count} vertices", where=where)
        return triangles

    def drawn(self) -> dict[int, list[int]]:
        """The primitives of triangles with positions of each mesh that has any, by number."""
        found = {}
        for number, mesh in enumerate(self.accessors.header.get("meshes", [])):
            own = [
                k for k, p in enumerate(mesh["primitives"]) if p.get("mode", 4) >= 4 and "POSITION" in p["attributes"]
            ]
            if own:
                found[number] = own
        return found

    def unknown_geometry(self, mesh: int) -> list[str]:
        """Extensions of a mesh that may speak of vertices and triangles in ways that are not read."""
        entry = self.accessors.header["meshes"][mesh]
        names = set(entry.get("extensions", {}))
        for primitive in entry["primitives"]:
            names |= set(primitive.get("extensions", {})) - _OF_PRIMITIVES
            for number in accessors_of(primitive):
                names |= set(self.accessors.header["accessors"][number].get("extensions", {}))
        return sorted(names)

    def image(self, number: int) -> bytes | None:
        """The file of an image, None where it is missing."""
        entry, where = self.accessors.header["images"][number], f"{self.where}, images[{number}]"
        if "bufferView" in entry:
            return bytes(self.accessors.views.content(entry["bufferView"]))
        try:
            return read_uri(entry["uri"], self.files, where) if "uri" in entry else None
        except MissingFile:
            return None

    def keys(self, sampler: Mapping[str, Any], path: str | None, tolerance: float) -> np.ndarray:
        """The numbers of the keys that a sampler needs, int64, rising; found once.

        Parameters
        ----------
        sampler : of the checked header.
        path, tolerance : see `enough_keys`; without a path, what makes exactly the same track.
        """
        way = sampler.get("interpolation", "LINEAR")
        asked = sampler["input"], sampler["output"], way, path, tolerance
        if asked not in self._keys:
            times, values = (self.accessors.array(sampler[end]) for end in ("input", "output"))
            kept = needed_keys(values, len(times), way)
            even = len(values) % len(times) == 0  # files of other counts are not refused
            if path and even and way == "LINEAR":
                kept = kept[enough_keys(times[kept, 0], values.reshape(len(times), -1)[kept], path, tolerance)]
            self._keys[asked] = kept
        return self._keys[asked]

    def resting(self, tolerance: float) -> set[tuple[int, int]]:
        """See `channels_at_rest`; found once."""
        if tolerance not in self._resting:
            self._resting[tolerance] = channels_at_rest(self.accessors, tolerance)
        return self._resting[tolerance]

    def glb(
        self,
        levels: Levels,
        notes: Sequence[Mapping[str, Any]] = (),
        more: Moved = _NOTHING,
        images: Mapping[int, bytes] | None = None,
        *,
        short: bool = False,
        tolerance: float = 0.0,
    ) -> bytes:
        """The scene as a GLB file with other triangles.

        Parameters
        ----------
        levels : for each level, the finest first, triangles [F, 3] of the primitives that change, as numbers of their
            vertices in the source. More than one: nodes of meshes get the coarser ones by the extension MSFT_lod.
        notes : extras of the nodes of each level.
        more : further vertices, numbered on from those of whichever primitive uses them.
        images : files in place of some images, by their numbers.
        short : the same scene in fewer bytes: without keys and tracks of animations that change nothing, each vertex
            and array once, joints as bytes where these hold their numbers, and one view for all arrays of a kind.
            Accessors and views get other numbers, unless an extension may refer to them.
        tolerance : of keys and tracks that short files leave out, see `enough_keys` and `channels_at_rest`; 0 for
            the same animation with all tracks.

        Warns
        -----
        RepairWarning : a file that an image or an extension names is missing or not copied.
        """
        return _Written(self, more, short, tolerance).file(levels, notes, images or {})


class _Written:
    """A copy of a scene's header while it changes, and the contents of its views."""

    def __init__(self, scene: GltfScene, more: Moved, short: bool, tolerance: float) -> None:
        self.scene, self.header, self.more, self.short = scene, copy.deepcopy(scene.header), more, short
        entries = [*self.header.get("accessors", []), *self.header.get("bufferViews", [])]
        if any(isinstance(value, float) for entry in entries for value in entry.values()):
            self.header = _brief(self.header)  # whose writer has 1.0 for 1, also where numbers count or refer
        self.tolerance = tolerance
        views = scene.accessors.views
        self.views: list[dict[str, Any]] = self.header.setdefault("bufferViews", [])
        self.accessors: list[dict[str, Any]] = self.header.setdefault("accessors", [])
        self.contents = [views.content(number) for number in range(len(self.views))]
        self.free_views: list[int] = []
        self.free_accessors: list[int] = []
        self.held: set[int] = set()
        self.gone = {*_COMPRESSIONS}
        # Of short files: by what is said of a view, its number and content; places of arrays in them, and accessors.
        self.chunks: dict[str, tuple[int, bytearray]] = {}
        self.known_places: dict[tuple[str, bytes], int] = {}
        self.known_accessors: dict[str, int] = {}

    def file(self, levels: Levels, notes: Sequence[Mapping[str, Any]], images: Mapping[int, bytes]) -> bytes:
        """See `GltfScene.glb`."""
        changed = {place for level in levels for place in level} | self._compressed()
        self._free(changed)
        known: dict[Any, dict[str, Any]] = {}
        coarse = []
        for number, level in enumerate(levels or [{}]):
            own = {place: level.get(place) for place in changed}
            if number == 0:
                self._replace(own, self.header.get("meshes", []), known)
                continue
            copies = copy.deepcopy(self.scene.header["meshes"])
            self._replace(own, copies, known)
            coarse.append({k: copies[k] for k in sorted({mesh for mesh, _ in level})})
        if coarse:
            self._link(coarse, notes)
        if self.short:
            self._shorten_animations()
        self._embed_images(images)
        self._drop_polygons(levels)
        self._drop_compression()
        return self._packed()

    def _compressed(self) -> set[Place]:
        """Primitives whose data is not in views, so that it must be written again."""
        meshes = self.scene.accessors.header.get("meshes", [])
        return {(m, k) for m, mesh in enumerate(meshes) for k, p in enumerate(mesh["primitives"]) if packed(p)}

    def _free(self, changed: set[Place]) -> None:
        """Find the accessors and views that nothing but the ``changed`` primitives uses."""
        keys = {sampler[end] for sampler in self._samplers(self.scene.accessors.header) for end in ("input", "output")}
        self.held = numbers_held(self.scene.accessors.header, but=_COMPRESSIONS)
        old = {number for place in changed for number in accessors_of(self.scene.primitive(place))}
        old |= keys if self.short else set()
        used = self._used(changed) | (set() if self.short else keys)
        self.free_accessors = sorted(old - used - self.held)
        kept = set(range(len(self.accessors))) - set(self.free_accessors)
        views = {int(image["bufferView"]) for image in self.header.get("images", []) if "bufferView" in image}
        views |= self.held
        parts: dict[int, list[tuple[dict[str, Any], int, int]]] = {}
        for k in kept:
            for entry, count, size in parts_in_views(self.accessors[k]):
                number = entry["bufferView"]
                end = end_in_view(entry, count, size, self.views[number])
                parts.setdefault(number, []).append((entry, entry.get("byteOffset", 0), end))
        drop = {entry["bufferView"] for k in self.free_accessors for entry, *_ in parts_in_views(self.accessors[k])}
        compressed = [packed(self.scene.primitive(place)) for place in changed]
        drop |= {entry["bufferView"] for entry in compressed if entry is not None}
        drop -= views
        self.free_views = sorted(drop - parts.keys())
        for number in self.free_views:
            self.contents[number] = b""
        for number in drop & parts.keys():
            self._trim(number, parts[number])

    def _trim(self, number: int, parts: list[tuple[dict[str, Any], int, int]]) -> None:
        """Leave of a view the bytes of these ``parts`` of accessors: files often have all arrays in one view."""
        view, content = self.views[number], self.contents[number]
        if set(view.get("extensions", {})) - set(MESHOPT):
            return
        left, reached, gone = bytearray(), 0, 0
        for entry, begin, end in sorted(parts, key=lambda part: part[1]):
            # What is left begins and ends at multiples of four bytes, so that all numbers stay as aligned as they are.
            first, last = begin - begin % 4, end + -end % 4
            gone += max(first - reached, 0)
            left += content[max(first, reached) : last]
            reached = max(reached, last)
            if gone:
                entry["byteOffset"] = begin - gone
        # A stride is never longer than its view.
        self.contents[number] = bytes(left).ljust(view.get("byteStride", 0), b"\0")

    def _used(self, changed: set[Place]) -> set[int]:
        """Accessors of primitives that stay as they are, and of skins."""
        header = self.scene.accessors.header
        places = [(m, k) for m, mesh in enumerate(header.get("meshes", [])) for k in range(len(mesh["primitives"]))]
        staying = [self.scene.primitive(place) for place in places if place not in changed]
        skins = header.get("skins", [])
        return {number for primitive in staying for number in accessors_of(primitive)} | {
            skin["inverseBindMatrices"] for skin in skins if "inverseBindMatrices" in skin
        }

    @staticmethod
    def _samplers(header: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        for animation in header.get("animations", []):
            yield from animation["samplers"]

    def _paths(self) -> dict[int, str]:
        """What the samplers of floats move that move one kind of thing only, by their identity."""
        found: dict[int, set[str]] = {}
        for animation in self.scene.accessors.header.get("animations", []):
            for channel in animation["channels"]:
                sampler = animation["samplers"][channel["sampler"]]
                found.setdefault(id(sampler), set()).add(channel["target"]["path"])
                if self.scene.accessors.header["accessors"][sampler["output"]]["componentType"] != _FLOAT:
                    found[id(sampler)].add("numbers")
        return {one: path for one, paths in found.items() for path in paths if len(paths) == 1 and path in _MOVES}

    def _shorten_animations(self) -> None:
        """Write the channels and keys that are needed."""
        paths = self._paths() if self.tolerance else {}
        resting = self.scene.resting(self.tolerance) if self.tolerance else set()
        sources = self.scene.accessors.header.get("animations", [])
        for number, (animation, source) in enumerate(zip(self.header.get("animations", []), sources, strict=True)):
            channels, samplers = animation["channels"], animation["samplers"]
            kept = [channel for k, channel in enumerate(channels) if (number, k) not in resting]
            gone = {channel["sampler"] for channel in channels} - {channel["sampler"] for channel in kept}
            rows = [k for k in range(len(samplers)) if k not in gone]
            number_of = {k: row for row, k in enumerate(rows)}
            for k in rows:
                self._shorten(samplers[k], source["samplers"][k], paths.get(id(source["samplers"][k])))
            for channel in kept:
                channel["sampler"] = number_of[channel["sampler"]]
            animation |= {"channels": kept, "samplers": [samplers[k] for k in rows]}

    def _shorten(self, sampler: dict[str, Any], source: Mapping[str, Any], path: str | None) -> None:
        """Write the keys of a sampler that are needed; of one that moves ``path`` those that look the same."""

        def written(old: int, rows: np.ndarray, bounds: bool) -> int:
            return self._accessor(np.ascontiguousarray(rows).tobytes(), {}, self._like(old, rows, bounds))

        kept = self.scene.keys(source, path, self.tolerance)
        times, values = (self.scene.accessors.array(source[end]) for end in ("input", "output"))
        if len(kept) < len(times):
            values = values.reshape(len(times), -1, values.shape[1])[kept].reshape(-1, values.shape[1])
        # The format asks for bounds of times alone.
        sampler["input"] = written(source["input"], times[kept], bounds=True)
        sampler["output"] = written(source["output"], values, bounds=False)
        if sampler.get("interpolation") == "LINEAR":  # what is meant without it, too
            del sampler["interpolation"]

    def _replace(
        self, triangles: Mapping[Place, np.ndarray | None], meshes: list[dict[str, Any]], known: dict[Any, Any]
    ) -> None:
        """Give primitives of ``meshes`` their triangles (None for all); those of the same vertices share accessors."""
        groups: dict[Any, list[Place]] = {}
        for place in sorted(triangles):
            primitive = self.scene.primitive(place)
            key = json.dumps([primitive["attributes"], primitive.get("targets", [])])
            groups.setdefault(key, []).append(place)
        for key, places in groups.items():
            given = [triangles[place] for place in places]
            pairs = zip(places, given, strict=True)
            chosen = [self.scene.triangles(place) if own is None else own for place, own in pairs]
            # What a GPU fetches together lies together.
            vertices, corners = by_first_use(np.concatenate(chosen).reshape(-1))
            if (group := (key, vertices.tobytes())) not in known:
                known[group] = self._gather(vertices, self.scene.primitive(places[0]))
            accessors, row = known[group]
            short = row.max(initial=0) < _MAX_USHORT_VERTICES
            ends = np.cumsum([one.size for one in chosen])[:-1]
            for place, rows in zip(places, np.split(row[corners], ends), strict=True):
                primitive = meshes[place[0]]["primitives"][place[1]]
                primitive.pop("mode", None)
                self._refer(primitive, self.scene.primitive(place), accessors)
                primitive["indices"] = self._indices(rows, primitive.get("indices"), short=short)

    def _refer(
        self, primitive: dict[str, Any], source: dict[str, Any], accessors: Mapping[tuple[str, int], int]
    ) -> None:
        """Let the attributes and targets of a primitive be in new ``accessors`` where those of its ``source`` were."""
        primitive["attributes"] = {name: accessors[self._role(name), k] for name, k in source["attributes"].items()}
        if "targets" in primitive:
            targets = source["targets"]
            primitive["targets"] = [{name: accessors["", k] for name, k in one.items()} for one in targets]

    def _indices(self, rows: np.ndarray, old: Any, *, short: bool) -> int:
        """A new accessor of ``rows`` [3 F], with the words of the ``old`` one, if there is one."""
        entry = {"componentType": _USHORT if short else _UINT, "type": "SCALAR"}
        entry |= {} if old is None else _words(self.scene.header["accessors"][int(old)])
        return self._add(rows.astype(np.uint16 if short else np.uint32)[:, None], entry, _ELEMENT_BUFFER)

    def _role(self, name: str) -> str:
        """The name of an attribute whose values may change, "" for all others: one accessor may serve several."""
        return name if name == "POSITION" or name in self.more.values else ""

    def _gather(self, vertices: np.ndarray, primitive: dict[str, Any]) -> tuple[dict[tuple[str, int], int], np.ndarray]:
        """New accessors of ``vertices`` by role and the numbers of a primitive's own, and each vertex's row in them."""
        names = self._names_of(primitive)
        rows, row = self._values(vertices, primitive, list(names)), np.arange(len(vertices))
        if self.short and rows:
            first, row = _different(list(rows.values()))
            rows = {one: array[first] for one, array in rows.items()}
        numbers: dict[tuple[str, int], int] = {}
        known: dict[tuple[int, bytes], int] = {}
        positions = {one.get("POSITION") for one in (primitive["attributes"], *primitive.get("targets", []))}
        for (role, old), array in rows.items():
            content = old, array.tobytes()
            # What is still the same stays one accessor.
            if content not in known:
                joints = all(name.startswith("JOINTS_") for name in names[role, old])
                known[content] = self._add_like(old, array, old in positions, joints)
            numbers[role, old] = known[content]
        return numbers, row

    def _names_of(self, primitive: dict[str, Any]) -> dict[tuple[str, int], set[str]]:
        """The names that each role and accessor of a primitive has, "" in morph targets."""
        names: dict[tuple[str, int], set[str]] = {}
        for name, old in primitive["attributes"].items():
            names.setdefault((self._role(name), old), set()).add(name)
        for target in primitive.get("targets", []):
            for old in target.values():
                names.setdefault(("", old), set()).add("")
        return names

    def _values(
        self, vertices: np.ndarray, primitive: dict[str, Any], wanted: Sequence[tuple[str, int]]
    ) -> dict[tuple[str, int], np.ndarray]:
        """What ``vertices`` have, as it is stored: the source's, then those that were added, with what was fitted."""
        place = primitive["attributes"].get("POSITION")
        count = 0 if place is None else self.scene.accessors.header["accessors"][place]["count"]
        added = np.flatnonzero(vertices >= count) if place is not None else np.empty(0, np.int64)
        own, extra = vertices.copy(), vertices[added] - count
        own[added] = self.more.rows[extra]
        rows = {one: self.scene.accessors.array(one[1])[own] for one in wanted}
        fitted = np.flatnonzero(self.more.fitted[extra])
        for (role, old), array in rows.items():
            if role == "POSITION":
                array[added] = self.scene.accessors.stored(old, self.more.points[extra])
            elif role:
                values = self.more.values[role][extra[fitted], : array.shape[1]]
                array[added[fitted]] = self.scene.accessors.stored(old, values)
        return rows

    def _add_like(self, old: int, array: np.ndarray, position: bool, joints: bool) -> int:
        """The number of a new accessor in place of an ``old`` one."""
        source = self.scene.accessors.header["accessors"][old]
        # The format asks for bounds of positions alone.
        bounds = ("min" in source or "max" in source) and (position or not self.short)
        entry = self._like(old, array, bounds)
        if self.short and joints and array.max(initial=0) <= 255:
            entry["componentType"] = _UBYTE
        return (self._add_sparse if is_mostly_zero(source) else self._add)(array, entry, _ARRAY_BUFFER)

    def _like(self, old: int, rows: np.ndarray, bounds: bool) -> dict[str, Any]:
        """An entry for ``rows`` [n, k] in place of those of an accessor, without a view."""
        source = self.scene.accessors.header["accessors"][old]
        entry = {name: source[name] for name in ("componentType", "type", "normalized") if name in source}
        entry |= {"count": len(rows)} | _words(self.scene.header["accessors"][old])
        if bounds and np.isfinite(rows).all():
            ends = {"min": rows.min(axis=0), "max": rows.max(axis=0)}
            # Bounds of floats are floats to the format: in short files they have no more digits than tell these apart.
            brief = self.short and source["componentType"] == _FLOAT
            entry |= {name: [float(str(x)) for x in end] if brief else end.tolist() for name, end in ends.items()}
        return entry

    def _add(self, rows: np.ndarray, entry: dict[str, Any], target: int) -> int:
        """An accessor of ``rows`` [n, k]; its number."""
        rows = np.ascontiguousarray(rows.astype(COMPONENT[entry["componentType"]], copy=False))
        stored, view = rows, {"target": target}
        if target == _ARRAY_BUFFER:
            stored = padded_rows(rows, entry["type"])
            if self.short or stored.nbytes > rows.nbytes:
                view |= {"byteStride": stored.shape[1]}
        return self._accessor(stored.tobytes(), view, {"count": len(rows), **entry})

    def _add_sparse(self, rows: np.ndarray, entry: dict[str, Any], target: int) -> int:
        """The same, of which only rows that are not zero are written, where that is shorter."""
        rows = np.ascontiguousarray(rows.astype(COMPONENT[entry["componentType"]], copy=False))
        kept = np.flatnonzero(rows.view(np.uint8).reshape(len(rows), -1).any(axis=1))
        short = len(rows) <= _MAX_USHORT_VERTICES
        few = (len(rows) - len(kept)) * rows[:1].nbytes > len(kept) * (2 if short else 4) + _SPARSE_WORDS
        if not few or element_bytes(entry) > rows[:1].nbytes:  # sparse values have no stride, so nothing between
            return self._add(rows, entry, target)
        entry = {"count": len(rows), **entry}
        if len(kept):
            places = self._place(kept.astype(np.uint16 if short else np.uint32).tobytes(), {})
            indices = {**places, "componentType": _USHORT if short else _UINT}
            values = self._place(rows[kept].tobytes(), {})
            entry["sparse"] = {"count": len(kept), "indices": indices, "values": values}
        return self._number(self.accessors, self.free_accessors, entry)

    def _accessor(self, content: bytes, view: dict[str, Any], entry: dict[str, Any]) -> int:
        """An accessor of ``content``; its number. Short files hold what is alike once."""
        entry = self._place(content, view) | entry
        key = json.dumps(entry)
        if not self.short or key not in self.known_accessors:
            self.known_accessors[key] = self._number(self.accessors, self.free_accessors, entry)
        return self.known_accessors[key]

    def _place(self, content: bytes, view: dict[str, Any]) -> dict[str, int]:
        """Where ``content`` is: in a view of its own, in short files in the only one of this kind."""
        if not self.short:
            return {"bufferView": self._view(content, view)}
        kind = json.dumps(view)
        if kind not in self.chunks:
            self.chunks[kind] = self._view(b"", view), bytearray()
        number, chunk = self.chunks[kind]
        if (kind, content) not in self.known_places:
            self.known_places[kind, content] = len(chunk)
            chunk += content + bytes(-len(content) % 4)
        return {"bufferView": number, "byteOffset": self.known_places[kind, content]}

    def _view(self, content: bytes, entry: dict[str, Any]) -> int:
        """A view of ``content``; its number."""
        number = self._number(self.views, self.free_views, {"buffer": 0, **entry})
        self.contents += [b""] * (len(self.views) - len(self.contents))
        self.contents[number] = content
        return number

    @staticmethod
    def _number(entries: list[dict[str, Any]], free: list[int], entry: dict[str, Any]) -> int:
        """Put ``entry`` where a place is free, or at the end."""
        if free:
            entries[free[0]] = entry
            return free.pop(0)
        entries.append(entry)
        return len(entries) - 1

    def _link(self, coarse: list[dict[int, dict[str, Any]]], notes: Sequence[Mapping[str, Any]]) -> None:
        """Add the coarser meshes, and hang them on the nodes that show the finest."""
        meshes = self.header["meshes"]
        weighed = _weighed(self.scene.accessors.header)
        numbers: dict[tuple[int, int], int] = {}
        for step, level in enumerate(coarse, 1):
            for mesh, entry in level.items():
                numbers[step, mesh] = len(meshes)
                meshes.append(entry)
        nodes = self.scene.accessors.header["nodes"]
        shown = [(k, node["mesh"]) for k, node in enumerate(nodes) if "mesh" in node]
        if numbers and not self.header.get("scenes"):
            # Without scenes all roots are shown, and levels stand beside them.
            inner = {child for node in nodes for child in node.get("children", [])}
            self.header |= {"scenes": [{"nodes": [k for k in range(len(nodes)) if k not in inner]}], "scene": 0}
        for number, mesh in shown:
            if number in weighed:
                what = f"{self.scene.where}, nodes[{number}]: animated morph weights keep the finest level"
                warn(what)
            elif any(mesh in level for level in coarse):
                own = [mesh, *(numbers.get((step, mesh), mesh) for step in range(1, len(coarse) + 1))]
                self._hang(number, own, notes)
        if numbers and "MSFT_lod" not in self.header.setdefault("extensionsUsed", []):
            self.header["extensionsUsed"].append("MSFT_lod")

    def _hang(self, number: int, meshes: list[int], notes: Sequence[Mapping[str, Any]]) -> None:
        """Give a node the levels ``meshes`` of its own one, the finest first."""
        nodes, node = self.header["nodes"], self.header["nodes"][number]
        name, first = node.get("name", f"node {number}"), number
        own = {key: node[key] for key in ("mesh", "skin", "weights") if key in node}
        instances = node.get("extensions", {}).get("EXT_mesh_gpu_instancing")
        if instances is not None:
            own["extensions"] = {"EXT_mesh_gpu_instancing": instances}
        # A skin places its mesh wherever the node is, and asks for a root. Levels that the source has there stay.
        if "skin" not in node or "children" in node or "MSFT_lod" in node.get("extensions", {}):
            first = len(nodes)
            node.setdefault("children", []).append(first)
            nodes.append(copy.deepcopy(own) | {"name": f"{name} LOD0"})
            for key in own.keys() - {"extensions"}:
                del node[key]
            _drop(node, "EXT_mesh_gpu_instancing")
        else:  # levels in its place, and so with all that it has
            own = {key: value for key, value in node.items() if key not in ("name", "extras")}
        for step, mesh in enumerate(meshes[1:], 1):
            nodes.append(copy.deepcopy(own) | {"name": f"{name} LOD{step}", "mesh": mesh})
        ids = list(range(len(nodes) - len(meshes) + 1, len(nodes)))
        nodes[first].setdefault("extensions", {})["MSFT_lod"] = {"ids": ids}
        for place, note in zip([first, *ids], notes, strict=False):
            if place != number:
                nodes[place]["extras"] = dict(note)

    def _embed_images(self, images: Mapping[int, bytes]) -> None:
        for number, image in enumerate(self.header.get("images", [])):
            if "uri" not in image and number not in images:
                continue
            content = images.get(number) or self.scene.image(number)
            if content is None:
                what = f"{self.scene.where}, images[{number}]: the texture {image['uri'][:200]!r} is missing"
                warn(what)
                continue
            image.pop("uri", None)
            if "bufferView" not in image:
                self.views.append({"buffer": 0})
                self.contents.append(b"")
                image["bufferView"] = len(self.views) - 1
            self.contents[image["bufferView"]] = content
            passed = next((kind for magic, kind in _PASSED.items() if content.startswith(magic)), "image/png")
            found = image_type(content) or passed
            image["mimeType"] = found if number in images else image.get("mimeType", found)
        for name, content in extensions(self.header):
            if any(not uri.startswith("data:") for uri in _uris(content)):
                what = f"{self.scene.where}: a file that {name} names was not copied"
                warn(what)

    def _drop_polygons(self, levels: Levels) -> None:
        """Triangles that are not those of the source are no fans of polygons."""
        places = {place for level in levels for place in level}
        said = {place for place in places if _POLYGONS in self.scene.primitive(place).get("extensions", {})}
        if not said:
            return
        named = ", ".join(f"meshes[{number}]" for number in sorted({number for number, _ in said})[:5])
        warn(f"{self.scene.where}, {named}: {_POLYGONS} was dropped, as the triangles are other ones")
        coarser = range(len(self.scene.header["meshes"]), len(self.header["meshes"]))
        more = {(number, k) for number in coarser for k in range(len(self.header["meshes"][number]["primitives"]))}
        for number, k in said | more:
            _drop(self.header["meshes"][number]["primitives"][k], _POLYGONS)
        if not any(_POLYGONS in one.get("extensions", {}) for one in self._primitives()):
            self.gone.add(_POLYGONS)

    def _primitives(self) -> list[dict[str, Any]]:
        return [primitive for mesh in self.header.get("meshes", []) for primitive in mesh["primitives"]]

    def _drop_compression(self) -> None:
        """Views are written unpacked."""
        for primitive in self._primitives():
            _drop(primitive, DRACO)
        for view in self.views:
            for name in MESHOPT:
                _drop(view, name)
        for kind in ("extensionsUsed", "extensionsRequired"):
            left = [name for name in self.header.get(kind, []) if name not in self.gone]
            self.header.pop(kind, None)
            if left:
                self.header[kind] = left

    def _packed(self) -> bytes:
        """The file: one buffer, in which each view begins at a multiple of four bytes."""
        for entries, free in ((self.accessors, self.free_accessors), (self.views, self.free_views)):
            while free and free[-1] == len(entries) - 1:
                entries.pop()
                free.pop()
        for number, chunk in self.chunks.values():
            self.contents[number] = bytes(chunk)
        if self.short and not self.held:
            self._renumber()
        for number in self.free_accessors:
            self.accessors[number] = {"componentType": 5126, "count": 1, "type": "SCALAR"}
        for number in self.free_views:
            self.views[number], self.contents[number] = {"buffer": 0}, bytes(4)
        parts, at = [], 0
        for view, content in zip(self.views, self.contents, strict=False):
            view |= {"buffer": 0, "byteLength": len(content), "byteOffset": at}
            parts += [content, bytes(-len(content) % 4)]
            at += len(content) + -len(content) % 4
        for kind, entries in (("accessors", self.accessors), ("bufferViews", self.views)):
            if not entries:
                del self.header[kind]
        self.header.pop("buffers", None)
        if at:
            self.header["buffers"] = [{"byteLength": at}]
        return container(_brief(self.header) if self.short else self.header, b"".join(parts))

    def _renumber(self) -> None:
        """Close the gaps among accessors and views; nothing but what is changed here refers to them."""
        views = _without(self.views, self.free_views)
        self.contents = [self.contents[number] for number in views]
        accessors = _without(self.accessors, self.free_accessors)
        for entry in self.accessors:
            for part, *_ in parts_in_views(entry):
                part["bufferView"] = views[part["bufferView"]]
        for image in self.header.get("images", []):
            if "bufferView" in image:
                image["bufferView"] = views[image["bufferView"]]
        primitives = self._primitives()
        lists = [one for primitive in primitives for one in (primitive["attributes"], *primitive.get("targets", []))]
        for one in lists:
            one.update({name: accessors[number] for name, number in one.items()})
        rest = [(primitive, "indices") for primitive in primitives]
        rest += [(skin, "inverseBindMatrices") for skin in self.header.get("skins", [])]
        rest += [(sampler, end) for sampler in self._samplers(self.header) for end in ("input", "output")]
        for entry, name in rest:
            if name in entry:
                entry[name] = accessors[entry[name]]


def _brief(value: Any) -> Any:
    """A part of a header with 1 for 1.0, except for what others have added to the format; -0.0 keeps its sign."""
    if isinstance(value, dict):
        return {name: one if name in ("extras", "extensions") else _brief(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_brief(one) for one in value]
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 2**53 and str(value) != "-0.0"
    return int(value) if whole else value


def _different(arrays: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The first row of each kind in arrays [V, k], int64 [K], in their order, and the kind of each row, uint32 [V]."""
    number, count = np.zeros(len(arrays[0]), np.uint32), 1
    for array in arrays:  # one by one: all together may be longer than what can be compared
        own = np.ascontiguousarray(array).view(np.uint8).reshape(len(array), -1)
        number, count = unique_rows(np.concatenate([number[:, None].view(np.uint8), own], axis=1))
    return first_occurrences(number, count), number


def _without(entries: list[dict[str, Any]], free: list[int]) -> dict[int, int]:
    """Take the free ones out of a list; the numbers of the others now, by those before."""
    gone = set(free)
    kept = [number for number in range(len(entries)) if number not in gone]
    entries[:] = [entries[number] for number in kept]
    free.clear()
    return {number: k for k, number in enumerate(kept)}


def _weighed(header: Mapping[str, Any]) -> set[int]:
    """The numbers of the nodes whose morph weights are animated, by channels or by pointers (KHR_animation_pointer)."""
    nodes, found = header.get("nodes", []), set()
    for animation in header.get("animations", []):
        for channel in animation["channels"]:
            target = channel["target"]
            if target["path"] == "weights":
                found |= {target["node"]} if "node" in target else set()
            pointer = target.get("extensions", {}).get("KHR_animation_pointer", {}).get("pointer", "")
            if (match := _WEIGHTS.match(str(pointer))) is not None:
                kind, number = match[1], int(match[2])
                found |= {number} if kind == "nodes" else {k for k, n in enumerate(nodes) if n.get("mesh") == number}
    return found


def _words(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {name: entry[name] for name in ("name", "extras") if name in entry}


def _uris(value: Any) -> Iterator[str]:
    """The names of files in a part of a header."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        if isinstance(entry, str) and str(key).lower().endswith("uri"):
            yield entry
        elif isinstance(entry, (dict, list)):
            yield from _uris(entry)


def _drop(entry: dict[str, Any], name: str) -> None:
    """Take an extension away from an entry of a header."""
    if name in entry.get("extensions", {}):
        del entry["extensions"][name]
        if not entry["extensions"]:
            del entry["extensions"]
