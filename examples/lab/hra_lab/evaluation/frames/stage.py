"""Pictures of several surfaces of one object, all drawn by the same renderer and shaded alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hra.camera import Camera
from hra.domains import meshes
from hra.kernels.raster import EMPTY

_NONE = np.empty(0, np.int64)


class Surface(NamedTuple):
    """Clusters of one of the stage's meshes.

    Attributes
    ----------
    mesh : which one; clusters : int64 [K].
    """

    mesh: int
    clusters: np.ndarray

    def same(self, other: Surface) -> bool:
        """Whether both are the same clusters."""
        return self.mesh == other.mesh and np.array_equal(self.clusters, other.clusters)


class Shot(NamedTuple):
    """A picture.

    Attributes
    ----------
    colors : float32 [H, W, 3], sRGB in 0 .. 1; covered : bool [H, W], where there is a surface.
    """

    colors: np.ndarray
    covered: np.ndarray


class Stage:
    """Draws surfaces one at a time, shaded by a light at the eye; without normals each triangle is flat."""

    def __init__(self, placed: Sequence[meshes.ClusterMesh], viewport: tuple[int, int]) -> None:
        here = np.eye(4)[None]
        self._count = len(placed)
        self._renderer = meshes.Renderer([(mesh, here) for mesh in placed], viewport)

    @property
    def driver(self) -> str:
        """What draws."""
        return self._renderer.driver

    def shot(self, surface: Surface, camera: Camera) -> Shot:
        """One surface as a camera sees it."""
        cuts = [surface.clusters if mesh == surface.mesh else _NONE for mesh in range(self._count)]
        self._renderer.draw(camera, cuts)
        colors = self._renderer.picture().astype(np.float32) / 255
        return Shot(colors, self._renderer.visible().clusters != EMPTY)

    def close(self) -> None:
        """Free what it holds on the GPU."""
        self._renderer.close()

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def finest(mesh: meshes.ClusterMesh, number: int = 0) -> Surface:
    """Full detail of the stage's mesh ``number``."""
    return Surface(number, np.flatnonzero(mesh.hierarchy.attribute("level") == 0))
