"""Records on disk in chunks that fit into memory: a grid that counts, its boxes or octree cells, sorted files.

Records are rows of numbers with a place in space, such as the corners of triangles or points. Nothing here holds more
than a block of them.
"""

from __future__ import annotations

from hra.kernels.chunking.files import Records, chunk_records, weighted_parts
from hra.kernels.chunking.octree import octree_cells, shared_keys

__all__ = ["Records", "chunk_records", "octree_cells", "shared_keys", "weighted_parts"]
