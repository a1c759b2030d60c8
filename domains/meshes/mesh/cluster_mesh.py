"""A mesh at every level of detail: clusters over shared vertices, and the hierarchy of their groups."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from hra.caching import cached_property
from hra.domains.meshes.mesh.attributes import VertexAttributes
from hra.domains.meshes.mesh.cluster_table import ClusterTable
from hra.domains.meshes.mesh.methods import METHODS
from hra.domains.meshes.mesh.ragged import take_runs
from hra.domains.meshes.mesh.report import BuildReport
from hra.domains.meshes.mesh.triangle_mesh import TriangleMesh, referenced_only
from hra.domains.meshes.mesh.weld import first_at_position
from hra.errors import MeshError, check_choice, check_kind
from hra.model.arrays import ReadOnlyArrays, frozen, indices, read_only
from hra.model.hierarchy import Hierarchy

CostUnit = Literal["triangles", "bytes"]
_POSITION_BYTES = 12
_TRIANGLE_BYTES = 3


@dataclass(frozen=True, eq=False)
class ClusterMesh(ReadOnlyArrays):
    """Clusters of at most 128 triangles; a node of the hierarchy is a cluster, a refinement is a group.

    Taking refinement g swaps the clusters that group g was simplified to for the members of the group.

    Attributes
    ----------
    positions : float32 [V, 3], the source's distinct vertices, object units; all levels share them. With attributes,
        several vertices may share a position (both sides of a seam).
    indices : uint32 [3 T], vertex numbers of all clusters, one after the other.
    offsets : int64 [N + 1], where each cluster's indices begin.
    hierarchy : nodes are the clusters, coarse to fine, with these attributes:

        - "center" float32 [N, 3], "radius" float32 [N]: sphere around the cluster and around the spheres of all that it
          was simplified from;
        - "box" float32 [N, 2, 3]: least and largest corner of the box around the same, nested exactly;
        - "error" float32 [N]: distance to the source in object units by the quadric metric, the same for all clusters
          of one group and never below that of its members, 0 for source triangles;
        - "hausdorff" float32 [N], unless built with ``certified=False``: bound on the distance from any point of the
          source beneath to the group that the cluster belongs to, and from any point of the group to the source, in
          object units, monotone like "error". The largest of a cut's clusters bounds its Hausdorff distance from the
          source: no point of either is farther from the other;
        - "normal_change" float32 [N], if built with ``appearance=True``: root mean square difference between unit
          normals of the source beneath and of the group that the cluster belongs to, by samples, monotone like "error";
        - "facing" float32 [N, 4], with it: of source clusters the mean of the unit normals, and 1 where the surface is
          open, so that its back can be seen; 0 for the others;
        - "area" float64 [N]: surface of the source that the cluster stands for;
        - "level" int32 [N]: 0 for source triangles; a level has about half the triangles of the one before, near the
          root in several steps; "vertex_count" int32 [N].

    attributes : texture coordinates, normals, colours and materials of the V vertices, or None. With them, "error" also
        counts their changes as distances (`hra.domains.meshes.building.geometry`) and may exceed "hausdorff", which is
        of positions alone; without them it does not.
    report : what the build took, or None where it is not known.
    origin : as of `TriangleMesh`.

    Raises
    ------
    MeshError : arrays of other kinds or lengths, or numbers of no vertex. HraError : something else in their place.

    Examples
    --------
    >>> import numpy as np, hra
    >>> from hra.domains import meshes
    >>> skull = meshes.build(hra.samples.path("skull.ply"))
    >>> skull.triangle_count, skull.with_cost("bytes").hierarchy.cost_unit
    (42480, 'bytes')
    >>> coarsest = np.flatnonzero(skull.hierarchy.added_by < 0)
    >>> len(skull.mesh(coarsest).triangles) == skull.root_triangle_count
    True
    """

    positions: np.ndarray
    indices: np.ndarray
    offsets: np.ndarray
    hierarchy: Hierarchy
    attributes: VertexAttributes | None = None
    report: BuildReport | None = None
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        check_kind("hierarchy", self.hierarchy, Hierarchy, "build clusters by meshes.build(mesh)")
        count = len(self.hierarchy.node_cost)
        # Compiled loops go by these numbers, and do not check them.
        for name, dtype, shape in (
            ("positions", np.float32, (-1, 3)),
            ("indices", np.uint32, (-1,)),
            ("offsets", np.int64, (count + 1,)),
        ):
            array = getattr(self, name)
            check_kind(name, array, np.ndarray, "build clusters by meshes.build(mesh)")
            if array.dtype != dtype or len(array.shape) != len(shape) or shape[-1] not in (-1, array.shape[-1]):
                what = f"{name} must be {np.dtype(dtype)} {list(shape)}, got {array.dtype} {list(array.shape)}"
                raise MeshError(what, where=name, fix="build clusters by meshes.build(mesh)")
            object.__setattr__(self, name, read_only(array))
        if self.offsets[0] or self.offsets[-1] != self.indices.size or (np.diff(self.offsets) < 0).any():
            raise MeshError(f"offsets do not rise from 0 to the {self.indices.size} indices", where="offsets")
        if self.indices.size and self.indices.max() >= len(self.positions):
            what = f"indices go up to {self.indices.max()}, but there are {len(self.positions)} positions"
            raise MeshError(what, where="indices")

    @classmethod
    def from_table(
        cls,
        positions: np.ndarray,
        clusters: ClusterTable,
        member_of: np.ndarray,
        attributes: VertexAttributes | None = None,
    ) -> ClusterMesh:
        """From clusters whose groups are numbered; ``member_of`` [N] is the group that simplifies each, -1 for none."""
        # An estimate of distances alone is not above a bound on them. Bounds that are not known are inf.
        error = np.minimum(clusters.error, clusters.hausdorff) if attributes is None else clusters.error
        node = {
            "center": clusters.center,
            "radius": clusters.radius,
            "box": clusters.box,
            "error": error,
            "area": clusters.area,
            "level": clusters.level,
            "vertex_count": clusters.vertex_count.astype(np.int32),
        }
        if np.isfinite(clusters.hausdorff).all():
            node["hausdorff"] = clusters.hausdorff
        hierarchy = Hierarchy.groups(
            clusters.sizes // 3,
            added_by=member_of,
            removed_by=clusters.made_by,
            attributes=node,
            cost_unit="triangles",
        )
        return cls(positions, clusters.indices, clusters.offsets, hierarchy, attributes)

    def __repr__(self) -> str:
        clusters, levels = len(self.offsets) - 1, int(self.hierarchy.attribute("level").max()) + 1
        return (
            f"ClusterMesh({self.triangle_count} triangles in {clusters} clusters of {levels} levels, "
            f"{len(self.hierarchy)} groups, root of {self.root_triangle_count} triangles)"
        )

    def _repr_png_(self) -> bytes | None:
        return METHODS["cluster_portrait"](self)

    @cached_property
    def bounds(self) -> np.ndarray:
        """Smallest and largest coordinates, float32 [2, 3], read-only."""
        return frozen(np.stack([self.positions.min(axis=0), self.positions.max(axis=0)]))

    @cached_property
    def position_of(self) -> np.ndarray:
        """The first vertex at the position of each, uint32 [V]: whether a cut has cracks is judged by position."""
        if self.attributes is None:
            return np.arange(len(self.positions), dtype=np.uint32)
        return first_at_position(self.positions)

    @property
    def triangle_count(self) -> int:
        """Triangles at full detail."""
        return int(self.triangles_per_cluster[self.hierarchy.attribute("level") == 0].sum())

    @property
    def root_triangle_count(self) -> int:
        """Triangles of the coarsest cut: the smallest triangle budget."""
        return int(self.triangles_per_cluster[self.hierarchy.added_by < 0].sum())

    @property
    def triangles_per_cluster(self) -> np.ndarray:
        """int64 [N]."""
        return np.diff(self.offsets) // 3

    def triangles(self, clusters: np.ndarray) -> np.ndarray:
        """The triangles of ``clusters`` (numbers [K]) as vertex numbers, uint32 [F, 3].

        Raises
        ------
        ArrayError : not numbers of clusters.
        """
        clusters = indices("clusters", clusters, 0, len(self.offsets) - 1)
        return take_runs(self.indices, self.offsets, clusters)[0].reshape(-1, 3)

    def mesh(self, clusters: np.ndarray) -> TriangleMesh:
        """The triangles of ``clusters`` (numbers [K], usually a cut) with just the vertices that they use.

        Raises
        ------
        ArrayError : not numbers of clusters.
        MeshError : no clusters.
        """
        return referenced_only(self.positions, self.triangles(clusters), self.attributes, self.origin)

    def with_cost(self, unit: CostUnit) -> ClusterMesh:
        """The same mesh with costs in triangles or in bytes (to share a pool with textures).

        The bytes of a cluster are those it takes when streamed by itself: 12 per distinct vertex for its position,
        those of its attributes (`VertexAttributes.vertex_bytes`), and 3 per triangle for local vertex numbers, of which
        there are at most 128. Materials and their images are not counted: they belong to the mesh.

        Raises
        ------
        HraError : another unit.
        """
        vertex_bytes = self.attributes.vertex_bytes if self.attributes else 0
        return replace(self, hierarchy=charge(self.hierarchy, self.triangles_per_cluster, vertex_bytes, unit))

    def save(self, path: str | Path, grid_bits: int | None = None) -> None:
        """Write the mesh to an ``.hra`` file; see `hra.domains.meshes.asset`.

        Parameters
        ----------
        grid_bits : None keeps every bit; 8 to 16 compresses, with positions on a grid of this many bits (16: 65,536
            points along the longest axis). Bounds then count how far vertices were moved.

        Raises
        ------
        FileError : another suffix, or the file cannot be written; MeshError : another number of bits.
        """
        METHODS["save"](self, path, grid_bits)


def with_attributes(mesh: ClusterMesh, **columns: np.ndarray) -> ClusterMesh:
    """The same mesh with these attributes of its clusters, [N, ...] each, added or in place of others."""
    tree = mesh.hierarchy
    links, node = (tree.added_by, tree.removed_by), {**tree.node, **columns}
    groups = Hierarchy.groups(tree.node_cost, *links, attributes=node, cost_unit=tree.cost_unit)
    return replace(mesh, hierarchy=groups)


def charge(hierarchy: Hierarchy, triangle_count: np.ndarray, attribute_bytes: int, unit: CostUnit) -> Hierarchy:
    """The hierarchy with other costs, see `ClusterMesh.with_cost`.

    Parameters
    ----------
    triangle_count : int64 [N], of each cluster; attribute_bytes : of each vertex beside its position.

    Raises
    ------
    HraError : another unit.
    """
    check_choice("unit", unit, ("triangles", "bytes"))
    cost = triangle_count
    if unit == "bytes":
        vertices = hierarchy.attribute("vertex_count").astype(np.int64)
        cost = cost * _TRIANGLE_BYTES + vertices * (_POSITION_BYTES + attribute_bytes)
    links = hierarchy.added_by, hierarchy.removed_by
    return Hierarchy.groups(cost, *links, attributes=hierarchy.node, cost_unit=unit)
