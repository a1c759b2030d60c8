"""Cluster meshes as ``.npz`` files: plain arrays, no pickle, checked when read."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from hra.atomic_write import write_atomically
from hra.domains.meshes.cluster_mesh import ClusterMesh
from hra.domains.meshes.read import checked_file
from hra.errors import FileError, HraError
from hra.hierarchy import Hierarchy

VERSION = 1
SUFFIXES = (".npz",)
_ATTRIBUTES = ("center", "radius", "error", "area", "level", "vertex_count")
_OPTIONAL = ("deviation",)
# Compressed arrays above this ratio cannot come from `save`, which does not compress.
_MAX_INFLATION = 2


def save(mesh: ClusterMesh, path: str | Path) -> None:
    """Write ``mesh``, atomically and uncompressed: equal meshes give equal bytes.

    Raises
    ------
    FileError : another suffix than ``.npz``, or the file cannot be written.
    """
    if Path(path).suffix.lower() not in SUFFIXES:
        raise FileError("cluster meshes are written as .npz", where=str(path), fix="give the file the suffix .npz")
    hierarchy = mesh.hierarchy
    arrays: dict[str, Any] = {name: hierarchy.attribute(name) for name in _ATTRIBUTES}
    arrays |= {name: hierarchy.node[name] for name in _OPTIONAL if name in hierarchy.node}
    arrays |= {"version": np.int64(VERSION), "positions": mesh.positions, "indices": mesh.indices}
    arrays |= {"offsets": mesh.offsets, "added_by": hierarchy.added_by, "removed_by": hierarchy.removed_by}
    content = io.BytesIO()
    np.savez(content, **arrays)
    write_atomically(path, content.getvalue())


def load_clusters(path: str | Path) -> ClusterMesh:
    """Read a mesh that `save` wrote; costs are in triangles.

    Raises
    ------
    FileError : missing, truncated, damaged (each array has a checksum), of another version, or inconsistent.
    """
    file = checked_file(path, SUFFIXES)
    try:
        _refuse_inflation(file)
        with np.load(file, allow_pickle=False) as arrays:
            _check_version(arrays, str(path))
            return _assemble({name: arrays[name] for name in arrays.files}, str(path))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, NotImplementedError, HraError) as error:
        if isinstance(error, FileError):
            raise
        reason = getattr(error, "what", None) or f"{type(error).__name__}: {error}"
        raise FileError(f"this is not a whole cluster mesh: {reason}", where=str(path), fix="build it again") from error


def _refuse_inflation(file: Path) -> None:
    with zipfile.ZipFile(file) as archive:
        claimed = sum(entry.file_size for entry in archive.infolist())
    if claimed > _MAX_INFLATION * file.stat().st_size:
        raise FileError(f"the archive would unpack to {claimed} bytes", where=str(file), fix="build it again")


def _check_version(arrays: Any, where: str) -> None:
    version = arrays["version"]
    if version.shape != () or version.dtype.kind != "i" or version != VERSION:
        raise FileError(
            f"version {version} of the format is not read, only {VERSION}", where=where, fix="build it again"
        )


def _assemble(arrays: dict[str, np.ndarray], where: str) -> ClusterMesh:
    positions, indices, offsets = arrays["positions"], arrays["indices"], arrays["offsets"]
    _require(positions.dtype == np.float32 and positions.ndim == 2 and positions.shape[1] == 3, "positions", where)
    _require(bool(np.isfinite(positions).all()), "positions", where)
    _require(indices.dtype == np.uint32 and indices.ndim == 1 and indices.size > 0, "indices", where)
    _require(int(indices.max()) < len(positions), "indices", where)
    _require(offsets.dtype == np.int64 and offsets.ndim == 1 and offsets.size > 1, "offsets", where)
    sizes = np.diff(offsets)
    _require(
        offsets[0] == 0 and offsets[-1] == indices.size and (sizes > 0).all() and not (sizes % 3).any(),
        "offsets",
        where,
    )
    attributes = {name: arrays[name] for name in (*_ATTRIBUTES, *(name for name in _OPTIONAL if name in arrays))}
    for name, values in attributes.items():
        expected = (len(sizes), 3) if name == "center" else (len(sizes),)
        _require(
            values.shape == expected and values.dtype.kind in "if" and bool(np.isfinite(values).all()), name, where
        )
    hierarchy = Hierarchy.groups(
        sizes // 3, arrays["added_by"], arrays["removed_by"], attributes=attributes, cost_unit="triangles"
    )
    return ClusterMesh(positions, indices, offsets, hierarchy)


def _require(valid: bool | np.bool_, name: str, where: str) -> None:
    if not valid:
        raise FileError(f"the array {name!r} of the cluster mesh is invalid", where=where, fix="build it again")
