"""Which texture coordinates the textures of a glTF material are laid out by: two sets, with their transforms applied.

Sources: Khronos glTF 2.0, section 3.9.2, and KHR_texture_transform.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.domains.meshes.files.structure import Misfit, listing, number, record, whole
from hra.domains.meshes.mesh.materials import other_name
from hra.errors import FileError

TRANSFORM = "KHR_texture_transform"
_TRANSFORM = record(
    {
        "offset": listing(number(), 2, 2),
        "rotation": number(),
        "scale": listing(number(), 2, 2),
        "texCoord": whole(),
    }
)
BASE = "base_color_texture"
# Textures by the names of `Material`, and where a material's header keeps them.
_PLACES = {
    BASE: ("pbrMetallicRoughness", "baseColorTexture"),
    "metallic_roughness_texture": ("pbrMetallicRoughness", "metallicRoughnessTexture"),
    "normal_texture": ("normalTexture",),
    "occlusion_texture": ("occlusionTexture",),
    "emissive_texture": ("emissiveTexture",),
}


@dataclass(frozen=True)
class Coordinates:
    """One of a primitive's sets of texture coordinates, as a texture sees it.

    Attributes
    ----------
    number : of the set; offset, rotation (radians), scale : of KHR_texture_transform.
    """

    number: int
    offset: tuple[float, float] = (0.0, 0.0)
    rotation: float = 0.0
    scale: tuple[float, float] = (1.0, 1.0)

    def applied(self, uv: np.ndarray) -> np.ndarray:
        """The set's numbers [V, 2], scaled, turned and moved."""
        if self == Coordinates(self.number):
            return uv
        sine, cosine = np.sin(self.rotation), np.cos(self.rotation)
        turn = np.array([[cosine, sine], [-sine, cosine]])
        return (uv * np.array(self.scale)) @ turn.T + np.array(self.offset)


@dataclass(frozen=True)
class Layout:
    """The coordinates that a primitive's vertices get.

    Attributes
    ----------
    sets : at most two, `VertexAttributes.uv` and ``uv2``.
    of : for each texture that has its coordinates the place of these in ``sets``.
    """

    sets: tuple[Coordinates, ...]
    of: Mapping[str, int]


def texture_infos(material: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The references to textures in the header of a material, by the names of `Material`, those that are there.

    Those of extensions come last, in their order.
    """
    found = {}
    for name, steps in _PLACES.items():
        entry: Any = material
        for step in steps:
            entry = entry.get(step, {})
        if entry:
            found[name] = entry
    others: list[dict[str, Any]] = []
    map_others(material.get("extensions", {}), lambda info: others.append(info) or info)
    return found | {other_name(number): info for number, info in enumerate(others)}


def map_infos(material: dict[str, Any], change: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """The header of a material with every reference to a texture changed."""
    result = dict(material)
    for steps in _PLACES.values():
        outer = result
        for step in steps[:-1]:
            if step in outer:
                outer[step] = dict(outer[step])
            outer = outer.get(step, {})
        if steps[-1] in outer:
            outer[steps[-1]] = change(outer[steps[-1]])
    if "extensions" in result:
        result["extensions"] = map_others(result["extensions"], change)
    return result


def map_others(value: Any, change: Callable[[dict[str, Any]], dict[str, Any] | None]) -> Any:
    """A part of a header with its references to textures changed, left out where ``change`` gives None.

    What they are called is known of no extension before it is written: a record with an "index" whose name ends in
    "texture" is one, as in all of Khronos' extensions.
    """
    if isinstance(value, list):
        return [map_others(entry, change) for entry in value]
    if not isinstance(value, dict):
        return value
    result = {}
    for key, entry in value.items():
        if key.lower().endswith("texture") and isinstance(entry, dict) and type(entry.get("index")) is int:
            changed = change(entry)
            if changed is not None:
                result[key] = changed
        else:
            result[key] = map_others(entry, change)
    return result


def coordinates_of(info: Mapping[str, Any], where: str) -> Coordinates:
    """What a reference to a texture says about coordinates.

    Raises
    ------
    FileError : its transform is malformed.
    """
    transform = info.get("extensions", {}).get(TRANSFORM, {})
    try:
        _TRANSFORM(transform, {})
    except Misfit as misfit:
        raise FileError(f"a texture transform is wrong: {misfit.what}", where=f"{where}, {misfit.place}") from misfit
    return Coordinates(
        transform.get("texCoord", info.get("texCoord", 0)),
        tuple(transform.get("offset", (0.0, 0.0))),
        transform.get("rotation", 0.0),
        tuple(transform.get("scale", (1.0, 1.0))),
    )


def coordinate_sets(primitive: dict[str, Any]) -> list[int]:
    """The numbers of a primitive's sets of texture coordinates, rising."""
    return sorted(int(name.partition("_")[2]) for name in primitive["attributes"] if name.startswith("TEXCOORD_"))


def layout_of(material: Mapping[str, Any], there: list[int], where: str) -> Layout:
    """Which coordinates the vertices of a primitive get: those of its textures, then others that are there.

    Parameters
    ----------
    there : numbers of the primitive's own sets, rising.

    Raises
    ------
    FileError : a transform is malformed.
    """
    wanted = {name: coordinates_of(info, where) for name, info in texture_infos(material).items()}
    wanted = {name: found for name, found in wanted.items() if found.number in there}
    used = list(dict.fromkeys(wanted.values()))[:2]
    numbers = [found.number for found in used]
    spare = [Coordinates(number) for number in there if number not in numbers][: 2 - len(used)]
    # Sets keep their order, but the base colour's coordinates always come first.
    sets = used + spare if BASE in wanted or len(used) == 2 else sorted(used + spare, key=lambda found: found.number)
    return Layout(tuple(sets), {name: sets.index(found) for name, found in wanted.items() if found in sets})
