"""The materials of a glTF header with their base-colour images."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, get_args

import numpy as np

from hra.domains.meshes.files.gltf_files import read_uri
from hra.domains.meshes.files.gltf_views import Views
from hra.domains.meshes.files.resolver import MissingFile, SiblingFiles
from hra.domains.meshes.files.structure import Misfit, listing, number, record, whole
from hra.domains.meshes.files.textures import Textures
from hra.domains.meshes.materials import AlphaMode, Material
from hra.errors import FileError, RepairWarning

# Extensions that name an image instead of the texture's own source.
_SOURCES = ("EXT_texture_webp", "KHR_texture_basisu")


def read_materials(views: Views, files: SiblingFiles, where: str) -> list[Material]:
    """All materials of a glTF header.

    Other textures than the base colour's, samplers and material extensions are left out.

    Raises
    ------
    FileError : an image's file lies outside of the folder, or has an address.
    MeshError : a factor out of range.

    Warns
    -----
    RepairWarning : a texture that is missing or cannot be read is left out.
    """
    header, images = views.header, {}
    textures = Textures(files)
    materials = []
    for material, entry in enumerate(header.get("materials", [])):
        place = f"{where}, material {material}"
        surface = entry.get("pbrMetallicRoughness", {})
        image = _image_number(header, surface.get("baseColorTexture"))
        if image is not None and image not in images:
            images[image] = _image(views, image, files, textures, place)
        materials.append(
            Material(
                name=str(entry.get("name", "")),
                base_color=_numbers(surface.get("baseColorFactor", (1, 1, 1, 1))),
                image=None if image is None else images[image],
                metallic=float(surface.get("metallicFactor", 1)),
                roughness=float(surface.get("roughnessFactor", 1)),
                emissive=_numbers(entry.get("emissiveFactor", (0, 0, 0))),
                alpha_mode=_alpha_mode(entry, place),
                alpha_cutoff=min(float(entry.get("alphaCutoff", 0.5)), 1.0),
                double_sided=bool(entry.get("doubleSided", False)),
            )
        )
    return materials


def _alpha_mode(entry: dict[str, Any], where: str) -> AlphaMode:
    mode = entry.get("alphaMode", "OPAQUE")
    if mode in get_args(AlphaMode):
        return mode
    warnings.warn(f"{where}: the alpha mode {mode[:40]!r} is unknown and became OPAQUE", RepairWarning, stacklevel=3)
    return "OPAQUE"


def _numbers(values: Sequence[float]) -> Any:
    return tuple(np.asarray(values, np.float64).tolist())


def _image_number(header: dict[str, Any], reference: dict[str, Any] | None) -> int | None:
    if reference is None:
        return None
    entry = header["textures"][reference["index"]]
    extensions = entry.get("extensions", {})
    named = [extensions[name].get("source") for name in _SOURCES if name in extensions]
    chosen = entry.get("source", named[0] if named else None)
    images = len(header.get("images", []))
    # References of extensions are not in the table of properties.
    return chosen if type(chosen) is int and 0 <= chosen < images else None


def _image(
    views: Views,
    number: int,
    files: SiblingFiles,
    textures: Textures,
    where: str,
) -> bytes | None:
    entry = views.header["images"][number]
    if "bufferView" in entry:
        return textures.read(views.content(entry["bufferView"]), where)
    try:
        content = read_uri(entry["uri"], files, where)
    except MissingFile:
        warnings.warn(f"{where}: the texture {entry['uri']!r} is missing and was left out", RepairWarning, stacklevel=2)
        return None
    return textures.read(content, where)


_TRANSFORM = record(
    {
        "offset": listing(number(), 2, 2),
        "rotation": number(),
        "scale": listing(number(), 2, 2),
        "texCoord": whole(),
    }
)


def transform_coordinates(uv: np.ndarray, material: dict[str, Any], where: str) -> np.ndarray:
    """Texture coordinates [V, 2] by the KHR_texture_transform of a material's base-colour texture, if it has one.

    Raises
    ------
    FileError : the transform is malformed.
    """
    info = material.get("pbrMetallicRoughness", {}).get("baseColorTexture", {})
    transform = info.get("extensions", {}).get("KHR_texture_transform")
    if transform is None:
        return uv
    try:
        _TRANSFORM(transform, {})
    except Misfit as misfit:
        raise FileError(f"a texture transform is wrong: {misfit.what}", where=f"{where}, {misfit.place}") from misfit
    angle = transform.get("rotation", 0.0)
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    moved = (uv * np.array(transform.get("scale", (1, 1)))) @ turn.T
    return moved + np.array(transform.get("offset", (0, 0)))
