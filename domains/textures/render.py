"""A software renderer for textured planes: what a residency looks like, and how far it is from full detail."""

from __future__ import annotations

import numpy as np

from hra.camera import Camera
from hra.domains.textures.pages import StreamedTexture, texels_of_page
from hra.domains.textures.raycast import cast_rays
from hra.domains.textures.resident import ResidentTextures
from hra.domains.textures.surface import Scene
from hra.errors import ImageError

# Two neighbouring texels [n] along one axis, and the weight [n, 1] of the second.
Neighbours = tuple[np.ndarray, np.ndarray, np.ndarray]


def render(scene: Scene, resident: ResidentTextures, camera: Camera) -> np.ndarray:
    """The view of ``camera`` with only the resident pages, one sample per pixel.

    Every pixel takes the wanted level rounded down, or the finest resident one if that is coarser, and interpolates
    bilinearly within the page: no texel of another page is needed.

    Returns
    -------
    float32 [height, width, C] in 0 .. 1 for uint8 textures, else in the textures' range; 0 where no plane is seen.

    Raises
    ------
    ImageError : textures with different numbers of channels.
    """
    hits, channels = cast_rays(scene, camera), _channels(scene)
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


def _channels(scene: Scene) -> int:
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
        along_y = _neighbours(y[chosen], rows, texture.mips[m].shape[0], cell, m)
        along_x = _neighbours(x[chosen], columns, texture.mips[m].shape[1], cell, m)
        values[chosen] = _bilinear(texture.mips[m], along_y, along_x)
    return values / 255 if texture.mips[0].dtype == np.uint8 else values


def _neighbours(position: np.ndarray, size: int, level_size: int, cell: int, level: int) -> Neighbours:
    """The texels of a level around positions [n] of level 0 along one axis, within one page."""
    page = position.astype(np.int64) // cell >> level
    centred = position * (level_size / size) - 0.5
    before = np.floor(centred).astype(np.int64)
    first, last = texels_of_page(page, cell, level_size)
    weight = (centred - before).astype(np.float32)[:, None]
    return np.clip(before, first, last), np.clip(before + 1, first, last), weight


def _bilinear(mip: np.ndarray, along_y: Neighbours, along_x: Neighbours) -> np.ndarray:
    """Interpolated texels [n, C]."""
    (top, bottom, down), (left, right, across) = along_y, along_x
    upper = mip[top, left] * (1 - across) + mip[top, right] * across
    lower = mip[bottom, left] * (1 - across) + mip[bottom, right] * across
    return upper * (1 - down) + lower * down
