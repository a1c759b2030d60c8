"""What a surface looks like: the constants and textures of a glTF material.

A texture is an image, the coordinates that it is laid out by, and how it is sampled.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from hra.errors import MeshError, check_choice, check_kind
from hra.model.arrays import is_number, whole_in

Wrap = Literal["REPEAT", "MIRRORED_REPEAT", "CLAMP_TO_EDGE"]
MagFilter = Literal["NEAREST", "LINEAR"]
MinFilter = Literal[
    "NEAREST",
    "LINEAR",
    "NEAREST_MIPMAP_NEAREST",
    "LINEAR_MIPMAP_NEAREST",
    "NEAREST_MIPMAP_LINEAR",
    "LINEAR_MIPMAP_LINEAR",
]
# How files begin.
_KINDS = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/webp": re.compile(rb"RIFF.{4}WEBP", re.DOTALL),
    "image/avif": re.compile(rb".{4}ftypavi[fs]", re.DOTALL),
    # Of Basis Universal, which is the only one in glTF: its texels have no format of Vulkan's.
    "image/ktx2": re.compile(rb"\xabKTX 20\xbb\r\n\x1a\n\0{4}.{28}", re.DOTALL),
}
_UNKNOWN = "the image is no PNG, JPEG, WebP, AVIF or KTX2 of Basis Universal"
AlphaMode = Literal["OPAQUE", "MASK", "BLEND"]
# Whole numbers of JSON may be larger than any float.
_LARGEST = 1e308
# The fields of a material that are textures, in the order of glTF.
TEXTURES = ("metallic_roughness_texture", "normal_texture", "occlusion_texture", "emissive_texture")


@dataclass(frozen=True)
class Sampler:
    """How a texture is read beyond its borders and between its texels, by the names of glTF.

    Attributes
    ----------
    wrap_s, wrap_t : "REPEAT", "MIRRORED_REPEAT" or "CLAMP_TO_EDGE", to the side and down.
    mag_filter : "NEAREST" or "LINEAR", None where whoever draws it decides.
    min_filter : one of glTF's six, such as "LINEAR_MIPMAP_LINEAR", or None.

    Raises
    ------
    MeshError : another name.

    References
    ----------
    Khronos, glTF 2.0, section 3.8.4 (samplers).

    Examples
    --------
    >>> from hra.domains.meshes import Sampler
    >>> Sampler(wrap_s="CLAMP_TO_EDGE").wrap_t
    'REPEAT'
    """

    wrap_s: Wrap = "REPEAT"
    wrap_t: Wrap = "REPEAT"
    mag_filter: MagFilter | None = None
    min_filter: MinFilter | None = None

    def __post_init__(self) -> None:
        for name, allowed in (("wrap_s", Wrap), ("wrap_t", Wrap), ("mag_filter", MagFilter), ("min_filter", MinFilter)):
            self._check(name, get_args(allowed))

    def _check(self, name: str, allowed: tuple[str, ...]) -> None:
        value: Any = getattr(self, name)
        if not (value is None and name.endswith("filter")):
            check_choice(name, value, allowed, MeshError, "Sampler")


@dataclass(frozen=True)
class Texture:
    """An image of a material.

    Attributes
    ----------
    image : the bytes of a PNG, JPEG, WebP or AVIF file, or of a KTX2 file of Basis Universal, which is passed on
        but not drawn.
    coordinates : 0 where it is laid out by `VertexAttributes.uv`, 1 by ``uv2``.
    sampler : how it is read.

    Raises
    ------
    MeshError : an image of another format, or other coordinates.

    Examples
    --------
    >>> import io
    >>> from PIL import Image
    >>> from hra.domains.meshes import Texture
    >>> out = io.BytesIO()
    >>> Image.new("RGB", (2, 2)).save(out, "PNG")
    >>> Texture(out.getvalue(), coordinates=1).coordinates
    1
    """

    image: bytes
    coordinates: int = 0
    sampler: Sampler = Sampler()

    def __post_init__(self) -> None:
        if not isinstance(self.image, bytes) or not image_type(self.image):
            raise MeshError(_UNKNOWN, where="Texture", fix="convert the texture to PNG")
        object.__setattr__(self, "coordinates", whole_in("coordinates", self.coordinates, range(2), MeshError))
        if not isinstance(self.sampler, Sampler):
            raise MeshError(f"the sampler is a {type(self.sampler).__name__}", where="Texture", fix="pass a Sampler")

    def __repr__(self) -> str:
        return f"Texture({image_type(self.image)} of {len(self.image)} bytes, coordinates={self.coordinates})"


def image_type(content: bytes) -> str:
    """The MIME type of a file that `Texture` takes by its first bytes, "" for anything else."""
    return next((kind for kind, begins in _KINDS.items() if begins.match(content)), "")


def is_ktx2(content: bytes) -> bool:
    """Whether an image cannot be decoded here: KTX2, which is passed on as it is."""
    return image_type(content) == "image/ktx2"


def image_suffix(content: bytes) -> str:
    """The usual suffix of such a file, without a dot."""
    return image_type(content).removeprefix("image/").replace("jpeg", "jpg")


_PLAIN = Sampler()


@dataclass(frozen=True)
class Material:
    """A material of the metallic-roughness model.

    Attributes
    ----------
    name : for people; need not be unique.
    base_color : linear RGBA in 0 .. 1, multiplies texture and vertex colours.
    image : base-colour texture as the bytes of such a file as `Texture.image`, laid out by ``uv``; None for none.
    metallic, roughness : 0 .. 1, multiply the metallic-roughness texture.
    emissive : linear RGB in 0 .. 1, multiplies the emissive texture.
    alpha_mode : how alpha is used: not at all, against ``alpha_cutoff`` (0 .. 1), or blended.
    double_sided : whether back faces are drawn.
    sampler : how ``image`` is read.
    metallic_roughness_texture : roughness in green, metallic in blue; None for none, as for the others.
    normal_texture : normals in the space of the vertices' tangents; normal_scale : multiplies their x and y.
    occlusion_texture : ambient occlusion in red; occlusion_strength : 0 .. 1, how much of it counts.
    emissive_texture : RGB.
    other : what else a glTF material says, its "extensions" and "extras" as JSON, "" for nothing. Textures in it are
        numbers of ``other_textures``.

    Raises
    ------
    MeshError : a value out of range, or an image of another format. HraError : a name that is no text.

    References
    ----------
    Khronos, glTF 2.0, section 3.9 (materials); defaults are those of the specification.

    Examples
    --------
    >>> from hra.domains.meshes import Material
    >>> Material("glass", base_color=(0.9, 1.0, 1.0, 0.3), roughness=0.05, alpha_mode="BLEND")
    Material('glass', base_color=(0.9, 1.0, 1.0, 0.3))
    """

    name: str = ""
    base_color: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0)
    image: bytes | None = None
    metallic: float = 1.0
    roughness: float = 1.0
    emissive: tuple[float, float, float] = (0.0, 0.0, 0.0)
    alpha_mode: AlphaMode = "OPAQUE"
    alpha_cutoff: float = 0.5
    double_sided: bool = False
    sampler: Sampler = _PLAIN
    metallic_roughness_texture: Texture | None = None
    normal_texture: Texture | None = None
    occlusion_texture: Texture | None = None
    emissive_texture: Texture | None = None
    normal_scale: float = 1.0
    occlusion_strength: float = 1.0
    other: str = ""
    other_textures: tuple[Texture, ...] = ()

    def __post_init__(self) -> None:
        check_kind("name", self.name, str, 'pass a text, "" for none')
        where = f"material {self.name!r}"
        colors = [color if isinstance(color, (tuple, list)) else () for color in (self.base_color, self.emissive)]
        if [len(color) for color in colors] != [4, 3]:
            raise MeshError("a base colour has four values and an emissive colour three", where=where)
        shares = self.metallic, self.roughness, self.alpha_cutoff, self.occlusion_strength
        values = (*colors[0], *colors[1], *shares)
        if not all(is_number(value) and 0 <= value <= 1 for value in values):
            raise MeshError(f"colours and factors must be numbers in 0 .. 1, got {values}", where=where)
        check_choice("alpha_mode", self.alpha_mode, get_args(AlphaMode), MeshError, where)
        if self.image is not None and not (isinstance(self.image, bytes) and self.image_type):
            raise MeshError(_UNKNOWN, where=where, fix="convert the texture to PNG")
        if not (is_number(self.normal_scale) and abs(self.normal_scale) < _LARGEST):
            raise MeshError(f"normal_scale must be finite, got {self.normal_scale}", where=where)
        for name in TEXTURES:
            if not isinstance(getattr(self, name), Texture | None):
                raise MeshError(f"{name} is not a texture", where=where, fix="pass a Texture, or None")
        if not isinstance(self.other_textures, tuple) or not all(isinstance(t, Texture) for t in self.other_textures):
            raise MeshError("other_textures are not textures", where=where, fix="pass a tuple of Texture")
        try:
            other = json.loads(self.other or "{}")
        except (TypeError, ValueError):
            other = None
        if not isinstance(other, dict) or not set(other) <= {"extensions", "extras"}:
            raise MeshError("other is not JSON of extensions and extras", where=where, fix='pass "" for nothing')

    def __repr__(self) -> str:
        image = f", {self.image_type} of {len(self.image)} bytes" if self.image else ""
        more = "".join(f", {name}" for name in TEXTURES if getattr(self, name) is not None)
        return f"Material({self.name!r}, base_color={self.base_color}{image}{more})"

    @property
    def image_type(self) -> str:
        """MIME type of the image, "" without one."""
        return image_type(self.image or b"")

    @property
    def textures(self) -> dict[str, Texture]:
        """The textures that are there by name, "base_color_texture" for ``image``."""
        base = Texture(self.image, 0, self.sampler) if self.image else None
        found = {"base_color_texture": base} | {name: getattr(self, name) for name in TEXTURES}
        found |= {other_name(number): texture for number, texture in enumerate(self.other_textures)}
        return {name: texture for name, texture in found.items() if texture is not None}

    def with_textures(self, textures: Mapping[str, Texture]) -> Material:
        """The material with others in place of some of its `textures`, by name; HraError : no dict."""
        check_kind("textures", textures, Mapping, 'pass a dict such as {"normal_texture": texture}')
        changed: dict[str, Any] = {name: textures[name] for name in TEXTURES if name in textures}
        if "base_color_texture" in textures:
            base = textures["base_color_texture"]
            changed |= {"image": base.image, "sampler": base.sampler}
        own = enumerate(self.other_textures)
        return replace(self, **changed, other_textures=tuple(textures.get(other_name(k), one) for k, one in own))


def other_name(number: int) -> str:
    """What texture ``number`` of `Material.other_textures` is called among all."""
    return f"other {number}"
