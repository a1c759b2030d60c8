"""Materials as records of an asset's JSON, with images as places among the bytes of all images.

What a material had in the first version is always there; what came later only where it says something, so that files
without it stay readable for earlier readers, and these refuse the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from hra.domains.meshes.mesh.materials import TEXTURES, Material
from hra.domains.meshes.mesh.texture import Sampler, Texture

_FIRST = (
    *("name", "base_color", "image", "metallic", "roughness", "emissive"),
    *("alpha_mode", "alpha_cutoff", "double_sided"),
)


class Images:
    """Image files one after the other, each stored once."""

    def __init__(self) -> None:
        self._places: dict[bytes, list[int]] = {}
        self._size = 0

    def place(self, image: bytes) -> list[int]:
        """Offset and length of an image."""
        if image not in self._places:
            self._places[image] = [self._size, len(image)]
            self._size += len(image)
        return self._places[image]

    @property
    def content(self) -> bytes:
        """All of them."""
        return b"".join(self._places)


def record_of(material: Material, images: Images) -> dict[str, Any]:
    """The record of a material, whose images are added to ``images``."""
    plain = Material()
    names = [field.name for field in fields(Material)]
    said = [name for name in names if name in _FIRST or getattr(material, name) != getattr(plain, name)]
    return {name: _written(getattr(material, name), images) for name in said}


def _written(value: Any, images: Images) -> Any:
    if isinstance(value, bytes):
        return images.place(value)
    if isinstance(value, Texture):
        return {"image": images.place(value.image), "coordinates": value.coordinates} | _sampler_record(value.sampler)
    return asdict(value) if isinstance(value, Sampler) else value


def _sampler_record(sampler: Sampler) -> dict[str, Any]:
    return {} if sampler == Sampler() else {"sampler": asdict(sampler)}


def material_of(record: dict[str, Any], images: bytes) -> Material:
    """The material of a record.

    Raises
    ------
    MeshError, TypeError, ValueError, KeyError, AttributeError : not a record of a material, or a missing image.
    """
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in record.items()
    }
    values["image"] = None if values["image"] is None else _image(values["image"], images)
    if "sampler" in values:
        values["sampler"] = Sampler(**values["sampler"])
    textures = {name: _texture(values[name], images) for name in TEXTURES if name in values}
    return Material(**{**values, **textures})


def _texture(record: Mapping[str, Any], images: bytes) -> Texture:
    sampler = Sampler(**record.get("sampler", {}))
    return Texture(**{**record, "image": _image(record["image"], images), "sampler": sampler})


def _image(place: Any, images: bytes) -> bytes:
    offset, size = place
    if not 0 <= offset < offset + size <= len(images):
        raise ValueError("its image is not in the file")
    return images[offset : offset + size]
