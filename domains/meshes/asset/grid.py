"""One grid for all positions of a mesh: copies of a vertex stay one point, so that no cut cracks."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from hra.errors import MeshError, RepairWarning
from hra.model.arrays import frozen
from hra.model.hierarchy import Hierarchy

if TYPE_CHECKING:
    from hra.domains.meshes.mesh.cluster_mesh import ClusterMesh

GRID_BITS = 16
"""The finest grid: positions are stored as numbers of 16 bits."""

# The smallest float32, and how many bits its mantissa has.
_LEAST, _MANTISSA = 2.0**-149, 24


@dataclass(frozen=True)
class Grid:
    """Points origin + step * (i, j, k), i, j, k in 0 .. 65535, all of which are exact in float32.

    Attributes
    ----------
    origin : object units, whole multiples of the step; step : object units, a power of two.
    """

    origin: tuple[float, float, float]
    step: float

    @classmethod
    def around(cls, positions: np.ndarray, bits: int) -> Grid:
        """The finest grid of at most 2**bits points along an axis around ``positions`` [V, 3].

        Raises
        ------
        MeshError : bits that are not 8 to 16.
        """
        if not 8 <= bits <= GRID_BITS:
            raise MeshError(f"a grid of {bits} bits", where="grid_bits", fix=f"use 8 to {GRID_BITS}")
        low, high = positions.min(axis=0).astype(np.float64), positions.max(axis=0).astype(np.float64)
        reach, largest = float((high - low).max()), float(np.abs([low, high]).max())
        # Rounding the origin down takes a step, and rounding the farthest point up another half.
        step = max(_power_above(reach / (2**bits - 2)), _power_above(largest) * 2.0**-_MANTISSA, _LEAST)
        return cls(tuple((np.floor(low / step) * step).tolist()), step)

    def snap(self, positions: np.ndarray) -> np.ndarray:
        """The nearest points of the grid, uint16 [V, 3]."""
        places = np.rint((positions.astype(np.float64) - self.origin) / self.step)
        return np.clip(places, 0, 2**GRID_BITS - 1).astype(np.uint16)

    def positions(self, places: np.ndarray) -> np.ndarray:
        """The points, float32 [V, 3]."""
        return (places * np.float64(self.step) + self.origin).astype(np.float32)


def on_grid(mesh: ClusterMesh, bits: int) -> tuple[ClusterMesh, Grid]:
    """The mesh with all vertices moved to one grid, and bounds that know of it.

    "hausdorff" and "radius" grow by the longest way of a vertex; boxes move with their corners, which are vertices.
    "error" stays: it is an estimate, and the certified error of a cluster is the larger of the two.

    Warns
    -----
    RepairWarning : vertices at different positions fell together, so that details and slits of a step are gone.
    """
    grid = Grid.around(mesh.positions, bits)
    positions = grid.positions(grid.snap(mesh.positions))
    _warn_of_merged(len(np.unique(mesh.positions, axis=0)) - len(np.unique(positions, axis=0)), grid.step)
    moved = float(np.linalg.norm(positions.astype(np.float64) - mesh.positions, axis=1).max()) * (1 + 1e-12)
    node = dict(mesh.hierarchy.node)
    for name in {"radius", "hausdorff"} & set(node):
        node[name] = _rounded_up(node[name].astype(np.float64) + moved)
    node["box"] = grid.positions(grid.snap(node["box"].reshape(-1, 3))).reshape(node["box"].shape)
    links = mesh.hierarchy.added_by, mesh.hierarchy.removed_by
    hierarchy = Hierarchy.groups(mesh.hierarchy.node_cost, *links, attributes=node, cost_unit=mesh.hierarchy.cost_unit)
    return replace(mesh, positions=frozen(positions), hierarchy=hierarchy), grid


def _warn_of_merged(merged: int, step: float) -> None:
    if merged:
        message = (
            f"{merged} vertices fell together on the grid of step {step:.3g}; use more bits, or none, to keep them"
        )
        warnings.warn(message, RepairWarning, stacklevel=6)


def _power_above(value: float) -> float:
    """The least power of two that is not below ``value``; 0 for 0."""
    return math.ldexp(1.0, math.ceil(math.log2(value))) if value > 0 else 0.0


def _rounded_up(values: np.ndarray) -> np.ndarray:
    """float32, never below ``values``."""
    near = values.astype(np.float32)
    return np.where(near < values, np.nextafter(near, np.float32(np.inf)), near)
