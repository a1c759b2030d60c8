"""The materials of a glTF header with their images and samplers, in and out (Khronos glTF 2.0, 3.9 and 5.26)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, get_args

import numpy as np

from hra.domains.meshes.files.gltf_accessors import Views
from hra.domains.meshes.files.gltf_coordinates import BASE, TRANSFORM, map_others, texture_infos
from hra.domains.meshes.files.gltf_extensions import OF_OTHER_MATERIALS, extensions
from hra.domains.meshes.files.gltf_files import read_uri
from hra.domains.meshes.files.resolver import MissingFile, SiblingFiles, Textures
from hra.domains.meshes.mesh.materials import TEXTURES, AlphaMode, Material, Sampler, Texture, image_type, other_name
from hra.errors import warn

WRAPS = {10497: "REPEAT", 33071: "CLAMP_TO_EDGE", 33648: "MIRRORED_REPEAT"}
_MAGNIFIED = {9728: "NEAREST", 9729: "LINEAR"}
_MINIFIED = _MAGNIFIED | {
    9984: "NEAREST_MIPMAP_NEAREST",
    9985: "LINEAR_MIPMAP_NEAREST",
    9986: "NEAREST_MIPMAP_LINEAR",
    9987: "LINEAR_MIPMAP_LINEAR",
}
_FIELDS = {
    "wrap_s": ("wrapS", WRAPS),
    "wrap_t": ("wrapT", WRAPS),
    "mag_filter": ("magFilter", _MAGNIFIED),
    "min_filter": ("minFilter", _MINIFIED),
}
GLOSSY = "KHR_materials_pbrSpecularGlossiness"
_STRENGTH = "KHR_materials_emissive_strength"
# Extensions that name an image of such a type instead of the texture's own source.
_SOURCES = {"image/avif": "EXT_texture_avif", "image/webp": "EXT_texture_webp", "image/ktx2": "KHR_texture_basisu"}
_SURFACE = {"base_color_texture": "baseColorTexture", "metallic_roughness_texture": "metallicRoughnessTexture"}
_OTHERS = {
    "normal_texture": "normalTexture",
    "occlusion_texture": "occlusionTexture",
    "emissive_texture": "emissiveTexture",
}


def read_sampler(header: dict[str, Any], texture: dict[str, Any], where: str) -> Sampler:
    """The sampler of a texture.

    Warns
    -----
    RepairWarning : a number that is none of glTF's, which counts as if it were not there.
    """
    entry = header["samplers"][texture["sampler"]] if "sampler" in texture else {}
    chosen: dict[str, Any] = {}
    for name, (key, names) in _FIELDS.items():
        if key in entry and entry[key] not in names:
            what = f"{where}: the {key} {entry[key]} of a sampler is unknown and was left out"
            warn(what)
        elif key in entry:
            chosen[name] = names[entry[key]]
    return Sampler(**chosen)


def sampler_entry(sampler: Sampler) -> dict[str, int]:
    """The sampler as a header has it, without what is left to others."""
    numbers = {key: {name: number for number, name in names.items()} for key, names in _FIELDS.values()}
    values = {key: getattr(sampler, name) for name, (key, _) in _FIELDS.items()}
    return {key: numbers[key][value] for key, value in values.items() if value is not None}


def report_bright(header: Mapping[str, Any], where: str) -> None:
    """Warn of materials that shine brighter than the format allows, which viewers show none the less."""
    found = []
    for number, entry in enumerate(header.get("materials", [])):
        if max(entry.get("emissiveFactor", (0,))) > 1:
            name = f" {entry['name']!r}" if "name" in entry else ""
            found.append(f"materials[{number}]{name} {entry['emissiveFactor']}")
    if found:
        what = f"{where}: the emissiveFactor of {', '.join(found)} is above 1, the most that glTF allows, and is kept"
        warn(what)


def read_materials(views: Views, files: SiblingFiles, where: str) -> list[Material]:
    """All materials of a glTF header, their textures as if all were laid out by the first set of coordinates.

    Extensions and extras are kept as they are, except for their references to textures.

    Raises
    ------
    FileError : an image's file lies outside of the folder, or has an address.
    MeshError : a factor out of range.

    Warns
    -----
    RepairWarning : a texture that is missing or cannot be read is left out.
    """
    reader = _Images(views, files, Textures(files))
    entries = views.header.get("materials", [])
    return [_material(entry, reader, f"{where}, material {number}") for number, entry in enumerate(entries)]


def laid_out(material: Material, of: Mapping[str, int], where: str) -> Material:
    """The material of a primitive whose textures have their coordinates in the sets ``of`` the primitive.

    Warns
    -----
    RepairWarning : textures other than the base colour's that have no coordinates are left out.
    """
    lost = [name for name in material.textures if name != BASE and name not in of]
    if lost:
        names = ", ".join("a texture of an extension" if name.startswith("other") else name for name in lost)
        what = f"{where}: {names} needs more than the two available sets of coordinates, and was left out"
        warn(what)
    # The base colour's coordinates are the first set.
    kept = {name: replace(one, coordinates=of[name]) for name, one in material.textures.items() if name in of}
    kept.pop(BASE, None)
    material = replace(material.with_textures(kept), **{name: None for name in lost if name in TEXTURES})
    numbers = {k: other_name(k) in kept for k in range(len(material.other_textures))}
    if all(numbers.values()):
        return material
    left = [k for k, there in numbers.items() if there]
    other = map_others(
        json.loads(material.other),
        lambda info: info | {"index": left.index(info["index"])} if info["index"] in left else None,
    )
    return replace(material, other=_text(other), other_textures=tuple(material.other_textures[k] for k in left))


def _material(entry: dict[str, Any], images: _Images, where: str) -> Material:
    entry = _with_strength(entry)
    surface = entry.get("pbrMetallicRoughness", {})
    if GLOSSY in entry.get("extensions", {}) and "pbrMetallicRoughness" not in entry:
        # As much of it as there is in the other model; the extension is kept beside it.
        glossy = entry["extensions"][GLOSSY]
        surface = {"metallicFactor": 0, "roughnessFactor": 1 - glossy.get("glossinessFactor", 1)}
        names = {"diffuseFactor": "baseColorFactor", "diffuseTexture": "baseColorTexture"}
        surface |= {new: glossy[old] for old, new in names.items() if old in glossy}
        entry = entry | {"pbrMetallicRoughness": surface}
    textures: dict[str, Any] = {name: images.texture(info, where) for name, info in texture_infos(entry).items()}
    base = textures.pop(BASE, None)
    others = [textures.pop(name) for name in list(textures) if name.startswith("other")]
    return Material(
        name=str(entry.get("name", "")),
        base_color=_numbers(surface.get("baseColorFactor", (1, 1, 1, 1))),
        metallic=float(surface.get("metallicFactor", 1)),
        roughness=float(surface.get("roughnessFactor", 1)),
        emissive=_numbers(entry.get("emissiveFactor", (0, 0, 0))),
        alpha_mode=_alpha_mode(entry, where),
        alpha_cutoff=min(float(entry.get("alphaCutoff", 0.5)), 1.0),
        double_sided=bool(entry.get("doubleSided", False)),
        normal_scale=float(entry.get("normalTexture", {}).get("scale", 1)),
        occlusion_strength=float(entry.get("occlusionTexture", {}).get("strength", 1)),
        image=None if base is None else base.image,
        sampler=Sampler() if base is None else base.sampler,
        other=_other(entry, others),
        other_textures=tuple(one for one in others if one is not None),
        **textures,
    )


def _with_strength(entry: dict[str, Any]) -> dict[str, Any]:
    """The entry with an emissiveFactor of at most 1, and what is above as the strength that multiplies it."""
    most = max(entry.get("emissiveFactor", (0,)))
    if most <= 1:
        return entry
    given = entry.get("extensions", {}).get(_STRENGTH, {}).get("emissiveStrength", 1)
    strength = most * (given if isinstance(given, (int, float)) else 1)
    more = entry.get("extensions", {}) | {_STRENGTH: {"emissiveStrength": strength}}
    return entry | {"emissiveFactor": [value / most for value in entry["emissiveFactor"]], "extensions": more}


def _other(entry: dict[str, Any], textures: list[Texture | None]) -> str:
    """Extensions and extras of a material as JSON, in which textures are numbers of those that are there."""
    found = {key: entry[key] for key in ("extensions", "extras") if key in entry}
    if not found:
        return ""
    number, kept = iter(range(len(textures))), [k for k, one in enumerate(textures) if one is not None]

    def renumbered(info: dict[str, Any]) -> dict[str, Any] | None:
        # What a transform moves is moved in the coordinates themselves.
        k, extensions = next(number), {n: e for n, e in info.get("extensions", {}).items() if n != TRANSFORM}
        left = {name: value for name, value in info.items() if name not in ("texCoord", "extensions")}
        left |= {"extensions": extensions} if extensions else {}
        return left | {"index": kept.index(k)} if k in kept else None

    if "extensions" in found:
        own = map_others(found.pop("extensions"), renumbered)
        own.pop(OF_OTHER_MATERIALS, None)
        found |= {"extensions": own} if own else {}
    return _text(found) if found else ""


def _text(other: dict[str, Any]) -> str:
    return json.dumps(other, separators=(",", ":"))


def _alpha_mode(entry: dict[str, Any], where: str) -> AlphaMode:
    mode = entry.get("alphaMode", "OPAQUE")
    if mode in get_args(AlphaMode):
        return mode
    warn(f"{where}: the alpha mode {mode[:40]!r} is unknown and became OPAQUE")
    return "OPAQUE"


def _numbers(values: Sequence[float]) -> Any:
    return tuple(np.asarray(values, np.float64).tolist())


@dataclass(frozen=True, eq=False)
class _Images:
    """The images of a header, each read when it is first asked for."""

    views: Views
    files: SiblingFiles
    textures: Textures
    known: dict[int, bytes | None] = field(default_factory=dict)

    def texture(self, info: dict[str, Any], where: str) -> Texture | None:
        """What a reference to a texture shows, None where there is no image or it cannot be read."""
        if not 0 <= info["index"] < len(self.views.header.get("textures", [])):  # extensions are not checked
            what = f"{where}: an extension names texture {info['index']}, which is not there, and it was left out"
            warn(what)
            return None
        entry = self.views.header["textures"][info["index"]]
        number = self._number(entry)
        if number is None:
            return None
        if number not in self.known:
            self.known[number] = self._read(number, where)
        image = self.known[number]
        return None if image is None else Texture(image, 0, read_sampler(self.views.header, entry, where))

    def _number(self, entry: dict[str, Any]) -> int | None:
        extensions = entry.get("extensions", {})
        named = [extensions[name].get("source") for name in _SOURCES.values() if name in extensions]
        chosen = entry.get("source", named[0] if named else None)
        # References of extensions are not in the table of properties.
        there = type(chosen) is int and 0 <= chosen < len(self.views.header.get("images", []))
        return chosen if there else None

    def _read(self, number: int, where: str) -> bytes | None:
        entry = self.views.header["images"][number]
        if "bufferView" in entry:
            return self.textures.read(self.views.content(entry["bufferView"]), where)
        try:
            content = read_uri(entry["uri"], self.files, where)
        except MissingFile:
            what = f"{where}: the texture {entry['uri']!r} is missing and was left out"
            warn(what)
            return None
        return self.textures.read(content, where)


def material_entries(
    materials: tuple[Material, ...],
    sets: int,
    add_view: Callable[[bytes], int],
    beside: Mapping[bytes, str] = MappingProxyType({}),
) -> dict[str, list[Any]]:
    """The header's lists for ``materials``; what several of them share is stored once.

    Parameters
    ----------
    sets : how many sets of texture coordinates vertices have; textures that need one more are left out, which glTF
        asks for.
    add_view : stores the bytes of an image and says in which view.
    beside : the names of images that are files of their own.
    """
    images: dict[bytes, int] = {}
    samplers: dict[Sampler, int] = {}
    textures: dict[tuple[bytes, Sampler], int] = {}

    def place(texture: Texture) -> dict[str, Any]:
        images.setdefault(texture.image, len(images))
        if texture.sampler != Sampler():
            samplers.setdefault(texture.sampler, len(samplers))
        number = textures.setdefault((texture.image, texture.sampler), len(textures))
        return {"index": number} | ({"texCoord": texture.coordinates} if texture.coordinates else {})

    entries = [_material_entry(material, _infos(material, sets, place)) for material in materials]
    for material, entry in zip(materials, entries, strict=True):
        entry |= _other_entry(material, sets, place)
    # No other image is there for those who do not know the extension.
    required = {_SOURCES[image_type(image)] for image in images if image_type(image) in _SOURCES}
    found: dict[str, list[Any]] = {
        "extensionsUsed": sorted({name for name, _ in extensions(entries)} | required),
        "extensionsRequired": sorted(required),
        "materials": entries,
        "textures": [
            _source(image, images[image]) | ({"sampler": samplers[sampler]} if sampler in samplers else {})
            for image, sampler in textures
        ],
        "samplers": [sampler_entry(sampler) for sampler in samplers],
        "images": [
            {"uri": beside[content]}
            if content in beside
            else {"bufferView": add_view(content), "mimeType": image_type(content)}
            for content in images
        ],
    }
    return {kind: entries for kind, entries in found.items() if entries}


def _source(image: bytes, number: int) -> dict[str, Any]:
    """What a texture says of its ``image``, which has a ``number``."""
    name = _SOURCES.get(image_type(image))
    return {"extensions": {name: {"source": number}}} if name else {"source": number}


def _infos(material: Material, sets: int, place: Callable[[Texture], dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """References to the textures of a material by their names."""
    own = {name: texture for name, texture in material.textures.items() if not name.startswith("other")}
    infos = {name: place(texture) for name, texture in own.items() if texture.coordinates < sets}
    if "normal_texture" in infos and material.normal_scale != 1:
        infos["normal_texture"]["scale"] = material.normal_scale
    if "occlusion_texture" in infos and material.occlusion_strength != 1:
        infos["occlusion_texture"]["strength"] = material.occlusion_strength
    return infos


def _other_entry(material: Material, sets: int, place: Callable[[Texture], dict[str, Any]]) -> dict[str, Any]:
    """Extensions and extras of a material with references to the file's textures."""

    def placed(info: dict[str, Any]) -> dict[str, Any] | None:
        texture = material.other_textures[info["index"]]
        return info | place(texture) if texture.coordinates < sets else None

    return map_others(json.loads(material.other), placed) if material.other else {}


def _material_entry(material: Material, infos: dict[str, dict[str, Any]]) -> dict[str, Any]:
    surface: dict[str, Any] = {
        "baseColorFactor": list(material.base_color),
        "metallicFactor": material.metallic,
        "roughnessFactor": material.roughness,
    }
    surface |= {key: infos[name] for name, key in _SURFACE.items() if name in infos}
    entry: dict[str, Any] = {"name": material.name, "pbrMetallicRoughness": surface}
    entry |= {key: infos[name] for name, key in _OTHERS.items() if name in infos}
    if any(material.emissive):
        entry["emissiveFactor"] = list(material.emissive)
    if material.alpha_mode != "OPAQUE":
        entry["alphaMode"] = material.alpha_mode
    if material.alpha_mode == "MASK":
        entry["alphaCutoff"] = material.alpha_cutoff
    if material.double_sided:
        entry["doubleSided"] = True
    return entry
