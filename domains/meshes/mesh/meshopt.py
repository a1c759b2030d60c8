"""meshoptimizer's C functions for clusters, bound by ctypes from the library inside the PyPI package ``meshoptimizer``.

The package's own Python functions do not cover partitions. Calls release the GIL. Every array is checked
before a call, because the C code trusts its arguments: a bad index ends the process, a wrong layout reads garbage.

Source: https://github.com/zeux/meshoptimizer, version 0.22 (old seven-argument partitionClusters).
"""

from __future__ import annotations

import ctypes
import importlib.metadata
import importlib.util
import math
from functools import cache
from pathlib import Path

import numpy as np

from hra.errors import ArrayError, BackendUnavailable, MissingExtra

MAX_VERTICES = 128
MAX_TRIANGLES = 128
MAX_ATTRIBUTES = 32

SIMPLIFY_SPARSE = 1 << 1
SIMPLIFY_ERROR_ABSOLUTE = 1 << 2
SIMPLIFY_PRUNE = 1 << 3

# The signatures below are those of this release: others changed them (partitionClusters took positions later).
SUPPORTED_VERSIONS = ("0.2.30a0",)

_POINTER, _SIZE, _FLOAT, _FLAGS = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_float, ctypes.c_uint
_SIGNATURES = {
    "meshopt_generateVertexRemap": [_POINTER, _POINTER, _SIZE, _POINTER, _SIZE, _SIZE],
    "meshopt_partitionClusters": [_POINTER, _POINTER, _SIZE, _POINTER, _SIZE, _SIZE, _SIZE],
    "meshopt_encodeFilterOct": [_POINTER, _SIZE, _SIZE, ctypes.c_int, _POINTER],
    "meshopt_optimizeVertexCache": [_POINTER, _POINTER, _SIZE, _SIZE],
    "meshopt_spatialSortTriangles": [_POINTER, _POINTER, _SIZE, _POINTER, _SIZE, _SIZE],
    "meshopt_simplifyWithAttributes": [
        *[_POINTER, _POINTER, _SIZE],  # destination, indices, index count
        *[_POINTER, _SIZE, _SIZE],  # positions, vertex count, stride in bytes
        *[_POINTER, _SIZE, _POINTER, _SIZE],  # attributes, stride in bytes, weights, attribute count
        *[_POINTER, _SIZE, _FLOAT, _FLAGS, _POINTER],  # vertex lock, target index count, target error, options, error
    ],
}


@cache
def library() -> ctypes.CDLL:
    """The shared library with its function signatures set.

    Raises
    ------
    MissingExtra : the package is not installed.
    BackendUnavailable : its version is another one, or the library or a function of it is missing.
    """
    folder = _package_folder()
    found = sorted(folder.glob("_meshoptimizer*.so")) + sorted(folder.glob("_meshoptimizer*.pyd"))
    if not found:
        raise _unavailable(f"no shared library in {folder}")
    try:
        loaded = ctypes.CDLL(str(found[0]))
        for name, arguments in _SIGNATURES.items():
            function = getattr(loaded, name)
            function.argtypes, function.restype = arguments, _SIZE
    except (OSError, AttributeError) as error:
        raise _unavailable(str(error)) from error
    return loaded


def _package_folder() -> Path:
    # find_spec instead of import: the package prints when its library cannot be loaded.
    spec = importlib.util.find_spec("meshoptimizer")
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtra.of("meshoptimizer", "meshes")
    version = importlib.metadata.version("meshoptimizer")
    if version not in SUPPORTED_VERSIONS:
        raise _unavailable(f"version {version} is installed, whose functions may take other arguments")
    return Path(spec.submodule_search_locations[0])


def _unavailable(reason: str) -> BackendUnavailable:
    return BackendUnavailable(
        f"the meshoptimizer library cannot be used: {reason}",
        where="package meshoptimizer",
        fix=f"pip install meshoptimizer=={SUPPORTED_VERSIONS[-1]}",
    )


def unique_rows(rows: np.ndarray) -> tuple[np.ndarray, int]:
    """The number of each row's first byte-wise equal among the distinct rows, and how many are distinct.

    Parameters
    ----------
    rows : [V, k] of at most 256 bytes a row, C order.

    Returns
    -------
    uint32 [V], numbered by first occurrence; their count.
    """
    if rows.ndim != 2 or not rows.flags.c_contiguous or not 0 < rows.strides[0] <= 256:
        raise ArrayError(f"rows must be C-ordered [V, k] of at most 256 bytes, got {rows.shape} of {rows.dtype}")
    number = np.empty(len(rows), np.uint32)
    count = library().meshopt_generateVertexRemap(
        number.ctypes.data, None, len(rows), rows.ctypes.data, len(rows), rows.strides[0]
    )
    return number, count


def octahedral(normals: np.ndarray, bits: int) -> np.ndarray:
    """Unit vectors float32 [V, 3] as places on an octahedron of ``bits`` 1 .. 16, int16 [V, 4]: a vertex stream.

    A fourth column -1 .. 1, 0 where there is none, becomes a number of 16 bits.
    """
    _check_array("normals", normals, np.float32, 2)
    if normals.shape[1] not in (3, 4) or bits not in range(1, 17):
        raise ArrayError(f"normals must have 3 or 4 columns and 1 to 16 bits, got {normals.shape} and {bits}")
    padded = np.pad(normals, ((0, 0), (0, 4 - normals.shape[1])))
    result = np.empty((len(normals), 4), np.int16)
    library().meshopt_encodeFilterOct(result.ctypes.data, len(result), 8, bits, padded.ctypes.data)
    return result


def spatial_sort(indices: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """The triangles ``indices`` uint32 [3 F] over ``positions`` float32 [V, 3] along a space-filling curve."""
    _check_mesh(indices, positions)
    result = np.empty_like(indices)
    library().meshopt_spatialSortTriangles(
        *(result.ctypes.data, indices.ctypes.data, indices.size),
        *(positions.ctypes.data, len(positions), positions.strides[0]),
    )
    return result


def vertex_cache_order(triangles: np.ndarray, vertex_count: int) -> np.ndarray:
    """Triangles [F, 3] of integers in the order in which a GPU's cache of vertices hits most, in their type."""
    indices = np.ascontiguousarray(triangles, np.uint32).reshape(-1)
    _check_indices(indices, vertex_count)
    result = np.empty_like(indices)
    library().meshopt_optimizeVertexCache(result.ctypes.data, indices.ctypes.data, indices.size, vertex_count)
    return result.reshape(-1, 3).astype(triangles.dtype)


def partition_clusters(indices: np.ndarray, sizes: np.ndarray, vertex_count: int, target: int) -> np.ndarray:
    """Group clusters that share many vertices.

    Parameters
    ----------
    indices : uint32 [n], the clusters' vertices one cluster after the other; once each takes half the time.
    sizes : uint32 [N], indices per cluster, each > 0.
    target : clusters per group; groups have up to 3/8 more, or fewer where a cluster has too few neighbours.

    Returns
    -------
    uint32 [N], the group of each cluster, numbered from 0 without gaps.
    """
    _check_vertices(indices, vertex_count)
    _check_array("sizes", sizes, np.uint32, 1)
    if target < 1 or (sizes == 0).any() or int(sizes.sum(dtype=np.int64)) != indices.size:
        raise ArrayError("cluster sizes must be positive and add up to the number of indices", where="sizes")
    group = np.empty(sizes.size, np.uint32)
    library().meshopt_partitionClusters(
        *(group.ctypes.data, indices.ctypes.data, indices.size, sizes.ctypes.data, sizes.size, vertex_count, target)
    )
    return group


def simplify(
    indices: np.ndarray,
    positions: np.ndarray,
    locked: np.ndarray,
    target: int,
    attributes: np.ndarray | None = None,
    weights: np.ndarray | None = None,
    *,
    prune: bool = False,
    limit: float = math.inf,
) -> tuple[np.ndarray, float]:
    """Collapse edges by the quadric error until ``target`` indices are left or nothing more can be collapsed.

    Vertices at equal positions are wedges of one vertex: a lock on one holds for all, both sides of a seam collapse
    together and along it, and where three or more meet they stay. So seams neither open nor move to another chart.

    Parameters
    ----------
    indices : uint32 [3 F], a part of the mesh (the time depends on F only).
    positions : float32 [V, 3]; locked : uint8 [V], 1 where a vertex must stay.
    attributes : float32 [V, k], k <= 32, and their weights float32 [k]: a change of a weighted attribute by 1 over a
        distance d counts like a displacement by d.
    prune : also remove islands, the smallest first, whether their vertices are locked or not.
    limit : of the error, at which it ends.

    Returns
    -------
    uint32 indices into the same vertices, and the error as a distance in the unit of ``positions``, with attributes
    included.
    """
    _check_mesh(indices, positions)
    _check_array("locked", locked, np.uint8, 1)
    if len(locked) != len(positions) or not 0 <= target <= indices.size:
        raise ArrayError("one lock per vertex and a target of at most the given indices are needed", where="locked")
    result = np.empty(indices.size, np.uint32)
    error = ctypes.c_float()
    options = SIMPLIFY_SPARSE | SIMPLIFY_ERROR_ABSOLUTE | (SIMPLIFY_PRUNE if prune else 0)
    count = library().meshopt_simplifyWithAttributes(
        *(result.ctypes.data, indices.ctypes.data, indices.size),
        *(positions.ctypes.data, len(positions), positions.strides[0]),
        *_attribute_arguments(attributes, weights, len(positions)),
        *(locked.ctypes.data, target),
        *(min(limit, float(np.finfo(np.float32).max)), options, ctypes.byref(error)),
    )
    return result[:count], error.value


def _attribute_arguments(
    attributes: np.ndarray | None, weights: np.ndarray | None, vertex_count: int
) -> tuple[int | None, int, int | None, int]:
    if attributes is None or weights is None:
        return None, 0, None, 0
    _check_array("attributes", attributes, np.float32, 2)
    _check_array("weights", weights, np.float32, 1)
    if attributes.shape != (vertex_count, weights.size) or weights.size > MAX_ATTRIBUTES or not (weights >= 0).all():
        expected = f"up to {MAX_ATTRIBUTES} attributes of {vertex_count} vertices with a weight >= 0 each"
        raise ArrayError(f"expected {expected}, got {attributes.shape} and {weights.shape}", where="attributes")
    return attributes.ctypes.data, attributes.strides[0], weights.ctypes.data, weights.size


def _check_mesh(indices: np.ndarray, positions: np.ndarray) -> None:
    _check_array("positions", positions, np.float32, 2)
    if positions.shape[1] != 3:
        raise ArrayError(f"positions must have three columns, got {positions.shape[1]}", where="positions")
    _check_indices(indices, len(positions))


def _check_indices(indices: np.ndarray, vertex_count: int) -> None:
    _check_vertices(indices, vertex_count)
    if indices.size % 3:
        raise ArrayError(f"indices must be triples, got {indices.size}", where="indices")


def _check_vertices(indices: np.ndarray, vertex_count: int) -> None:
    _check_array("indices", indices, np.uint32, 1)
    if indices.size and int(indices.max()) >= vertex_count:
        raise ArrayError(f"indices must be below {vertex_count}, the number of vertices", where="indices")


def _check_array(name: str, array: np.ndarray, dtype: type, ndim: int) -> None:
    if array.dtype != dtype or array.ndim != ndim or not array.flags.c_contiguous:
        expected = f"a C-ordered {np.dtype(dtype)} array with {ndim} dimension(s)"
        raise ArrayError(f"{name} must be {expected}, got {array.dtype} {array.shape}", where=name)
