"""Where textures are in the world: rectangles of a plane, each covered by one whole texture."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.caching import cached_property
from hra.domains.textures.pages import StreamedTexture
from hra.domains.textures.sources.opening import shown_texels
from hra.domains.textures.texture_set import TextureSet
from hra.domains.textures.tiles import TiledTexture
from hra.errors import ArrayError, check_kind
from hra.model.arrays import number_in, numbers, to_numpy
from hra.model.short_repr import ShortRepr

_TEXTURE = "pass one such as TiledTexture.from_image(image)"


@dataclass(frozen=True, eq=False, repr=False)
class TexturedPlane(ShortRepr):
    """A parallelogram that shows one texture: ``origin + u * u_axis + v * v_axis``, u and v in 0 .. 1, from both sides.

    Parameters
    ----------
    texture : the first texel of its first row lies at ``origin``.
    origin : [3], world units.
    u_axis : [3], from the first to past the last column; v_axis : [3], from the first to past the last row.

    Raises
    ------
    ArrayError : not three finite numbers, or axes that span no area. HraError : something else than a texture.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains.textures import TexturedPlane, TiledTexture
    >>> texture = TiledTexture.from_image(np.zeros((64, 128, 3), np.uint8))
    >>> TexturedPlane.ground(texture, width=10.0).points(0.5, [0.0, 1.0]).tolist()
    [[0.0, 0.0, -2.5], [0.0, 0.0, 2.5]]
    """

    texture: StreamedTexture
    origin: np.ndarray
    u_axis: np.ndarray
    v_axis: np.ndarray

    def __post_init__(self) -> None:
        check_kind("texture", self.texture, StreamedTexture, _TEXTURE)
        for name in ("origin", "u_axis", "v_axis"):
            object.__setattr__(self, name, numbers(name, getattr(self, name), 3))
        if not np.cross(self.u_axis, self.v_axis).any():
            raise ArrayError("the axes of a textured plane must span an area", where="u_axis and v_axis")

    @classmethod
    def ground(cls, texture: StreamedTexture, width: float) -> TexturedPlane:
        """A ground centred at the world's origin, ``width`` wide along x, y being up; texels are square.

        Raises
        ------
        ArrayError : a width that is not a finite number above 0. HraError : something else than a texture.
        """
        check_kind("texture", texture, StreamedTexture, _TEXTURE)
        number_in("width", width, 0, sys.float_info.max, ArrayError, ends=False)
        rows, columns = texture.mips[0].shape[:2]
        depth = width * rows / columns
        return cls(
            texture, np.array([-width / 2, 0, -depth / 2]), np.array([width, 0.0, 0.0]), np.array([0.0, 0.0, depth])
        )

    def points(self, u: Any, v: Any) -> np.ndarray:
        """World positions [..., 3] at texture coordinates ``u``, ``v`` [...]; ArrayError : no numbers."""
        u, v = (_coordinates(name, given) for name, given in (("u", u), ("v", v)))
        return self.origin + u * self.u_axis + v * self.v_axis

    @cached_property
    def frame(self) -> np.ndarray:
        """The matrix [4, 3] from (u, v, 1) to homogeneous world coordinates."""
        frame = np.zeros((4, 3))
        frame[:3] = np.stack([self.u_axis, self.v_axis, self.origin], axis=1)
        frame[3, 2] = 1
        return frame


def _coordinates(name: str, given: Any) -> np.ndarray:
    values = to_numpy(given)
    if values.dtype.kind not in "iuf":
        raise ArrayError(f"{name} must be numbers, got {values.dtype} {list(values.shape)}", where=name)
    return values.astype(np.float64)[..., None]


@dataclass(frozen=True, eq=False, repr=False)
class PlaneScene(ShortRepr):
    """Textured planes that may hide each other and may share textures.

    Parameters
    ----------
    planes : at least one.

    Raises
    ------
    ArrayError : no plane.
    HraError : something else than a list of planes.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains.textures import PlaneScene, TexturedPlane, TiledTexture
    >>> texture = TiledTexture.from_image(np.zeros((64, 128, 3), np.uint8))
    >>> wall = TexturedPlane(texture, origin=[-1, 2, 0], u_axis=[2, 0, 0], v_axis=[0, -2, 0])
    >>> scene = PlaneScene([TexturedPlane.ground(texture, width=10.0), wall])
    >>> len(scene.planes), len(scene.textures.textures)
    (2, 1)
    """

    planes: Sequence[TexturedPlane]

    def __post_init__(self) -> None:
        fix = "pass a list of TexturedPlane, or an image to PlaneScene.ground"
        check_kind("planes", self.planes, (list, tuple), fix)
        for number, plane in enumerate(self.planes):
            check_kind(f"planes[{number}]", plane, TexturedPlane, fix)
        object.__setattr__(self, "planes", tuple(self.planes))
        if not self.planes:
            raise ArrayError("a scene needs at least one textured plane", where="planes")

    @classmethod
    def ground(cls, image: Any, width: float = 100.0) -> PlaneScene:
        """A scene of one ground (`TexturedPlane.ground`).

        Parameters
        ----------
        image : a texture; texels uint8 or float32 [H, W, C]; or the path of an image file, which is taken as a screen
            shows it. From the latter two a `TiledTexture` with its default tiles is made.
        width : world units.
        """
        if isinstance(image, (str, os.PathLike)):
            texels, kind = shown_texels(image)
            image = TiledTexture.from_image(texels, texels=kind)
        texture = image if isinstance(image, StreamedTexture) else TiledTexture.from_image(image)
        return cls([TexturedPlane.ground(texture, width)])

    @cached_property
    def textures(self) -> TextureSet:
        """The textures of all planes, each once, in order of first use."""
        return TextureSet(tuple({id(plane.texture): plane.texture for plane in self.planes}.values()))

    @cached_property
    def texture_of(self) -> tuple[int, ...]:
        """The index of each plane's texture in ``textures``."""
        order = {id(texture): index for index, texture in enumerate(self.textures.textures)}
        return tuple(order[id(plane.texture)] for plane in self.planes)


def check_scene(scene: PlaneScene) -> None:
    """Raise HraError unless it is one: planes and textures are passed in its place."""
    check_kind("scene", scene, PlaneScene, "pass PlaneScene.ground(image)")
