"""What a surface looks like: the base colour and the few constants of a glTF material that a mesh keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from hra.errors import MeshError

AlphaMode = Literal["OPAQUE", "MASK", "BLEND"]
_MAGIC = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg"}


@dataclass(frozen=True)
class Material:
    """A material of the metallic-roughness model with a base-colour texture and constants for the rest.

    Attributes
    ----------
    name : for people; need not be unique.
    base_color : linear RGBA in 0 .. 1, multiplies texture and vertex colours.
    image : base-colour texture as the bytes of a PNG or JPEG file, None for none.
    metallic, roughness : 0 .. 1.
    emissive : linear RGB in 0 .. 1.
    alpha_mode : how alpha is used: not at all, against ``alpha_cutoff`` (0 .. 1), or blended.
    double_sided : whether back faces are drawn.

    Raises
    ------
    MeshError : a value out of range, or an image of another format.

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

    def __post_init__(self) -> None:
        where = f"material {self.name!r}"
        if len(self.base_color) != 4 or len(self.emissive) != 3:
            raise MeshError("a base colour has four values and an emissive colour three", where=where)
        values = (*self.base_color, *self.emissive, self.metallic, self.roughness, self.alpha_cutoff)
        if not all(0 <= value <= 1 for value in values):
            raise MeshError(f"colours and factors must be numbers in 0 .. 1, got {values}", where=where)
        if self.alpha_mode not in get_args(AlphaMode):
            raise MeshError(f"alpha_mode must be one of {get_args(AlphaMode)}, got {self.alpha_mode!r}", where=where)
        if self.image is not None and not self.image_type:
            raise MeshError("the image is neither PNG nor JPEG", where=where, fix="convert the texture to PNG")

    def __repr__(self) -> str:
        image = f", {self.image_type} of {len(self.image)} bytes" if self.image else ""
        return f"Material({self.name!r}, base_color={self.base_color}{image})"

    @property
    def image_type(self) -> str:
        """MIME type of the image, "" without one."""
        return image_type(self.image or b"")


def image_type(content: bytes) -> str:
    """The MIME type of a PNG or JPEG file by its first bytes, "" for anything else."""
    return next((kind for magic, kind in _MAGIC.items() if content.startswith(magic)), "")
