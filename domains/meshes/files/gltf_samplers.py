"""Samplers between the numbers of glTF (those of OpenGL) and their names (Khronos glTF 2.0, section 5.26)."""

from __future__ import annotations

import warnings
from typing import Any

from hra.domains.meshes.mesh.materials import Sampler
from hra.errors import RepairWarning

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
            warnings.warn(what, RepairWarning, stacklevel=3)
        elif key in entry:
            chosen[name] = names[entry[key]]
    return Sampler(**chosen)


def sampler_entry(sampler: Sampler) -> dict[str, int]:
    """The sampler as a header has it, without what is left to others."""
    numbers = {key: {name: number for number, name in names.items()} for key, names in _FIELDS.values()}
    values = {key: getattr(sampler, name) for name, (key, _) in _FIELDS.items()}
    return {key: numbers[key][value] for key, value in values.items() if value is not None}
