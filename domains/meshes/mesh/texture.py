"""Textures of a material as glTF has them: an image, the coordinates that it is laid out by, and how it is sampled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

from hra.errors import MeshError

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
_MAGIC = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg"}


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
        if value not in allowed and not (value is None and name.endswith("filter")):
            raise MeshError(f"{name} must be one of {', '.join(allowed)}, got {value!r}", where="Sampler")


@dataclass(frozen=True)
class Texture:
    """An image of a material.

    Attributes
    ----------
    image : the bytes of a PNG or JPEG file.
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
            raise MeshError("the image is neither PNG nor JPEG", where="Texture", fix="convert the texture to PNG")
        if type(self.coordinates) is not int or self.coordinates not in (0, 1):
            raise MeshError(f"coordinates must be 0 (uv) or 1 (uv2), got {self.coordinates!r}", where="Texture")
        if not isinstance(self.sampler, Sampler):
            raise MeshError(f"the sampler is a {type(self.sampler).__name__}", where="Texture", fix="pass a Sampler")

    def __repr__(self) -> str:
        return f"Texture({image_type(self.image)} of {len(self.image)} bytes, coordinates={self.coordinates})"


def image_type(content: bytes) -> str:
    """The MIME type of a PNG or JPEG file by its first bytes, "" for anything else."""
    return next((kind for magic, kind in _MAGIC.items() if content.startswith(magic)), "")
