"""Extensions of a glTF file: where they stand, which are read, and what is lost where a scene becomes one mesh."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from hra.errors import FileError

# Geometry and placement: read into the triangles themselves.
_GEOMETRY = {
    *("KHR_mesh_quantization", "EXT_meshopt_compression", "KHR_meshopt_compression", "KHR_draco_mesh_compression"),
    "EXT_mesh_gpu_instancing",
}
# Numbers of features beside geometry: they change nothing of it.
_FEATURES = {"EXT_mesh_features", "EXT_structural_metadata", "EXT_instance_features"}
# What one mesh keeps: the rest of `_GEOMETRY`'s and these.
_KEPT = _GEOMETRY | {"KHR_texture_transform", "EXT_texture_webp"}
_GEOMETRIC_PLACES = {"meshes", "accessors", "bufferViews", "buffers"}
_GEOMETRIC_WORDS = re.compile("mesh|geometr|compress|quantiz|primitive|splat|voxel", re.IGNORECASE)
_CORE = re.compile(r"POSITION|NORMAL|TANGENT|TEXCOORD_\d+|COLOR_0")
SKINNING = re.compile(r"(JOINTS|WEIGHTS)_\d+")


def extensions(value: Any) -> Iterator[tuple[str, Any]]:
    """Names and contents of all extensions in a part of a header, also of those within others."""
    if isinstance(value, dict):
        own = value.get("extensions")
        if isinstance(own, dict):
            yield from own.items()
        value = list(value.values())
    if isinstance(value, list):
        for entry in value:
            yield from extensions(entry)


def check_required(header: dict[str, Any], where: str) -> None:
    """Refuse a file that requires an extension of its geometry that is not read; others can be passed on.

    Raises
    ------
    FileError : names the extensions.
    """
    unknown = [name for name in header.get("extensionsRequired", []) if name not in _GEOMETRY | _FEATURES]
    inside = {name for place in _GEOMETRIC_PLACES for name, _ in extensions(header.get(place, []))}
    unreadable = [name for name in unknown if name in inside or _GEOMETRIC_WORDS.search(name)]
    if unreadable:
        fix = "export it without compression or this extension"
        what = f"it requires {', '.join(map(repr, unreadable[:3]))}, which is not read"
        raise FileError(what, where=f"{where}, extensionsRequired", fix=fix)


def lost_as_one(header: dict[str, Any]) -> list[str]:
    """What a scene loses that becomes one mesh at rest: a phrase for each kind, with names and numbers."""
    found = Counter(name for name, _ in extensions(header))
    found |= Counter({name: 0 for name in header.get("extensionsUsed", []) if name not in found})
    lost = [f"{name} ({count})" if count else name for name, count in sorted(found.items()) if name not in _KEPT]
    primitives = [entry for mesh in header.get("meshes", []) for entry in mesh["primitives"]]
    names = Counter(name for entry in primitives for name in entry["attributes"] if not _CORE.fullmatch(name))
    lost += [f"{name} ({count})" for name, count in sorted(names.items()) if not SKINNING.fullmatch(name)]
    nodes = header.get("nodes", [])
    counts = {
        "animations": len(header.get("animations", [])),
        "skins": len(header.get("skins", [])),
        "primitives with morph targets": sum("targets" in entry for entry in primitives),
        "cameras": len(header.get("cameras", [])),
        "other scenes": len(header.get("scenes", [])) - 1,
        "nodes": len(nodes) if len(nodes) > 1 else 0,
        "names": sum(
            "name" in entry
            for kind, entries in header.items()
            if kind != "materials" and isinstance(entries, list)
            for entry in entries
            if isinstance(entry, dict)
        ),
        "extras": _count_extras(header),
    }
    return lost + [f"{kind} ({count})" for kind, count in counts.items() if count > 0]


def _count_extras(value: Any) -> int:
    if isinstance(value, list):
        return sum(map(_count_extras, value))
    if not isinstance(value, dict):
        return 0
    return ("extras" in value) + sum(_count_extras(entry) for key, entry in value.items() if key != "extras")
