"""A software renderer for textured planes: what a residency looks like, and how far it is from full detail.

It interpolates bilinearly within a page, so that no texel of another page is needed.
"""

from __future__ import annotations

import numpy as np

from hra.camera import Camera
from hra.domains.textures.pages import MipLevel, StreamedTexture, texels_of_page
from hra.domains.textures.resident import ResidentTextures, check_resident
from hra.domains.textures.views.raycast import Hits, cast_rays
from hra.domains.textures.views.scene import PlaneScene
from hra.errors import HierarchyError, ImageError

# Two neighbouring texels [n] along one axis, and the weight [n] of the second.
Neighbours = tuple[np.ndarray, np.ndarray, np.ndarray]


def neighbours(position: np.ndarray, size: int, level_size: int, cell: int, level: int) -> Neighbours:
    """The texels of a level around positions [n] of level 0 along one axis, within one page.

    Parameters
    ----------
    size, level_size : texels of level 0 and of ``level`` along the axis.
    cell : side of a page in texels.
    """
    page = position.astype(np.int64) // cell >> level
    centred = position * (level_size / size) - 0.5
    before = np.floor(centred).astype(np.int64)
    first, last = texels_of_page(page, cell, level_size)
    weight = (centred - before).astype(np.float32)
    return np.clip(before, first, last), np.clip(before + 1, first, last), weight


def bilinear(mip: MipLevel, along_y: Neighbours, along_x: Neighbours) -> np.ndarray:
    """Interpolated texels [..., C] of a level [H, W, C]; the indices and weights along both axes are broadcast."""
    (top, bottom, down), (left, right, across) = along_y, along_x
    down, across = down[..., None], across[..., None]
    upper = mip[top, left] * (1 - across) + mip[top, right] * across
    lower = mip[bottom, left] * (1 - across) + mip[bottom, right] * across
    return upper * (1 - down) + lower * down


def render(scene: PlaneScene, resident: ResidentTextures, camera: Camera) -> np.ndarray:
    """The view of ``camera`` with only the resident pages, one sample per pixel.

    Every pixel takes the wanted level rounded down, or the finest resident one if that is coarser, and interpolates
    bilinearly within the page: no texel of another page is needed.

    Returns
    -------
    float32 [height, width, C] in 0 .. 1 for uint8 textures, else in the textures' range; 0 where no plane is seen.

    Raises
    ------
    ImageError : textures with different numbers of channels.
    HierarchyError : pages of other textures. HraError : something else in the place of an argument.

    Examples
    --------
    >>> import numpy as np
    >>> from hra import Camera
    >>> from hra.domains import textures
    >>> scene = textures.PlaneScene.ground(np.full((256, 256, 3), 255, np.uint8), width=10.0)
    >>> coarse = textures.ResidentTextures(scene.textures, np.array([True, False, False, False, False]))
    >>> picture = textures.render(scene, coarse, Camera.perspective((0, 4, 6), (0, 0, 0), viewport=(64, 48)))
    >>> picture.shape, picture[24, 32].tolist()
    ((48, 64, 3), [1.0, 1.0, 1.0])
    """
    hits = cast_rays(scene, camera)
    check_resident(resident)
    if not resident.textures.hierarchy.same_as(scene.textures.hierarchy):
        fix = "pass pages of scene.textures"
        raise HierarchyError("the resident pages are of the textures of another scene", where="resident", fix=fix)
    return shade(scene, resident, hits)


def shade(scene: PlaneScene, resident: ResidentTextures, hits: Hits) -> np.ndarray:
    """The view as of `render`, of rays that were cast."""
    channels = _channels(scene)
    image = np.zeros((*hits.plane.shape, channels), np.float32)
    for index, texture_index in enumerate(scene.texture_of):
        pixel = np.nonzero(hits.plane == index)
        texture = scene.textures.textures[texture_index]
        x, y, footprint = hits.x[pixel], hits.y[pixel], hits.footprint[pixel]
        cell = texture.pages.cell
        finest = resident.level_map(texture_index)[y.astype(np.int64) // cell, x.astype(np.int64) // cell]
        wanted = np.minimum(np.log2(footprint).astype(np.int32), len(texture.mips) - 1)
        image[pixel] = _sample(texture, np.maximum(wanted, finest), x, y)
    return image


def _channels(scene: PlaneScene) -> int:
    channels = {texture.mips[0].shape[2] for texture in scene.textures.textures}
    if len(channels) > 1:
        raise ImageError("the textures of a view must have the same channels", where=f"{sorted(channels)} channels")
    return channels.pop()


def _sample(texture: StreamedTexture, level: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Texels [n, C] at positions ``x``, ``y`` [n] of level 0, each from its own ``level`` [n]."""
    (rows, columns, channels), cell = texture.mips[0].shape, texture.pages.cell
    values = np.empty((level.size, channels), np.float32)
    for m in np.unique(level):
        chosen = level == m
        along_y = neighbours(y[chosen], rows, texture.mips[m].shape[0], cell, m)
        along_x = neighbours(x[chosen], columns, texture.mips[m].shape[1], cell, m)
        values[chosen] = bilinear(texture.mips[m], along_y, along_x)
    # Weights may add up to a little more than 1.
    return np.minimum(values / 255, 1) if texture.mips[0].dtype == np.uint8 else values
