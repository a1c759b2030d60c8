"""The content of a tile: compressed GLB, with its part of the textures.

Positions lie on a grid, and every stream is packed. Tiles have as many pixels of an image
as they have triangles: of the part that they show, where all parts together are no larger than the image, or else of
the whole image, in a file that tiles share.
"""

from __future__ import annotations

import io
import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from hra.domains.meshes.files.gltf_packing import repacked
from hra.domains.meshes.files.resolver import ktx2_size
from hra.domains.meshes.files.write_glb import glb_bytes
from hra.domains.meshes.mesh.materials import Material, Texture, image_suffix, image_type, is_ktx2
from hra.domains.meshes.mesh.point_grid import GRID_BITS, PointGrid
from hra.domains.meshes.mesh.triangle_mesh import TriangleMesh
from hra.errors import check_kind
from hra.files.images.opening import decoded_upright, is_lossy_webp

# Pixels beside what is shown: filters reach that far.
_MARGIN = 2
_MAX_PIXELS = 2**28
# What shows this share of an image keeps all of it; parts that are together larger than this are not cut.
_NEARLY_ALL, _MOST = 0.9, 1.06
_QUALITIES = (95, 90, 85, 80, 75, 65, 55, 45, 30)
# Pixels of a block, and along a side of the blocks that stand for an image.
_BLOCK, _SAMPLED = 256, 1024


def compressed_glb(
    mesh: TriangleMesh, grid: PointGrid | None = None, beside: Mapping[bytes, str] | None = None
) -> bytes:
    """The mesh as a compressed GLB file; equal meshes give equal bytes.

    Parameters
    ----------
    mesh : with a normal for every vertex or none at all.
    grid : of all positions, which are points of it; None for the finest of 16 bits around the mesh, where vertices move
        to its nearest points.
    beside : images that are files of their own, with their names; all others are in the file.

    Raises
    ------
    MissingExtra : meshoptimizer is not installed. MeshError : the grid does not hold all positions.
    HraError : something else in the place of an argument.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> skull = meshes.load(hra.samples.path("skull.ply"))
    >>> len(meshes.compressed_glb(skull)) < 8 * len(skull.triangles)
    True
    """
    check_kind("mesh", mesh, TriangleMesh, "pass one such as meshes.load(path)")
    check_kind("grid", grid, (PointGrid, type(None)), "pass the grid of a TileTree, or None")
    check_kind("beside", beside, (Mapping, type(None)), "pass a dict from images to names, or None")
    grid = grid or PointGrid.around(mesh.positions, GRID_BITS)
    return repacked(glb_bytes(_with_used_materials(mesh), grid, beside or {}), "rounded")


def _with_used_materials(mesh: TriangleMesh) -> TriangleMesh:
    carried = mesh.attributes
    if carried is None or carried.material is None:
        return mesh
    used, material = np.unique(carried.material[mesh.triangles]), carried.material
    materials = tuple(carried.materials[k] for k in used.tolist())
    number = np.searchsorted(used, material).clip(max=len(used) - 1).astype(np.int32)
    return replace(mesh, attributes=replace(carried, material=number, materials=materials))


class SharedTextures:
    """The textures that tiles share, as files beside them.

    Parameters
    ----------
    tiles : all tiles as meshes of the same materials, each with its share of the pixels.

    Attributes
    ----------
    files : names by content.
    """

    def __init__(self, tiles: Iterable[tuple[TriangleMesh, float]]) -> None:
        self.files: dict[bytes, str] = {}
        self._made: dict[tuple[bytes, int], bytes] = {}
        shown: dict[tuple[int, int, int], list[float]] = {}
        for mesh, share in tiles:
            every = _every(share)
            for number, coordinates, _, uv in _coordinates(mesh):
                low, high = _part(uv, _laid_out(_materials(mesh)[number], coordinates), every)
                shown.setdefault((number, coordinates, every), []).append(float(np.prod(high - low)))
        self._keys = {key for key, areas in shown.items() if len(areas) > 1 and sum(areas) > _MOST}

    def holds(self, number: int, coordinates: int, every: int) -> bool:
        """Whether tiles share the textures of a material by one set of coordinates."""
        return (number, coordinates, every) in self._keys

    def whole(self, texture: Texture, every: int, name: str) -> Texture:
        """The texture with one pixel for ``every`` in both directions, as a file that is shared."""
        key = texture.image, every
        if key not in self._made:
            same = every == 1 or is_ktx2(texture.image)
            whole = texture.image if same else _cut(texture, np.zeros(2), np.ones(2), every, name)
            self._made[key] = whole
            self.files.setdefault(whole, f"image{len(self.files):04}.{image_suffix(whole)}")
        return replace(texture, image=self._made[key])


def with_own_textures(mesh: TriangleMesh, share: float, shared: SharedTextures | None = None) -> TriangleMesh:
    """The mesh with each image cut to the part that it shows, or shared, at ``share`` of its pixels.

    Images that are shown as a whole at a share of 1 keep their bytes. Where coordinates leave the image, which may
    repeat there, it is not cut, and neither is KTX2, which is shared. All textures of a material by one set of
    coordinates are cut alike. Formats stay, and so does the quality of JPEG, WebP and AVIF.

    Raises
    ------
    ImageError : a texture cannot be decoded; MissingExtra : Pillow is not installed.
    """
    carried, every = mesh.attributes, _every(share)
    if carried is None or carried.uv is None:
        return mesh
    sets = [carried.uv.copy(), None if carried.uv2 is None else carried.uv2.copy()]
    materials = list(carried.materials)
    for number, coordinates, vertices, uv in _coordinates(mesh):
        textures, name = _laid_out(materials[number], coordinates), materials[number].name
        kept = any(is_ktx2(one.image) for one in textures.values())
        if shared is not None and (kept or shared.holds(number, coordinates, every)):
            cut = {key: shared.whole(one, every, name) for key, one in textures.items()}
        else:
            low, high = _part(uv, textures, every)
            if kept or (every == 1 and not low.any() and (high == 1).all()):
                continue
            cut = {key: replace(one, image=_cut(one, low, high, every, name)) for key, one in textures.items()}
            sets[coordinates][vertices] = ((uv - low) / (high - low)).astype(np.float32)  # pyright: ignore[reportOptionalSubscript]
        materials[number] = materials[number].with_textures(cut)
    attributes = replace(carried, uv=sets[0], uv2=sets[1], materials=tuple(materials))
    return replace(mesh, attributes=attributes)


def _every(share: float) -> int:
    """How many pixels in both directions become one: a power of two, so that many tiles share an image."""
    return 2 ** math.floor(math.log2(max(1.0, math.sqrt(1 / share)) * (1 + 1e-9)))


def _materials(mesh: TriangleMesh) -> tuple[Material, ...]:
    return () if mesh.attributes is None else mesh.attributes.materials


def _coordinates(mesh: TriangleMesh) -> Iterator[tuple[int, int, np.ndarray, np.ndarray]]:
    """The vertices of each material and set of coordinates with textures, and their coordinates [V, 2]."""
    carried = mesh.attributes
    if carried is None or carried.material is None or carried.uv is None:
        return
    for number in np.unique(carried.material[mesh.triangles]).tolist():
        vertices = np.flatnonzero(carried.material == number)
        for coordinates, uv in enumerate((carried.uv, carried.uv2)):
            if uv is not None and _laid_out(carried.materials[number], coordinates):
                yield number, coordinates, vertices, uv[vertices]


def _laid_out(material: Material, coordinates: int) -> dict[str, Texture]:
    """The textures of a material by one set of coordinates."""
    return {name: one for name, one in material.textures.items() if one.coordinates == coordinates}


def _part(uv: np.ndarray, textures: dict[str, Texture], every: int) -> tuple[np.ndarray, np.ndarray]:
    """Least and largest coordinates [2] of what is shown, with a margin that suits the smallest texture."""
    least = max(1, min(min(_size(one.image)) for one in textures.values()))  # 0 in KTX2 is an axis that is not there
    margin = _MARGIN * every / least
    low, high = np.maximum(uv.min(axis=0) - margin, 0.0), np.minimum(uv.max(axis=0) + margin, 1.0)
    if (uv < 0).any() or (uv > 1).any() or float(np.prod(high - low)) >= _NEARLY_ALL:
        return np.zeros(2), np.ones(2)
    return low, high


@lru_cache(maxsize=64)
def _size(content: bytes) -> tuple[int, int]:
    if is_ktx2(content):
        return ktx2_size(content)
    with decoded_upright(io.BytesIO(content), "texture", _MAX_PIXELS) as image:
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
        buffer = io.BytesIO()
        kind = image_type(texture.image)
        if kind == "image/jpeg":
            part = part if part.mode in ("L", "RGB") else part.convert("RGB")
            part.save(buffer, "JPEG", **_tables(texture.image))
        elif kind == "image/png":
            part.save(buffer, "PNG")
        else:
            part.save(buffer, kind.removeprefix("image/"), **_quality(texture.image))
        return buffer.getvalue()


@lru_cache(maxsize=64)
def _quality(content: bytes) -> dict[str, Any]:
    """How to save parts of a WebP or AVIF file, which do not say their quality: the finest that makes it no larger.

    Some of its blocks are saved for all: a whole image of 2,048 x 2,048 pixels takes seconds.
    """
    from PIL import Image

    kind, stream = image_type(content).removeprefix("image/"), io.BytesIO(content)
    with Image.open(stream) as image:
        if kind == "webp" and not is_lossy_webp(image, stream):
            return {"lossless": True}
    with decoded_upright(io.BytesIO(content), "texture", _MAX_PIXELS) as image:
        pixels = np.asarray(image)
    every = max(1, min(pixels.shape[:2]) // _SAMPLED)
    rows, columns = (np.arange(side // _BLOCK * _BLOCK) for side in pixels.shape[:2])
    if every > 1:
        rows, columns = (one[one // _BLOCK % every == 0] for one in (rows, columns))
        pixels = pixels[rows[:, None], columns]
    most = len(content) * rows.size * columns.size / max(image.width * image.height, 1) if every > 1 else len(content)
    faster = {"speed": 9} if kind == "avif" else {}

    def is_small(quality: int) -> bool:
        again = io.BytesIO()
        Image.fromarray(pixels).save(again, kind, quality=quality, **faster)
        return again.tell() <= most

    first = bisect_left(_QUALITIES, True, key=is_small)
    return {"quality": _QUALITIES[min(first, len(_QUALITIES) - 1)], **faster}


def _tables(content: bytes) -> dict[str, Any]:
    """What a JPEG file was saved with: a finer quality would add bytes, and nothing to see."""
    from PIL import Image, JpegImagePlugin

    with Image.open(io.BytesIO(content)) as image:
        tables, sampling = getattr(image, "quantization", None), JpegImagePlugin.get_sampling(image)
    found: dict[str, Any] = {"qtables": list(tables.values())} if tables else {}
    return found | ({"subsampling": sampling} if sampling >= 0 else {}) | {"optimize": True}
