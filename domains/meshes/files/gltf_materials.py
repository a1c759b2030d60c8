"""The materials of a glTF header with their base-colour images."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from hra.domains.meshes.files.gltf_files import read_uri, view_bytes
from hra.domains.meshes.files.resolver import MissingFile, SiblingFiles
from hra.domains.meshes.files.textures import texture
from hra.domains.meshes.materials import Material
from hra.errors import RepairWarning

# Extensions that name an image instead of the texture's own source.
_SOURCES = ("EXT_texture_webp", "KHR_texture_basisu")


def read_materials(header: dict[str, Any], buffers: Sequence[bytes], files: SiblingFiles, where: str) -> list[Material]:
    """All materials of a glTF header.

    Other textures than the base colour's, texture transforms, samplers and material extensions are left out.

    Raises
    ------
    FileError : an image's file lies outside of the folder, or has an address.
    MeshError : a factor out of range.

    Warns
    -----
    RepairWarning : a texture that is missing or cannot be read is left out.
    """
    images: dict[int, bytes | None] = {}
    materials = []
    for number, entry in enumerate(header.get("materials", [])):
        place = f"{where}, material {number}"
        surface = entry.get("pbrMetallicRoughness", {})
        image = _image_number(header, surface.get("baseColorTexture"))
        if image is not None and image not in images:
            images[image] = _image(header, image, buffers, files, place)
        materials.append(
            Material(
                name=str(entry.get("name", "")),
                base_color=_numbers(surface.get("baseColorFactor", (1, 1, 1, 1))),
                image=None if image is None else images[image],
                metallic=float(surface.get("metallicFactor", 1)),
                roughness=float(surface.get("roughnessFactor", 1)),
                emissive=_numbers(entry.get("emissiveFactor", (0, 0, 0))),
                alpha_mode=entry.get("alphaMode", "OPAQUE"),
                alpha_cutoff=min(float(entry.get("alphaCutoff", 0.5)), 1.0),
                double_sided=bool(entry.get("doubleSided", False)),
            )
        )
    return materials


def _numbers(values: Sequence[float]) -> Any:
    return tuple(np.asarray(values, np.float64).tolist())


def _image_number(header: dict[str, Any], reference: dict[str, Any] | None) -> int | None:
    if reference is None:
        return None
    entry = header["textures"][reference["index"]]
    extensions = entry.get("extensions", {})
    named = [extensions[name]["source"] for name in _SOURCES if name in extensions]
    return entry.get("source", named[0] if named else None)


def _image(
    header: dict[str, Any], number: int, buffers: Sequence[bytes], files: SiblingFiles, where: str
) -> bytes | None:
    entry = header["images"][number]
    if "bufferView" in entry:
        return texture(view_bytes(header, entry["bufferView"], buffers), where)
    try:
        content = read_uri(entry["uri"], files, where)
    except MissingFile:
        warnings.warn(f"{where}: the texture {entry['uri']!r} is missing and was left out", RepairWarning, stacklevel=2)
        return None
    return texture(content, where)
