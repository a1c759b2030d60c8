"""Extensions of a glTF file: where they stand, which are read, and what is lost where a scene becomes one mesh."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hra.domains.meshes.files.gltf_coordinates import coordinate_sets, layout_of
from hra.errors import FileError

# Geometry and placement: read into the triangles themselves.
_GEOMETRY = {
    *("KHR_mesh_quantization", "EXT_meshopt_compression", "KHR_meshopt_compression", "KHR_draco_mesh_compression"),
    "EXT_mesh_gpu_instancing",
}
# Numbers of features beside geometry: they change nothing of it.
_FEATURES = {"EXT_mesh_features", "EXT_structural_metadata", "EXT_instance_features"}
# What one mesh keeps: the rest of `_GEOMETRY`'s and these.
_KEPT = _GEOMETRY | {"KHR_texture_transform", "KHR_texture_basisu", "EXT_texture_avif", "EXT_texture_webp"}
# What a material keeps as it is.
_WHOLE = ("extensions", "extras")
# But for what names other materials by their numbers: a mesh numbers those that it shows.
OF_OTHER_MATERIALS = "MSFT_lod"
_GEOMETRIC_PLACES = {"meshes", "accessors", "bufferViews", "buffers"}
# Extensions of looks, lights and such, by how their names begin.
_HARMLESS = ("KHR_materials_", "KHR_texture_", "EXT_texture_", "KHR_lights_", "KHR_xmp", "KHR_animation_", "KHR_node_")
_GEOMETRIC_WORDS = re.compile("mesh|geometr|compress|quantiz|primitive|splat|voxel", re.IGNORECASE)
_SKINNING = re.compile(r"(JOINTS|WEIGHTS)_\d+")

# Extensions that refer to no accessor or view; numbers within all others may be such references.
_WITHOUT_DATA = (
    *("KHR_materials_", "KHR_texture_", "EXT_texture_", "KHR_lights_", "KHR_node_", "KHR_xmp", "KHR_animation_pointer"),
    *("EXT_mesh_features", "EXT_instance_features", "MSFT_lod", "MSFT_texture_dds", "EXT_lights_", "KHR_mesh_quant"),
    *("KHR_interactivity", "KHR_implicit_shapes", "KHR_physics_rigid_bodies", "VRM"),
)
# Extensions that change what others say, such as nodes and textures, and name it by pointers.
_BY_POINTERS = {"KHR_animation_pointer", "KHR_interactivity"}


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


def numbers_held(header: dict[str, Any], but: Sequence[str] = ()) -> set[int]:
    """Numbers of accessors and views to which extensions may refer; ``but`` names further ones that do not."""
    found: set[int] = set()
    for name, content in extensions(header):
        if name not in but and not name.startswith(_WITHOUT_DATA):
            found |= _numbers(content)
    return found


def changes_by_pointers(header: Mapping[str, Any]) -> bool:
    """Whether extensions may change anything that a header says, while a viewer shows it."""
    return not _BY_POINTERS.isdisjoint(header.get("extensionsUsed", []))


def _numbers(value: Any) -> set[int]:
    """All whole numbers in a part of a header."""
    if isinstance(value, (dict, list)):
        return set().union(*map(_numbers, value.values() if isinstance(value, dict) else value))
    return {int(value)} if isinstance(value, (int, float)) and value == int(value) else set()


def check_required(header: dict[str, Any], where: str) -> None:
    """Refuse a file that requires an extension of its geometry that is not read; others can be passed on.

    Raises
    ------
    FileError : names the extensions.
    """
    unknown = [name for name in header.get("extensionsRequired", []) if name not in _GEOMETRY | _FEATURES]
    unknown = [name for name in unknown if not name.startswith(_HARMLESS)]
    geometry = {place: entries for place, entries in header.items() if place in _GEOMETRIC_PLACES}
    inside = {name for name, _ in extensions(geometry)}
    outside = {name for name, _ in extensions({k: v for k, v in header.items() if k not in geometry})}
    unreadable = [n for n in unknown if n in inside or n not in outside or _GEOMETRIC_WORDS.search(n)]
    if unreadable:
        fix = "export it without compression or this extension"
        what = f"it requires {', '.join(map(repr, unreadable[:3]))}, which is not read"
        raise FileError(what, where=f"{where}, extensionsRequired", fix=fix)


def lost_as_one(header: dict[str, Any]) -> list[str]:
    """What a scene loses that becomes one mesh at rest: a phrase for each kind, with names and numbers."""
    nodes = header.get("nodes", [])
    primitives = [entry for mesh in header.get("meshes", []) for entry in mesh["primitives"]]
    attributes = Counter(name for entry in primitives for name in _attributes_lost(header, entry))
    counts = {
        "animations": len(header.get("animations", [])),
        "skins": len(header.get("skins", [])),
        "primitives with morph targets": sum("targets" in entry for entry in primitives),
        "cameras": len(header.get("cameras", [])),
        "other scenes": len(header.get("scenes", [])) - 1,
        "nodes": len(nodes) if len(nodes) > 1 else 0,
        "names": _count_names(header),
        "extras": _count_extras(_without_own_of_materials(header)),
    }
    lost = [f"{name} ({count})" if count else name for name, count in sorted(_extensions_lost(header).items())]
    lost += [f"{name} ({count})" for name, count in sorted(attributes.items())]
    return lost + [f"{kind} ({count})" for kind, count in counts.items() if count > 0]


def _extensions_lost(header: dict[str, Any]) -> dict[str, int]:
    """How often the extensions stand in a scene that one mesh does not keep; 0 for those that are only named as used.

    A material keeps its own extensions, whatever they are, but for what names other materials.
    """
    own = [entry.get("extensions", {}) for entry in header.get("materials", [])]
    kept = {name for entry in own for name in entry} - {OF_OTHER_MATERIALS}
    found = dict.fromkeys((name for name in header.get("extensionsUsed", []) if name not in kept), 0)
    found |= Counter(name for name, _ in extensions(_without_own_of_materials(header)))
    if chains := sum(OF_OTHER_MATERIALS in entry for entry in own):
        found[OF_OTHER_MATERIALS] = found.get(OF_OTHER_MATERIALS, 0) + chains
    return {name: count for name, count in found.items() if name not in _KEPT}


def _without_own_of_materials(header: dict[str, Any]) -> dict[str, Any]:
    """A header without what each material keeps as it is."""
    materials = [{k: v for k, v in entry.items() if k not in _WHOLE} for entry in header.get("materials", [])]
    return {**header, "materials": materials}


def _count_names(header: dict[str, Any]) -> int:
    """How many things but materials have a name."""
    lists = [entries for kind, entries in header.items() if kind != "materials" and isinstance(entries, list)]
    return sum("name" in entry for entries in lists for entry in entries if isinstance(entry, dict))


def _attributes_lost(header: dict[str, Any], primitive: dict[str, Any]) -> list[str]:
    """The attributes of a primitive that one mesh does not hold; those of skins are counted elsewhere."""
    material = header["materials"][primitive["material"]] if "material" in primitive else {}
    there = coordinate_sets(primitive)
    used = {f"TEXCOORD_{found.number}" for found in layout_of(material, there, "").sets}
    kept = {"POSITION", "NORMAL", "COLOR_0"} | used | ({"TANGENT"} if "NORMAL" in primitive["attributes"] else set())
    return [name for name in primitive["attributes"] if name not in kept and not _SKINNING.fullmatch(name)]


def _count_extras(value: Any) -> int:
    if isinstance(value, list):
        return sum(map(_count_extras, value))
    if not isinstance(value, dict):
        return 0
    return ("extras" in value) + sum(_count_extras(entry) for key, entry in value.items() if key != "extras")
