"""The colours of a frame: by material, by cluster, level or error, or how often each pixel was drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np

from hra.domains.meshes.allocator import Clusters
from hra.domains.meshes.files.gltf_materials import WRAPS
from hra.domains.meshes.mesh.materials import Material
from hra.domains.meshes.viewer.drawing import base_color_image, distinct_colors
from hra.errors import check_choice, needs
from hra.kernels.raster.clusters.renderer import ClusterRenderer
from hra.kernels.raster.clusters.shading import Shading, SurfaceColor
from hra.model.hierarchy import Hierarchy

FrameColoring = Literal["shaded", "cluster", "level", "error", "overdraw"]
_BACKGROUND = (0x20 / 255, 0x24 / 255, 0x2B / 255)
_CODES = {name: code for code, name in WRAPS.items()}
ClusterColoring = Literal["cluster", "level", "error"]


class FrameColors:
    """Colours what a renderer's buffer shows, and keeps the picture on the GPU.

    Parameters
    ----------
    drawer : whose buffer.
    meshes : of the drawer's store, in its order; materials : of each of them.

    Raises
    ------
    ImageError : a texture is damaged or too large.
    ArrayError, BackendUnavailable : see `hra.kernels.raster.clusters.shading.Shading`.
    """

    def __init__(
        self, drawer: ClusterRenderer, meshes: Sequence[Clusters], materials: Sequence[Sequence[Material]]
    ) -> None:
        self._drawer, self._meshes = drawer, meshes
        self._shading = Shading(drawer, [[_surface(material) for material in mesh] for mesh in materials])
        self._palette: FrameColoring | None = None

    def paint(self, coloring: FrameColoring, eye: np.ndarray) -> Shading:
        """Colour the last frame for an ``eye`` [3]; what is returned holds the picture.

        Raises
        ------
        HraError : another colouring.
        MissingExtra : levels and errors need Matplotlib's colours.
        """
        check_coloring(coloring)
        if coloring == "overdraw":
            self._shading.overdraw()
        elif coloring == "shaded":
            self._shading.by_material(eye, _BACKGROUND)
        else:
            self._set_palette(coloring)
            self._shading.by_cluster(eye, _BACKGROUND)
        return self._shading

    def release(self) -> None:
        """Free what it holds on the GPU."""
        self._shading.release()

    def _set_palette(self, coloring: ClusterColoring) -> None:
        if self._palette == coloring:
            return
        geometries = self._drawer.cuts.store.meshes
        colors = [
            cluster_colors(mesh.hierarchy, coloring)[geometry.numbers]
            for mesh, geometry in zip(self._meshes, geometries, strict=True)
        ]
        self._shading.color_clusters(np.concatenate(colors))
        self._palette = coloring


def check_coloring(coloring: Any) -> None:
    """HraError unless frames have such colours."""
    check_choice("coloring", coloring, get_args(FrameColoring))


def _surface(material: Material) -> SurfaceColor:
    texture = base_color_image(material)
    wrap = _CODES[material.sampler.wrap_s], _CODES[material.sampler.wrap_t]
    return SurfaceColor(material.base_color, texture, wrap)


def cluster_colors(hierarchy: Hierarchy, coloring: ClusterColoring) -> np.ndarray:
    """Colours of all clusters of a mesh, uint8 [N, 3]: of their numbers, levels, or errors on a logarithmic scale."""
    if coloring == "cluster":
        return distinct_colors(np.arange(hierarchy.node_cost.size))
    if coloring == "level":
        level = hierarchy.attribute("level").astype(np.float64)
        return _map("viridis", level / max(level.max(), 1))
    error = hierarchy.attribute("error").astype(np.float64)
    largest = float(error.max()) or 1.0
    least = min(float(error.min(where=error > 0, initial=largest)), largest / 10)
    return _map("plasma", np.log(np.maximum(error, least) / least) / np.log(largest / least))


def _map(name: str, values: np.ndarray) -> np.ndarray:
    with needs("matplotlib", "viz"):
        from matplotlib import colormaps
    return np.round(255 * colormaps[name](values)[:, :3]).astype(np.uint8)
