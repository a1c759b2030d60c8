"""Textured models: a mesh with texture coordinates, its images in tiles, and which tiles a view of it wants."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hra import samples
from hra.caching import cached_property
from hra.camera import Camera
from hra.domains import meshes, textures
from hra.domains.meshes.mesh.attributes import VertexAttributes
from hra.errors import MeshError
from hra.files.images import load_image
from hra_lab.inputs.mesh_sources import bumpy

TILE = 64
# A triangle is looked at in the middle of so many parts along each side.
_PARTS = 3


@dataclass(frozen=True, eq=False)
class TexturedModel:
    """A mesh whose triangles show places of a texture.

    Attributes
    ----------
    mesh : with texture coordinates.
    images : one for each material that has one, uint8 [H, W, C].
    image_of : int [F], that of each triangle, -1 for none.
    """

    mesh: meshes.TriangleMesh
    images: tuple[np.ndarray, ...]
    image_of: np.ndarray

    @cached_property
    def textures(self) -> textures.TextureSet:
        """All images in tiles of 64 x 64 texels, 16 KiB each: two to a slot of a mesh's pages."""
        return textures.TextureSet([textures.TiledTexture.from_image(image, tile=TILE) for image in self.images])

    def feedback(self, camera: Camera) -> textures.Feedback:
        """The tiles that the triangles in view want: their front sides, as if nothing lay before them.

        Every triangle is nine samples, of its area on the screen and its texels per pixel.
        """
        shown, places = self._places(camera)
        area, texels = self._areas(camera, shown)
        inside = (places[..., 0] >= 0) & (places[..., 0] < camera.viewport[0])
        inside &= (places[..., 1] >= 0) & (places[..., 1] < camera.viewport[1])
        footprint = np.sqrt(np.maximum(texels / np.maximum(area, 1e-12), 1.0))
        rows, parts = np.nonzero(inside & (area > 0)[:, None])
        return textures.Feedback(
            self._pages[shown[rows], parts],
            footprint[rows].astype(np.float32),
            (area[rows] / _WEIGHTS.shape[0]).astype(np.float32),
            float(camera.viewport[0] * camera.viewport[1]),
        )

    def _places(self, camera: Camera) -> tuple[np.ndarray, np.ndarray]:
        """The textured triangles whose front is seen, and where on the screen their samples are, [n, 9, 2] pixels."""
        candidates = np.flatnonzero(self.image_of >= 0)
        corners = _pixels(camera, self._corners[candidates])
        front = np.isfinite(corners).all(axis=(1, 2)) & (_signed_area(corners) < 0)
        return candidates[front], np.einsum("sk,nkx->nsx", _WEIGHTS, corners[front])

    def _areas(self, camera: Camera, shown: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return -_signed_area(_pixels(camera, self._corners[shown])), self._texels[shown]

    @cached_property
    def _corners(self) -> np.ndarray:
        return self.mesh.positions[self.mesh.triangles].astype(np.float64)

    @cached_property
    def _sizes(self) -> np.ndarray:
        """Width and height of each triangle's image, [F, 2]."""
        sizes = np.array([image.shape[1::-1] for image in self.images])
        return sizes[np.maximum(self.image_of, 0)]

    @cached_property
    def _uv(self) -> np.ndarray:
        attributes = self.mesh.attributes
        if attributes is None or attributes.uv is None:
            raise MeshError("the model has no texture coordinates", where="TexturedModel")
        return attributes.uv[self.mesh.triangles].astype(np.float64)

    @cached_property
    def _texels(self) -> np.ndarray:
        """Texels of level 0 that each triangle covers, [F]."""
        return np.abs(_signed_area(self._uv * self._sizes[:, None]))

    @cached_property
    def _pages(self) -> np.ndarray:
        """The finest page at each sample of each triangle, int32 [F, 9]; textures repeat."""
        uv = np.einsum("sk,fkx->fsx", _WEIGHTS, self._uv) % 1.0
        cell = (uv * self._sizes[:, None]).astype(np.int64) // TILE
        pages = np.zeros(uv.shape[:2], np.int32)
        for number, finest in enumerate(self.textures.finest_pages):
            own = self.image_of == number
            x, y = (np.minimum(cell[own][..., axis], finest.shape[1 - axis] - 1) for axis in (0, 1))
            pages[own] = finest[y, x]
        return pages


def _middles() -> np.ndarray:
    """Barycentric coordinates of the middles of the equal parts of a triangle, [9, 3]."""
    found = []
    for i in range(_PARTS):
        for j in range(_PARTS - i):
            found.append((i + 1 / 3, j + 1 / 3))
            if j < _PARTS - i - 1:
                found.append((i + 2 / 3, j + 2 / 3))
    first = np.array(found) / _PARTS
    return np.column_stack([first, 1 - first.sum(axis=1)])


_WEIGHTS = _middles()


def _pixels(camera: Camera, points: np.ndarray) -> np.ndarray:
    """Places on the screen of points [..., 3], NaN behind the camera."""
    clip = np.concatenate([points, np.ones((*points.shape[:-1], 1))], axis=-1) @ (camera.projection @ camera.view).T
    w = np.where(clip[..., 3:] > 0, clip[..., 3:], np.nan)
    unit = clip[..., :2] / w * (0.5, -0.5) + 0.5
    return unit * np.array(camera.viewport)


def _signed_area(corners: np.ndarray) -> np.ndarray:
    """Of triangles [n, 3, 2]."""
    (x1, y1), (x2, y2) = ((corners[:, k] - corners[:, 0]).T for k in (1, 2))
    return 0.5 * (x1 * y2 - x2 * y1)


def globe(subdivisions: int = 6) -> TexturedModel:
    """A bumpy sphere that shows the sample map of the Earth."""
    sphere = bumpy(subdivisions)
    way = sphere.positions / np.linalg.norm(sphere.positions, axis=1, keepdims=True)
    uv = np.column_stack([np.arctan2(way[:, 1], way[:, 0]) / (2 * np.pi) + 0.5, np.arccos(way[:, 2]) / np.pi])
    positions, triangles, uv = _with_seam(sphere.positions, sphere.triangles, uv.astype(np.float32))
    mesh = meshes.TriangleMesh(positions, triangles, VertexAttributes(uv=uv))
    image = load_image(samples.path("earth.jpg"))
    return TexturedModel(mesh, (image,), np.zeros(len(triangles), np.int64))


def _with_seam(
    positions: np.ndarray, triangles: np.ndarray, uv: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vertices left of the date line are doubled where triangles cross it, one map further to the right."""
    across = np.ptp(uv[triangles][..., 0], axis=1) > 0.5
    doubled = np.unique(triangles[across][uv[triangles[across]][..., 0] < 0.5])
    number = np.arange(len(positions))
    number[doubled] = len(positions) + np.arange(len(doubled))
    left = uv[triangles][..., 0] < 0.5
    corners = np.where(across[:, None] & left, number[triangles], triangles).astype(np.uint32)
    moved = uv[doubled] + np.array([1, 0], np.float32)
    return np.concatenate([positions, positions[doubled]]), corners, np.concatenate([uv, moved])


def textured_file(path: Path) -> TexturedModel:
    """A GLB file with texture coordinates and base-colour images.

    Raises
    ------
    FileError : it cannot be read; MeshError : it has no texture.
    """
    mesh = meshes.load(path)
    attributes = mesh.attributes
    if attributes is None or attributes.uv is None or attributes.material is None:
        raise MeshError("the model has no texture", where=str(path))
    shown = [number for number, material in enumerate(attributes.materials) if material.image]
    if not shown:
        raise MeshError("no material has an image", where=str(path))
    place = np.full(len(attributes.materials), -1)
    place[shown] = np.arange(len(shown))
    images = tuple(_decoded(attributes.materials[number].image or b"") for number in shown)
    return TexturedModel(mesh, images, place[attributes.material[mesh.triangles[:, 0]]])


def _decoded(content: bytes) -> np.ndarray:
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(content)).convert("RGB"))
