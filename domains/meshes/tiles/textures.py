"""Textures of tiles: of each image the part that a tile shows, with as many of its pixels as the tile has triangles."""

from __future__ import annotations

import io
import math
from dataclasses import replace

import numpy as np

from hra.domains.meshes.mesh.materials import Material
from hra.domains.meshes.mesh.texture import Texture, image_type
from hra.domains.meshes.mesh.triangle_mesh import TriangleMesh
from hra.files.images.opening import decoded_upright

# Pixels beside what is shown: filters reach that far.
_MARGIN = 2
_MAX_PIXELS = 2**28
_JPEG_QUALITY = 90
# What shows this share of an image keeps all of it.
_NEARLY_ALL = 0.9


def with_own_textures(mesh: TriangleMesh, share: float) -> TriangleMesh:
    """The mesh with each image cut to the part that it shows, at ``share`` of its pixels.

    Images that are shown as a whole at a share of 1 keep their bytes. Where coordinates leave the image, which may
    repeat there, it is not cut. All textures of a material by one set of coordinates are cut alike. JPEG stays JPEG
    and PNG stays PNG.

    Raises
    ------
    ImageError : a texture cannot be decoded; MissingExtra : Pillow is not installed.
    """
    carried = mesh.attributes
    if carried is None or carried.material is None or carried.uv is None:
        return mesh
    sets = [None if uv is None else uv.copy() for uv in (carried.uv, carried.uv2)]
    materials, every = list(carried.materials), max(1, math.floor(math.sqrt(1 / share)))
    for number in np.unique(carried.material[mesh.triangles]).tolist():
        vertices = np.flatnonzero(carried.material == number)
        for coordinates, uv in enumerate(sets):
            if uv is not None:
                materials[number], uv[vertices] = _own(materials[number], coordinates, uv[vertices], every)
    attributes = replace(carried, uv=sets[0], uv2=sets[1], materials=tuple(materials))
    return replace(mesh, attributes=attributes)


def _own(material: Material, coordinates: int, uv: np.ndarray, every: int) -> tuple[Material, np.ndarray]:
    """The material with its part of the textures by one set of coordinates, and ``uv`` [V, 2] in this part."""
    textures = {name: one for name, one in material.textures.items() if one.coordinates == coordinates}
    if not textures:
        return material, uv
    low, high = _part(uv, textures, every)
    if every == 1 and not low.any() and (high == 1).all():
        return material, uv
    cut = {name: replace(one, image=_cut(one, low, high, every, material.name)) for name, one in textures.items()}
    base = cut.pop("base_color_texture", None)
    images = {} if base is None else {"image": base.image}
    return replace(material, **images, **cut), ((uv - low) / (high - low)).astype(np.float32)


def _part(uv: np.ndarray, textures: dict[str, Texture], every: int) -> tuple[np.ndarray, np.ndarray]:
    """Least and largest coordinates [2] of what is shown, with a margin that suits the smallest texture."""
    least = min(min(_size(one)) for one in textures.values())
    margin = _MARGIN * every / least
    low, high = np.maximum(uv.min(axis=0) - margin, 0.0), np.minimum(uv.max(axis=0) + margin, 1.0)
    if (uv < 0).any() or (uv > 1).any() or float(np.prod(high - low)) >= _NEARLY_ALL:
        return np.zeros(2), np.ones(2)
    return low, high


def _size(texture: Texture) -> tuple[int, int]:
    with decoded_upright(io.BytesIO(texture.image), "texture", _MAX_PIXELS) as image:
        return image.size


def _cut(texture: Texture, low: np.ndarray, high: np.ndarray, every: int, name: str) -> bytes:
    """The part of a texture from ``low`` to ``high`` [2], with one pixel for ``every`` in both directions."""
    from PIL import Image

    with decoded_upright(io.BytesIO(texture.image), f"texture of {name!r}", _MAX_PIXELS) as image:
        left, upper = (low * image.size).tolist()
        right, lower = (high * image.size).tolist()
        width, height = (max(1, round(reach / every)) for reach in (right - left, lower - upper))
        full = image.convert("RGBA") if image.mode == "P" else image
        part = full.resize((width, height), Image.Resampling.BOX, box=(left, upper, right, lower))
        return _encoded(part, image_type(texture.image))


def _encoded(image, kind: str) -> bytes:
    buffer = io.BytesIO()
    if kind == "image/jpeg":
        image.convert("RGB").save(buffer, "JPEG", quality=_JPEG_QUALITY)
    else:
        image.save(buffer, "PNG")
    return buffer.getvalue()
