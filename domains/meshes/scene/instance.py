"""One placed copy of a mesh, as it is to be drawn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hra.domains.meshes.selection.allocator import Clusters


class Instance(NamedTuple):
    """One copy to draw: a mesh, where it stands, and which of its clusters.

    A tuple, since scenes make thousands in a frame.

    Attributes
    ----------
    number : its place in the order of the scene's placements.
    mesh : shared between copies.
    placement : float64 [4, 4], object to world.
    cut : int64 [K], numbers of clusters.

    Examples
    --------
    >>> import numpy as np, hra
    >>> from hra.domains import meshes
    >>> skull = meshes.build(hra.samples.path("skull.ply"))
    >>> scene = meshes.Scene([(skull, np.eye(4)[None])])
    >>> camera = hra.Camera.orbit(skull.bounds, azimuth=30, up=(0, 0, 1))
    >>> (instance,) = scene.realize(scene.allocate(camera, budget=2_000))
    >>> len(instance.mesh.mesh(instance.cut).triangles) <= 2_000
    True
    """

    number: int
    mesh: Clusters
    placement: np.ndarray
    cut: np.ndarray
