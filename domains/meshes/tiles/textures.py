"""Textures of tiles: of each image the part that a tile shows, with as many of its pixels as the tile has triangles."""

from __future__ import annotations

import io
import math
from dataclasses import replace

import numpy as np

from hra.domains.meshes.materials import Material
from hra.domains.meshes.triangle_mesh import TriangleMesh
from hra.images.opening import decoded_upright

# Pixels beside what is shown: filters reach that far.
_MARGIN = 2
_MAX_PIXELS = 2**28
_JPEG_QUALITY = 90


def with_own_textures(mesh: TriangleMesh, share: float) -> TriangleMesh:
    """The mesh with each image cut to the part that it shows, at ``share`` of its pixels.

    Images that are shown as a whole at a share of 1 keep their bytes. Where coordinates leave the image, which repeats
    there, it is not cut. JPEG stays JPEG and PNG stays PNG.

    Raises
    ------
    ImageError : a texture cannot be decoded; MissingExtra : Pillow is not installed.
    """
    carried = mesh.attributes
    if carried is None or carried.material is None or carried.uv is None:
        return mesh
    uv, materials = carried.uv.copy(), list(carried.materials)
    for number in np.unique(carried.material[mesh.triangles]).tolist():
        vertices = np.flatnonzero(carried.material == number)
        if materials[number].image is not None:
            materials[number], uv[vertices] = _own(materials[number], uv[vertices], share)
    return replace(mesh, attributes=replace(carried, uv=uv, materials=tuple(materials)))


def _own(material: Material, uv: np.ndarray, share: float) -> tuple[Material, np.ndarray]:
    """The material with its part of the image, and the coordinates ``uv`` [V, 2] in this part."""
    from PIL import Image

    content = material.image or b""
    with decoded_upright(io.BytesIO(content), f"texture of {material.name!r}", _MAX_PIXELS) as image:
        every = max(1, math.floor(math.sqrt(1 / share)))
        left, upper, right, lower = _part(uv, image.size, every)
        part = np.array([left, upper]), np.array([right - left, lower - upper])
        if (right - left) * (lower - upper) >= 0.9 * image.width * image.height:
            part, (left, upper, right, lower) = (np.zeros(2), np.array(image.size)), (0, 0, *image.size)
            if every == 1:
                return material, uv
        size = (max(1, (right - left) // every), max(1, (lower - upper) // every))
        cut = image.crop((left, upper, right, lower)).resize(size, Image.Resampling.BOX)
        places = (uv * np.array(image.size) - part[0]) / part[1]
        return replace(material, image=_encoded(cut, material.image_type)), places.astype(np.float32)


def _part(uv: np.ndarray, size: tuple[int, int], every: int) -> tuple[int, int, int, int]:
    """Left, upper, right and lower end of what is shown in pixels, whole multiples of ``every`` apart."""
    if (uv < 0).any() or (uv > 1).any():
        return 0, 0, *size
    first = np.floor(uv.min(axis=0) * size / every).astype(int) - _MARGIN
    last = np.ceil(uv.max(axis=0) * size / every).astype(int) + _MARGIN
    left, upper = np.maximum(first * every, 0).tolist()
    right, lower = np.minimum(last * every, size).tolist()
    return left, upper, right, lower


def _encoded(image, kind: str) -> bytes:
    buffer = io.BytesIO()
    if kind == "image/jpeg":
        image.convert("RGB").save(buffer, "JPEG", quality=_JPEG_QUALITY)
    else:
        image.save(buffer, "PNG")
    return buffer.getvalue()
