"""The vertices that all levels of a hierarchy share."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hra.domains.meshes.building.attribute_metric import AttributeMetric
from hra.domains.meshes.mesh import meshopt
from hra.domains.meshes.mesh.attributes import VertexAttributes
from hra.domains.meshes.mesh.weld import first_at_position


@dataclass(frozen=True, eq=False)
class Geometry:
    """The shared vertices of all levels.

    Attributes
    ----------
    positions : float32 [V, 3], object units.
    unit_positions : float32 [V, 3], the same within about a unit, where the simplifier's float32 products keep their
        digits: without rounding, so that what differs in position still does.
    scale : object units per unit, a power of two.
    position_of : uint32 [V], the first vertex at the position of each; None if all positions differ.
    metric : of the attributes, None if there are none.
    material : int32 [V], the number of each vertex's material; None if there are not several.
    """

    positions: np.ndarray
    unit_positions: np.ndarray
    scale: float
    position_of: np.ndarray | None = None
    metric: AttributeMetric | None = None
    material: np.ndarray | None = None

    @classmethod
    def of(cls, positions: np.ndarray, attributes: VertexAttributes | None = None) -> Geometry:
        """From welded positions float32 [V, 3] of any magnitude and the attributes of the same vertices."""
        position_of = None if attributes is None else first_at_position(positions)
        unit_positions, scale = exactly_scaled(positions)
        metric = None if attributes is None else AttributeMetric.of(positions, attributes)
        material = attributes.material if attributes is not None and len(attributes.materials) > 1 else None
        return cls(positions, unit_positions, scale, position_of, metric, material)

    def by_position(self, vertices: np.ndarray) -> np.ndarray:
        """Each of ``vertices`` as the first one at its position: seams do not separate what touches there."""
        return vertices if self.position_of is None else self.position_of[vertices]

    def for_all_wedges(self, values: np.ndarray) -> np.ndarray:
        """``values`` [V] of the first vertex at each position, for all vertices there."""
        return values if self.position_of is None else values[self.position_of]

    def simplify(
        self, indices: np.ndarray, locked: np.ndarray, target: int, *, prune: bool = False
    ) -> tuple[np.ndarray, float]:
        """`meshopt.simplify` of a part of the mesh, with attributes in the metric if there are any."""
        simplify = meshopt.simplify if self.metric is None else self.metric.simplify
        return simplify(indices, self.unit_positions, locked, target, prune=prune)


def exactly_scaled(positions: np.ndarray) -> tuple[np.ndarray, float]:
    """Positions [V, 3] of any magnitude in -2 .. 2, float32, and the power of two that they were divided by.

    Rounding would put different vertices at one place, where the simplifier takes them for wedges of one and moves them
    together. Powers of two are exact, and so is the difference of numbers within a factor of two of each other
    (Sterbenz 1974): an axis that lies far from the origin is moved there, and one that does not has no need of it.
    Only what is below 2**-149 of the extent is lost, where float32 ends.
    """
    # Axis by axis: along the first dimension NumPy takes thirty times as long.
    low, high = (np.array([end(axis) for axis in positions.T], np.float64) for end in (np.min, np.max))
    scale = 2.0 ** math.frexp(float((high - low).max()) or 1.0)[1]
    shift = np.where((low > 0) & (high <= 2 * low), low, np.where((high < 0) & (low >= 2 * high), high, 0.0))
    return np.ascontiguousarray((positions - shift) / scale, np.float32), scale
