"""A colour for each cluster, by which cluster it is, its level or its error."""

from __future__ import annotations

from typing import Literal

import numpy as np

from hra.domains.meshes.viewer.drawing import distinct_colors
from hra.errors import MissingExtra
from hra.model.hierarchy import Hierarchy

ClusterColoring = Literal["cluster", "level", "error"]


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
    try:
        from matplotlib import colormaps
    except ImportError as error:
        raise MissingExtra.of("matplotlib", "viz") from error
    return np.round(255 * colormaps[name](values)[:, :3]).astype(np.uint8)
