"""One mesh per level of detail: which to draw, from how far away, and the files that other programs read.

In a GLB file the levels are those of one node, by the extension MSFT_lod. Each level is written as a file of its own
first; what several of these share (images, textures, materials) is stored once.

MSFT_lod: https://github.com/KhronosGroup/glTF/tree/main/extensions/2.0/Vendor/MSFT_lod
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from hra.camera import Camera
from hra.domains.meshes.files.gltf_coordinates import map_infos
from hra.domains.meshes.files.gltf_files import split_glb
from hra.domains.meshes.files.gltf_packing import Compression, repacked
from hra.domains.meshes.files.write_glb import container, glb_bytes, moved_to
from hra.domains.meshes.mesh.triangle_mesh import TriangleMesh
from hra.domains.meshes.metrics.surface_error import worst_stretch
from hra.errors import BudgetTooSmall, FileError, HraError, InvalidBudget, check_kind
from hra.files.atomic_write import write_atomically
from hra.files.local_files import local_path, make_folder, warn_of_older
from hra.model.arrays import is_number, number_in
from hra.model.short_repr import html_table


@dataclass(frozen=True, eq=False, repr=False)
class DiscreteLOD:
    """One mesh per level of detail; a frame draws one of them as a whole.

    Attributes
    ----------
    levels : fine to coarse.
    errors : float64 [L], each level's distance from the source in object units, monotone; 0 for the source itself.
    center, radius : float32 [3] and a number, sphere around the source, and so around all levels.
    certified : whether errors are bounds, on the distance of any point of the source from the level and of the level
        from the source; else they are the simplifier's estimate, which true distances may exceed several times.
    appearance : float64 [L], the simplifier's estimate with changes of textures, normals and colours counted as
        distances, in object units; None where it is not known. No bound, and no distance of the surface.
    compression : of the files, see `lod_chain`.

    References
    ----------
    Luebke et al., Level of Detail for 3D Graphics, 2003, chapter 2.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> chain = meshes.build_discrete(hra.samples.path("skull.ply"), shares=[1, 0.25, 0.05])
    >>> near, far = (hra.Camera.orbit(chain.levels[0].bounds, distance=distance) for distance in (0.5, 50))
    >>> chain.by_pixels(near, pixels=1), chain.by_pixels(far, pixels=1), chain.by_budget(20_000)
    (0, 2, 1)
    >>> [path.name for path in chain.export("levels")]
    ['lod0.glb', 'lod1.glb', 'lod2.glb']
    """

    levels: tuple[TriangleMesh, ...]
    errors: np.ndarray
    center: np.ndarray
    radius: float
    certified: bool = False
    appearance: np.ndarray | None = None
    compression: Compression = "none"

    @property
    def triangles(self) -> tuple[int, ...]:
        """How many triangles each level has."""
        return tuple(len(mesh.triangles) for mesh in self.levels)

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(mesh.triangles):,}" for mesh in self.levels)
        kind = "bounds" if self.certified else "estimates"
        return f"DiscreteLOD({counts} triangles, errors up to {self.errors.max():.3g}, {kind})"

    def _repr_html_(self) -> str:
        rows = [
            (str(number), f"{len(mesh.triangles):,}", f"{error:.4g}")
            for number, (mesh, error) in enumerate(zip(self.levels, self.errors, strict=True))
        ]
        return html_table(rows, ("level", "triangles", "error, a bound" if self.certified else "error, estimated"))

    def by_pixels(self, camera: Camera, pixels: float) -> int:
        """The coarsest level whose error is at most ``pixels`` wherever the mesh is nearest to the camera.

        By the estimate: true displacements may exceed it several times.

        Raises
        ------
        HraError : pixels that are not a number >= 0, or no camera.
        """
        check_kind("camera", camera, Camera, "make one by hra.Camera.perspective or orbit")
        if not (is_number(pixels) and pixels >= 0):
            raise HraError(f"an error of {pixels!r} pixels", where="pixels", fix="pass a number >= 0")
        scale = camera.pixels_per_unit(self.center[None], np.array([self.radius]))[0]
        return int(np.flatnonzero(self.errors * scale <= pixels).max(initial=0))

    def by_budget(self, triangles: float) -> int:
        """The finest level of at most ``triangles``.

        Raises
        ------
        BudgetTooSmall : even the coarsest has more.
        InvalidBudget : no number, or NaN.
        """
        if not is_number(triangles) or triangles != triangles:
            raise InvalidBudget(f"a budget of {triangles!r}", where="triangles", fix="pass a number >= 0")
        counts = np.array([len(mesh.triangles) for mesh in self.levels])
        fitting = np.flatnonzero(counts <= triangles)
        if not fitting.size:
            what = f"the coarsest level has {counts[-1]} triangles, the budget is {triangles}"
            raise BudgetTooSmall(what, where="triangles")
        return int(fitting[0])

    def switch_distances(
        self, pixels: float = 1.0, *, vertical_fov_degrees: float = 60, viewport: tuple[int, int] = (1920, 1080)
    ) -> np.ndarray:
        """From how far away each level may be drawn, float64 [L], object units, rising; 0 for a level without error.

        The distance is that of the eye from ``center``. From there on the level's error covers at most ``pixels``
        wherever the mesh is in view: on the part of its sphere that is nearest to the eye, and in the corners, where a
        flat screen stretches by ``1 + tan(x)**2 + tan(y)**2`` of the angles to them. So `by_pixels` takes this level or
        a coarser one for every camera with this lens that is so far away.

        Parameters
        ----------
        pixels : tolerance, > 0.
        vertical_fov_degrees, viewport : of the lens; viewport (width, height) in pixels.

        Raises
        ------
        HraError : another tolerance.
        CameraError : no such lens.
        """
        number_in("pixels", pixels, 0, math.inf, ends=False)
        lens = Camera.perspective((0, 0, 1), (0, 0, 0), vertical_fov_degrees=vertical_fov_degrees, viewport=viewport)
        near = self.errors * (worst_stretch(lens) / pixels)
        return np.where(self.errors > 0, near + float(self.radius) * (1 + 1e-9), 0.0)

    def with_normals(self) -> DiscreteLOD:
        """The levels with normals, see `TriangleMesh.with_normals`."""
        return replace(self, levels=tuple(mesh.with_normals() for mesh in self.levels))

    def export(self, folder: str | Path, stem: str = "lod") -> list[Path]:
        """Write each level to a GLB file of its own, ``lod0.glb`` the finest; the paths.

        Raises
        ------
        FileError : a file cannot be written; each that is there is whole.

        Warns
        -----
        HraWarning : the folder holds further levels, of an earlier export.
        """
        check_kind("stem", stem, str, "pass what the names of the files begin with")
        root = make_folder(folder)
        paths = [root / f"{stem}{number}.glb" for number in range(len(self.levels))]
        for mesh, path in zip(self.levels, paths, strict=True):
            write_atomically(path, repacked(glb_bytes(mesh), self.compression))
        warn_of_older(root, stem, ".glb", [path.name for path in paths])
        return paths

    def export_one(self, path: str | Path) -> None:
        """Write all levels to one GLB file: a node ``LOD0`` that refers to the coarser ones by ``MSFT_lod``.

        Programs that know the extension switch between the nodes; others show the finest. Every node states its
        "triangles" and its "error" in object units as extras.

        Raises
        ------
        FileError : another suffix, or the file cannot be written.
        """
        suffix = local_path(path).suffix
        if suffix.lower() != ".glb":
            raise FileError(f"levels are not written as {suffix!r}", where=str(path), fix="use .glb")
        extras = [
            {"triangles": len(mesh.triangles), "error": float(error)}
            for mesh, error in zip(self.levels, self.errors, strict=True)
        ]
        write_atomically(path, repacked(lod_glb_bytes(self.levels, extras), self.compression))


def lod_glb_bytes(levels: Sequence[TriangleMesh], extras: Sequence[dict[str, Any]]) -> bytes:
    """The ``levels``, fine to coarse, as one GLB file with ``extras`` for each node."""
    joined = _Joined()
    nodes = [
        {
            "name": f"LOD{number}",
            "mesh": joined.add_file(glb_bytes(mesh), f"LOD{number}"),
            "extras": more,
            **moved_to(mesh.origin),
        }
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
        joined.extensions.add("MSFT_lod")
    for kind, names in (("extensionsUsed", joined.extensions), ("extensionsRequired", joined.required)):
        header |= {kind: sorted(names)} if names else {}
    binary = b"".join(joined.parts)
    header |= {kind: entries for kind, entries in joined.entries.items() if entries}
    header["buffers"] = [{"byteLength": len(binary)}]
    return container(header, binary)


class _Joined:
    """The lists of several glTF headers as one; equal entries get one number."""

    def __init__(self) -> None:
        kinds = ("bufferViews", "accessors", "images", "samplers", "textures", "materials", "meshes")
        self.entries: dict[str, list[dict[str, Any]]] = {kind: [] for kind in kinds}
        self.parts: list[bytes] = []
        self.extensions: set[str] = set()
        self.required: set[str] = set()
        self._size = 0
        self._known: dict[Any, int] = {}

    def add_file(self, file: bytes, name: str) -> int:
        """Add a file of one mesh, which gets a ``name``; the number of that mesh."""
        text, chunk = split_glb(file, name)
        header, binary = json.loads(text), bytes(chunk or b"")
        self.extensions |= set(header.get("extensionsUsed", []))
        self.required |= set(header.get("extensionsRequired", []))
        views = [self._view(view, binary) for view in header["bufferViews"]]
        accessors = self._add_all(header, "accessors", lambda e: e | {"bufferView": views[e["bufferView"]]})
        images = self._add_all(header, "images", lambda e: e | {"bufferView": views[e["bufferView"]]})
        samplers = self._add_all(header, "samplers", lambda e: e)
        textures = self._add_all(header, "textures", lambda e: _texture_with_numbers(e, images, samplers))
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


def _texture_with_numbers(entry: dict[str, Any], images: list[int], samplers: list[int]) -> dict[str, Any]:
    entry = _with_numbers(entry, source=images, sampler=samplers)
    named = {name: _with_numbers(info, source=images) for name, info in entry.get("extensions", {}).items()}
    return entry | ({"extensions": named} if named else {})


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
