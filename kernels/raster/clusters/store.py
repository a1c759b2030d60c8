"""The triangles on the GPU: pages in slots of one buffer, loaded and dropped one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hra.errors import ArrayError
from hra.kernels.raster.buffers import Resource, check_storage_size, upload
from hra.kernels.raster.clusters.geometry import CLUSTER, NOWHERE, ClusterGeometry
from hra.kernels.raster.context import Context


class ClusterStore(Resource):
    """Slots for the pages of some meshes, and tables of their clusters.

    Parameters
    ----------
    context : where they are kept.
    meshes : at least one.

    Raises
    ------
    ArrayError : the slots are more than a shader of this driver can reach.
    BackendUnavailable : the context fails, see `hra.kernels.raster.Context`.

    Attributes
    ----------
    first_cluster, first_page : int64 [M + 1], where the tables of each mesh begin.
    places : int64 [N], the place here of each cluster in the order of its mesh, counted within the mesh.
    page, triangles : int64 [N], of each cluster in the order here.
    uploaded_bytes : what went to the GPU so far.
    """

    def __init__(self, context: Context, meshes: Sequence[ClusterGeometry]) -> None:
        super().__init__(context)
        self.meshes = tuple(meshes)
        self.first_cluster = _starts([len(mesh.numbers) for mesh in meshes])
        self.first_page = _starts([len(mesh.page_vertices) for mesh in meshes])
        self._first_word = _starts([mesh.slots * mesh.slot_words for mesh in meshes])
        self.corners = 3 * max(int(mesh.triangles.max()) for mesh in meshes)
        check_storage_size(context, 4 * int(self._first_word[-1]), "the pool of slots")
        self._pages = np.zeros((int(self.first_page[-1]), 2), np.uint32)
        self._pages[:, 0] = NOWHERE
        self._pages[:, 1] = np.concatenate([mesh.page_vertices for mesh in meshes])
        self._free = [list(range(mesh.slots - 1, -1, -1)) for mesh in meshes]
        self._slot_of: list[dict[int, int]] = [{} for _ in meshes]
        self.places = np.concatenate([mesh.places for mesh in meshes])
        self.page = np.concatenate([mesh.page + self.first_page[k] for k, mesh in enumerate(meshes)])
        self.triangles = np.concatenate([mesh.triangles for mesh in meshes])
        self.uploaded_bytes = 0
        self._mesh_rows = np.concatenate([mesh.mesh_row() for mesh in meshes])
        rows = [mesh.cluster_rows(k, int(self.first_page[k])) for k, mesh in enumerate(meshes)]
        self._rows = np.concatenate(rows)
        with context.use() as gl:
            self.slots = self.own(gl.buffer(reserve=max(4 * int(self._first_word[-1]), 4)))
            self.clusters = self.own(upload(gl, self._rows))
            self.pages = self.own(upload(gl, self._pages))
            self.mesh_rows = self.own(upload(gl, self._mesh_rows))

    @property
    def numbers(self) -> np.ndarray:
        """What its mesh calls each cluster of the table."""
        return self._rows["number"]

    @property
    def pool_bytes(self) -> int:
        """What all slots take."""
        return 4 * int(self._first_word[-1])

    @property
    def there(self) -> np.ndarray:
        """Which pages are there, bool [P]."""
        return self._pages[:, 0] != NOWHERE

    def load(self, mesh: int, page: int, content: Any, boxes: np.ndarray) -> None:
        """Put a page into a free slot.

        Parameters
        ----------
        content : bytes, as shaders/clusters.glsl lays them out.
        boxes : float32 [K, 2, 3], around what is drawn of each of the page's clusters, object units.

        Raises
        ------
        ArrayError : no slot is free, the page is there already, or it does not fit.
        """
        geometry, size = self.meshes[mesh], len(content)
        if page in self._slot_of[mesh]:
            raise ArrayError(f"page {page} is already resident", where="argument page")
        if size > 4 * geometry.slot_words:
            raise ArrayError(f"{size} bytes do not fit into a slot of {geometry.slot_bytes}", where="content")
        if not self._free[mesh]:
            raise ArrayError(f"all {geometry.slots} slots are taken", where="page", fix="drop a page before")
        slot = self._slot_of[mesh][page] = self._free[mesh].pop()
        word = int(self._first_word[mesh]) + slot * geometry.slot_words
        begin, end = (self.first_cluster[mesh] + geometry.page_ends[page : page + 2]).tolist()
        self._rows["box"][begin:end] = boxes
        with self.context.use():
            self.slots.write(content, offset=4 * word)
            self.clusters.write(self._rows[begin:end].tobytes(), offset=CLUSTER.itemsize * begin)
            self._set_word(mesh, page, word)
        self.uploaded_bytes += size

    def drop(self, mesh: int, page: int) -> None:
        """Free a page's slot; :class:`ArrayError` if it is not there."""
        if page not in self._slot_of[mesh]:
            raise ArrayError(f"page {page} is not resident", where="argument page")
        self._free[mesh].append(self._slot_of[mesh].pop(page))
        with self.context.use():
            self._set_word(mesh, page, NOWHERE)

    def set_first_materials(self, numbers: Any) -> None:
        """Where the materials of each mesh begin in a table of all, [M]."""
        self._mesh_rows["first_material"] = numbers
        with self.context.use():
            self.mesh_rows.write(self._mesh_rows.tobytes())

    def _set_word(self, mesh: int, page: int, word: int) -> None:
        row = int(self.first_page[mesh]) + page
        self._pages[row, 0] = word
        self.pages.write(self._pages[row].tobytes(), offset=8 * row)

    def bind(self) -> None:
        """Bind slots, clusters, pages and meshes where shaders/clusters.glsl expects them; the context is current."""
        for binding, buffer in enumerate((self.slots, self.clusters, self.pages, self.mesh_rows)):
            buffer.bind_to_storage_buffer(binding)


def _starts(counts: Sequence[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
