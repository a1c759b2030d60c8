"""Arrays over the vertices: from a mesh to the streams of its pages, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from hra.domains.meshes.mesh.attributes import LAYOUT, VertexAttributes
from hra.domains.meshes.mesh.materials import Material

if TYPE_CHECKING:
    from hra.domains.meshes.mesh.cluster_mesh import ClusterMesh

POSITION = "position"
FORMS = {POSITION: (np.dtype(np.float32), (3,))}
FORMS |= {name: (dtype, (columns,) if columns else ()) for name, (dtype, columns) in LAYOUT.items()}


def slot_vertex_bytes(attribute_bytes: int) -> int:
    """What a vertex of a compressed page takes where it is drawn: three numbers of 16 bits, and its attributes."""
    return 6 + attribute_bytes


def vertex_streams(mesh: ClusterMesh) -> dict[str, np.ndarray]:
    """The arrays [V, ...] by name, in the order in which pages hold them."""
    carried = mesh.attributes
    names = carried.names if carried else ()
    return {POSITION: mesh.positions} | {name: getattr(carried, name) for name in names}


def vertex_attributes(streams: Mapping[str, np.ndarray], materials: tuple[Material, ...]) -> VertexAttributes | None:
    """What vertices carry beside positions.

    Raises
    ------
    MeshError : the arrays are not valid attributes.
    """
    carried = {name: array for name, array in streams.items() if name != POSITION}
    return VertexAttributes(**carried, materials=materials) if carried else None
