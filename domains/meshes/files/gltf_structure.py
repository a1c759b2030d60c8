"""The properties of a glTF header: types, ranges and references.

Source: Khronos, glTF 2.0 specification, section 5 (properties reference). Data of animations, skins, morph targets and
cameras is not read and so not judged; docs/readers.md names every leniency.
"""

from __future__ import annotations

from typing import Any

from hra.domains.meshes.files.gltf_extensions import check_required
from hra.domains.meshes.files.structure import (
    Misfit,
    anything,
    flag,
    index,
    listing,
    mapping,
    number,
    record,
    text,
    whole,
)
from hra.errors import FileError

_COMPONENTS = (5120, 5121, 5122, 5123, 5125, 5126)
_TYPES = "SCALAR|VEC2|VEC3|VEC4|MAT2|MAT3|MAT4"
# Extensions put their name before those of their attributes, as KHR_gaussian_splatting:ROTATION.
_ATTRIBUTES = r"_.*|[A-Z]+_\w+:\w+|POSITION|NORMAL|TANGENT|(?:TEXCOORD|COLOR|JOINTS|WEIGHTS)_(?:0|[1-9]\d*)"
_TARGETS = r"_.*|POSITION|NORMAL|TANGENT|(?:TEXCOORD|COLOR)_(?:0|[1-9]\d*)"
_VERSION = r"\d{1,9}\.\d{1,9}"
_SHARE, _WORD, _BRIGHTEST = number(0, 1), 2**53, 2.0**64
_BOUNDS, _THEIRS = ("min", "max"), ("extensions", "extras")
_LISTS = {
    *("accessors", "animations", "buffers", "bufferViews", "cameras", "children", "extensionsRequired"),
    *("extensionsUsed", "images", "joints", "materials", "meshes", "nodes", "samplers", "scenes", "skins", "targets"),
    *("textures", "weights"),
}
_EXTRA = {"name": text(), "extensions": mapping(mapping(anything))}


def _numbers(count: int, low: float = -1e308, high: float = 1e308) -> Any:
    return listing(number(low, high), count, count)


def _texture_info(**more: Any) -> Any:
    return record({"index": index("textures"), "texCoord": whole(), **_EXTRA, **more}, required=["index"])


_ACCESSOR = record(
    {
        "bufferView": index("bufferViews"),
        "byteOffset": whole(),
        "componentType": whole(choices=_COMPONENTS),
        "normalized": flag,
        "count": whole(1),
        "type": text(_TYPES),
        "max": listing(number(), 1, 16),
        "min": listing(number(), 1, 16),
        "sparse": record(
            {
                "count": whole(1),
                "indices": record(
                    {
                        "bufferView": index("bufferViews"),
                        "byteOffset": whole(),
                        "componentType": whole(choices=(5121, 5123, 5125)),
                    },
                    required=["bufferView", "componentType"],
                ),
                "values": record({"bufferView": index("bufferViews"), "byteOffset": whole()}, required=["bufferView"]),
            },
            required=["count", "indices", "values"],
        ),
        **_EXTRA,
    },
    required=["componentType", "count", "type"],
    needs={"byteOffset": "bufferView"},
)
_ANIMATION = record(
    {
        "channels": listing(
            record(
                {
                    "sampler": whole(),
                    "target": record({"node": index("nodes"), "path": text(), **_EXTRA}, required=["path"]),
                },
                required=["sampler", "target"],
            )
        ),
        "samplers": listing(
            record(
                {"input": index("accessors"), "output": index("accessors"), "interpolation": text()},
                required=["input", "output"],
            )
        ),
        **_EXTRA,
    },
    required=["channels", "samplers"],
)
_ASSET = record(
    {"version": text(_VERSION), "minVersion": text(_VERSION), "generator": text(), "copyright": text(), **_EXTRA},
    required=["version"],
)
_BUFFER = record({"uri": text(), "byteLength": whole(1), **_EXTRA}, required=["byteLength"])
_VIEW = record(
    {
        "buffer": index("buffers"),
        "byteOffset": whole(),
        "byteLength": whole(1),
        "byteStride": whole(4, 252, step=4),
        "target": whole(-_WORD, _WORD),
        **_EXTRA,
    },
    required=["buffer", "byteLength"],
)
_CAMERA = record(
    {
        "type": text(),
        "perspective": record(
            {
                "aspectRatio": number(above=0),
                "yfov": number(above=0),
                "zfar": number(above=0),
                "znear": number(above=0),
            },
            required=["yfov", "znear"],
        ),
        "orthographic": record(
            {"xmag": number(), "ymag": number(), "zfar": number(above=0), "znear": number(0)},
            required=["xmag", "ymag", "zfar", "znear"],
        ),
        **_EXTRA,
    },
    required=["type"],
    one_of=["perspective", "orthographic"],
)
_IMAGE = record(
    {"uri": text(), "mimeType": text(), "bufferView": index("bufferViews"), **_EXTRA},
    one_of=["uri", "bufferView"],
    needs={"bufferView": "mimeType"},
)
_MATERIAL = record(
    {
        "pbrMetallicRoughness": record(
            {
                "baseColorFactor": _numbers(4, 0, 1),
                "baseColorTexture": _texture_info(),
                "metallicFactor": _SHARE,
                "roughnessFactor": _SHARE,
                "metallicRoughnessTexture": _texture_info(),
                **_EXTRA,
            }
        ),
        "normalTexture": _texture_info(scale=number()),
        "occlusionTexture": _texture_info(strength=_SHARE),
        "emissiveTexture": _texture_info(),
        # The format allows 1 at most, but viewers show what is brighter, as exporters mean it.
        "emissiveFactor": _numbers(3, 0, _BRIGHTEST),
        "alphaMode": text(),
        "alphaCutoff": number(0),
        "doubleSided": flag,
        **_EXTRA,
    }
)
_MESH = record(
    {
        "primitives": listing(
            record(
                {
                    "attributes": mapping(index("accessors"), _ATTRIBUTES, 1),
                    "indices": index("accessors"),
                    "material": index("materials"),
                    "mode": whole(0, 6),
                    "targets": listing(mapping(index("accessors"), _TARGETS, 1)),
                    **_EXTRA,
                },
                required=["attributes"],
            )
        ),
        "weights": listing(number()),
        **_EXTRA,
    },
    required=["primitives"],
)
_NODE = record(
    {
        "camera": index("cameras"),
        "children": listing(index("nodes"), unique=True),
        "skin": index("skins"),
        "matrix": _numbers(16),
        "mesh": index("meshes"),
        "rotation": _numbers(4, -1, 1),
        "scale": _numbers(3),
        "translation": _numbers(3),
        "weights": listing(number()),
        **_EXTRA,
    },
    needs={"skin": "mesh", "weights": "mesh"},
)
_SAMPLER = record({name: whole(-_WORD, _WORD) for name in ("magFilter", "minFilter", "wrapS", "wrapT")} | _EXTRA)
_SKIN = record(
    {
        "inverseBindMatrices": index("accessors"),
        "skeleton": index("nodes"),
        "joints": listing(index("nodes"), unique=True),
        **_EXTRA,
    },
    required=["joints"],
)
_HEADER = record(
    {
        "extensionsUsed": listing(text(), unique=True),
        "extensionsRequired": listing(text(), unique=True),
        "accessors": listing(_ACCESSOR),
        "animations": listing(_ANIMATION),
        "asset": _ASSET,
        "buffers": listing(_BUFFER),
        "bufferViews": listing(_VIEW),
        "cameras": listing(_CAMERA),
        "images": listing(_IMAGE),
        "materials": listing(_MATERIAL),
        "meshes": listing(_MESH),
        "nodes": listing(_NODE),
        "samplers": listing(_SAMPLER),
        "scene": index("scenes"),
        "scenes": listing(record({"nodes": listing(index("nodes"), unique=True), **_EXTRA})),
        "skins": listing(_SKIN),
        "textures": listing(record({"sampler": index("samplers"), "source": index("images"), **_EXTRA})),
        "extensions": mapping(mapping(anything)),
    },
    required=["asset"],
    needs={"extensionsRequired": "extensionsUsed"},
)


def leave_out_unsaid(header: dict[str, Any]) -> None:
    """Take from a header, in place, what says no more than if it were missing: empty lists, and bounds that are null.

    The format allows neither. Some exporters write all lists; JSON has null for bounds of values that are no numbers.
    What extensions and applications say is theirs.
    """
    waiting: list[Any] = [header]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += [entry for entry in value if isinstance(entry, dict)]
            continue
        for name in [name for name, entry in value.items() if isinstance(entry, list)]:
            if (name in _LISTS and not value[name]) or (name in _BOUNDS and None in value[name]):
                del value[name]
        waiting += [one for name, one in value.items() if name not in _THEIRS and isinstance(one, (dict, list))]


def check_structure(header: dict[str, Any], where: str) -> None:
    """Refuse a header whose properties are not those of glTF 2.0; whole numbers written as floats become ints.

    Raises
    ------
    FileError : names the property, a version that is not 2, or an extension that is required and not read.
    """
    _check_first_version(header, where)
    try:
        _HEADER(header, header)
        for number, animation in enumerate(header.get("animations", [])):
            _check_animation(animation, number)
    except Misfit as misfit:
        raise FileError(f"the glTF header is wrong: {misfit.what}", where=f"{where}, {misfit.place}") from misfit
    _check_version(header["asset"], where)
    required = header.get("extensionsRequired", [])
    check_required(header, where)
    if not set(required) <= set(header.get("extensionsUsed", [])):
        raise FileError("it requires an extension that it does not declare as used", where=f"{where}, extensionsUsed")


def _check_animation(animation: dict[str, Any], number: int) -> None:
    for place, channel in enumerate(animation["channels"]):
        if channel["sampler"] >= len(animation["samplers"]):
            misfit = Misfit(f"there is no sampler {channel['sampler']}")
            misfit.path = [".sampler", f"[{place}]", ".channels", f"[{number}]", "animations"]
            raise misfit


def _check_version(asset: dict[str, Any], where: str) -> None:
    """Minor versions add only what older readers may pass over, unless ``minVersion`` says otherwise."""
    if not asset["version"].startswith("2."):
        needed = asset["version"]
    elif asset.get("minVersion", "2.0") != "2.0":
        needed = asset["minVersion"]
    else:
        return
    raise FileError(f"glTF {needed} is not read, only 2.0", where=f"{where}, asset", fix="export it as glTF 2.0")


def _check_first_version(header: dict[str, Any], where: str) -> None:
    """Refuse glTF 1, whose lists are objects by name, and whose version may be missing, a number or a text."""
    asset = header.get("asset")
    version = asset.get("version") if isinstance(asset, dict) else None
    if str(version).startswith("1") or (version is None and isinstance(header.get("meshes"), dict)):
        fix = "convert it: npx gltf-pipeline -i OLD.gltf -o NEW.glb; or export it as glTF 2.0"
        raise FileError("this is glTF 1, which is not read, only 2.0", where=f"{where}, asset", fix=fix)
