"""A mesh asset: a file of which tables are read at once and pages when they are needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from hra.caching import cached_property
from hra.domains.meshes.asset.info import read_info, read_materials, read_report
from hra.domains.meshes.asset.layout import ORIGIN, POSITION, AssetHeader, Kind, MappedFile, map_file
from hra.domains.meshes.asset.pages import Page, read_page, weld_pages
from hra.domains.meshes.asset.tables import Tables, read_tables, vertex_attributes, vertex_bytes
from hra.domains.meshes.mesh.attributes import VertexAttributes
from hra.domains.meshes.mesh.cluster_mesh import ClusterMesh, CostUnit, charge
from hra.domains.meshes.mesh.materials import Material
from hra.domains.meshes.mesh.report import BuildReport
from hra.domains.meshes.mesh.triangle_mesh import TriangleMesh, check_positions
from hra.errors import FileError, MeshError
from hra.model.arrays import indices
from hra.model.hierarchy import Hierarchy


@dataclass(frozen=True, eq=False)
class MeshAsset:
    """A cluster mesh in a memory-mapped file. Make one with `open_asset`.

    Allocating needs nothing but the hierarchy; ``MeshAllocator(asset)`` realises cuts from the pages that they touch.

    Attributes
    ----------
    bounds : float32 [2, 3], smallest and largest coordinates.
    report : how the mesh was built, or None.
    origin : as of `TriangleMesh`.

    Examples
    --------
    >>> import tempfile, hra
    >>> from hra.domains import meshes
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     meshes.build(hra.samples.path("skull.ply")).save(f"{folder}/skull.hra")
    ...     asset = meshes.open_asset(f"{folder}/skull.hra")
    ...     allocation = meshes.MeshAllocator(asset).allocate(hra.Camera.orbit(asset.bounds), budget=2_000)
    ...     print(asset.pages_of(allocation.cut))
    [0 1 2]
    """

    _file: MappedFile
    _tables: Tables
    _info: dict[str, Any]
    bounds: np.ndarray
    report: BuildReport | None
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy in another process maps the same file; what it may not map is another one of the same name.
        return _reopen, (self._file.path, self._file.header, self.hierarchy.cost_unit)

    def __repr__(self) -> str:
        header = self._file.header
        return f"MeshAsset({self._file.where}: {header.clusters} clusters in {header.pages} pages)"

    @property
    def hierarchy(self) -> Hierarchy:
        """Clusters and groups as in `ClusterMesh.hierarchy`, costs in triangles."""
        return self._tables.hierarchy

    @property
    def triangles_per_cluster(self) -> np.ndarray:
        """int64 [N]."""
        return self._tables.triangle_count

    @property
    def page_tables(self) -> Tables:
        """What is known of every cluster and page without reading a page."""
        return self._tables

    @property
    def facts(self) -> dict[str, Any]:
        """Triangles, clusters, groups, levels and triangles of the root."""
        return self._info["mesh"]

    @property
    def attribute_names(self) -> tuple[str, ...]:
        """What vertices carry beside their positions; see `VertexAttributes`."""
        return tuple(name for name in self._file.names(Kind.VERTEX) if name != POSITION)

    @property
    def attribute_bytes(self) -> dict[str, int]:
        """Bytes that each of `attribute_names` takes for a vertex."""
        return {name: self._file.entries[name].row_bytes for name in self.attribute_names}

    @cached_property
    def materials(self) -> tuple[Material, ...]:
        """The materials with their images.

        Raises
        ------
        FileError : they are damaged.
        """
        return read_materials(self._file, self._info)

    @property
    def page_bytes(self) -> np.ndarray:
        """What each page takes, int64 [P]."""
        return self._tables.page_bytes

    @property
    def slot_bytes(self) -> int:
        """What every page takes while it is held: a slot that fits the largest one, so that nothing fragments."""
        return int(self._tables.slot_bytes)

    @property
    def grid_step(self) -> float:
        """Distance between neighbouring points of the grid that all vertices are on, object units; 0 without one."""
        return 0.0 if self._tables.grid is None else self._tables.grid.step

    @cached_property
    def read_bytes(self) -> np.ndarray:
        """What each page takes from its reading to its upload, int64 [P]: in the file, and as arrays."""
        return self._tables.read_bytes(vertex_bytes(self._file))

    @cached_property
    def page_of(self) -> np.ndarray:
        """The page of each cluster, int64 [N]."""
        return self._tables.page_of

    def pages_of(self, clusters: Any) -> np.ndarray:
        """The pages that hold ``clusters`` (numbers [K]), int64, ascending, coarse before fine.

        Raises
        ------
        ArrayError : not numbers of clusters.
        """
        return np.unique(self.page_of[self._check(clusters)])

    def read_page(self, page: int) -> Page:
        """One page, its checksum verified.

        Raises
        ------
        ArrayError : no such page.
        FileError : the page is damaged.
        """
        (number,) = indices("page", [page], 0, len(self.page_bytes))
        return read_page(self._file, self._tables, int(number))

    def mesh(self, clusters: Any) -> TriangleMesh:
        """The triangles of ``clusters`` (numbers [K], usually a cut), from the pages that hold them.

        Raises
        ------
        ArrayError : not numbers of clusters.
        FileError : one of these pages is damaged.
        MeshError : no clusters.
        """
        wanted = self._check(clusters)
        if not len(wanted):
            raise MeshError("no clusters were asked for", where="clusters")
        needed = np.isin(np.arange(len(self.page_of)), wanted)
        pages = [self.read_page(page) for page in self.pages_of(wanted)]
        parts = [page.take(np.flatnonzero(needed[page.clusters])) for page in pages]
        with self._describe():
            welded = weld_pages(parts, wanted)
            return TriangleMesh(
                *(welded.streams[POSITION], welded.indices.reshape(-1, 3), self._attributes(welded.streams)),
                origin=self.origin,
            )

    def read(self) -> ClusterMesh:
        """The whole mesh in memory.

        Raises
        ------
        FileError : a page is damaged, or the pages contradict each other or the tables.
        """
        pages = [self.read_page(page) for page in range(len(self.page_bytes))]
        with self._describe():
            welded = weld_pages(pages, np.arange(len(self.page_of)), self._file.header.vertices)
            check_positions(welded.streams[POSITION], POSITION)
            carried = self._attributes(welded.streams)
            arrays = welded.streams[POSITION], welded.indices, welded.offsets
            return ClusterMesh(*arrays, self.hierarchy, carried, self.report, self.origin)

    def with_cost(self, unit: CostUnit) -> MeshAsset:
        """The same file with costs in triangles or in bytes; see `ClusterMesh.with_cost`.

        Raises
        ------
        HraError : another unit.
        """
        tables = self._tables
        attribute_bytes = sum(self.attribute_bytes.values())
        hierarchy = charge(tables.hierarchy, tables.triangle_count, attribute_bytes, unit)
        return replace(self, _tables=replace(tables, hierarchy=hierarchy))

    def _check(self, clusters: Any) -> np.ndarray:
        return indices("clusters", clusters, 0, len(self.page_of))

    def _attributes(self, streams: Mapping[str, np.ndarray]) -> VertexAttributes | None:
        return vertex_attributes(streams, self.materials)

    @contextmanager
    def _describe(self) -> Iterator[None]:
        """Errors of what is made from the pages are errors of the file."""
        try:
            yield
        except MeshError as error:
            raise self._file.error(f"the mesh asset contradicts itself: {error.what}") from error


def _reopen(path: Path, header: AssetHeader, unit: CostUnit) -> MeshAsset:
    asset = open_asset(path)
    if asset._file.header != header:
        what = "the mesh asset has been replaced by another one since it was pickled"
        raise FileError(what, where=str(path), fix="open it again")
    return asset if asset.hierarchy.cost_unit == unit else asset.with_cost(unit)


def open_asset(path: str | Path) -> MeshAsset:
    """Open a mesh that `ClusterMesh.save` wrote, without reading its pages.

    Raises
    ------
    FileError : missing, truncated, damaged, of another version or byte order, or its tables are inconsistent.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> meshes.build(hra.samples.path("skull.ply")).save("skull.hra")
    >>> asset = meshes.open_asset("skull.hra")
    >>> camera = hra.Camera.orbit(asset.bounds, azimuth=30, up=(0, 0, 1))
    >>> allocation = meshes.MeshAllocator(asset).allocate(camera, budget=5_000)
    >>> len(asset.pages_of(allocation.cut)) < len(asset.page_bytes)
    True
    """
    file = map_file(path)
    tables = read_tables(file)
    info = read_info(file, tables)
    bounds = file.section("bounds", Kind.BLOCK, "<f4", (3,))
    if len(bounds) != 2 or not np.isfinite(bounds).all() or (bounds[0] > bounds[1]).any():
        raise file.error("the bounds of the mesh asset are invalid")
    return MeshAsset(file, tables, info, bounds, read_report(file, info), _origin(file))


def _origin(file: MappedFile) -> tuple[float, float, float]:
    if not file.header.has_origin:
        return (0.0, 0.0, 0.0)
    rows = file.section(ORIGIN, Kind.BLOCK, "<f8", (3,))
    if len(rows) != 1 or not np.isfinite(rows).all():
        raise file.error("the origin of the mesh asset is invalid")
    x, y, z = rows[0].tolist()
    return x, y, z


def load_clusters(path: str | Path) -> ClusterMesh:
    """Read a mesh that `ClusterMesh.save` wrote; costs are in triangles.

    Raises
    ------
    FileError : see `open_asset` and `MeshAsset.read`.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> meshes.build(hra.samples.path("skull.ply")).save("skull.hra")
    >>> meshes.load_clusters("skull.hra").triangle_count
    42480
    """
    return open_asset(path).read()
