"""Trees of clouds that were built, as NumPy archives without pickles."""

from __future__ import annotations

import os
from typing import IO

import numpy as np

from hra.domains.points.cloud.cloud_tree import CloudTree
from hra.domains.points.cloud.clouds import PointCloud, SplatCloud
from hra.errors import FileError, HraError
from hra.files.atomic_write import write_atomically
from hra.files.limits import enough_memory
from hra.files.local_files import open_regular
from hra.files.plain_arrays import plain_archive, save_plain

_COMMON = {"position": 3, "color": 3, "reach": 0, "size": 0, "color_loss": 0, "cover_loss": 0, "shift": 0}
_KINDS = {"points": (PointCloud, _COMMON), "splats": (SplatCloud, {**_COMMON, "covariance": 6, "opacity": 0})}


def save_tree(path: str | os.PathLike[str], tree: CloudTree) -> None:
    """Write a tree, so that cuts need not build it again.

    Raises
    ------
    FileError : see `hra.files.atomic_write.write_atomically`.

    Examples
    --------
    >>> import tempfile
    >>> from hra.domains import points
    >>> tree = points.build(points.PointCloud([[0, 0, 0], [1, 0, 0]]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     points.save_tree(f"{folder}/two.hpt", tree)
    ...     len(points.load_tree(f"{folder}/two.hpt").leaves)
    2
    """
    names = _KINDS[tree.kind.unit][1]
    arrays = {name: tree.hierarchy.attribute(name) for name in names}
    whole = {"kind": np.array(tree.kind.unit), "parent": tree.parent, **arrays}
    write_atomically(path, lambda stream: save_plain(stream, whole))


def load_tree(path: str | os.PathLike[str]) -> CloudTree:
    """A tree from `save_tree`.

    Raises
    ------
    FileError : another file, or arrays that do not fit together. OutOfMemory : they do not fit into memory.

    Examples
    --------
    >>> import tempfile
    >>> from hra.domains import points
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     points.save_tree(f"{folder}/one.hpt", points.build(points.PointCloud([[0, 0, 0]])))
    ...     points.load_tree(f"{folder}/one.hpt").kind is points.PointCloud
    True
    """
    with open_regular(path) as stream, enough_memory("the tree", str(path)):
        try:
            arrays = _arrays(stream)
            kind, names = _KINDS[str(arrays.pop("kind"))]
            parent = arrays.pop("parent")
            _check(parent, arrays, names)
            return CloudTree.of(parent, arrays, kind)
        except (ValueError, KeyError, OSError, HraError) as error:
            fix = "build it again with `hra points build`"
            raise FileError(f"this is not a tree of points: {error}", where=str(path), fix=fix) from error


def _arrays(stream: IO[bytes]) -> dict[str, np.ndarray]:
    """All arrays of an archive, one after the other: no more is held than they take."""
    with plain_archive(stream) as archive:
        # Nothing is unpacked that is larger than the file: `save_tree` compresses nothing.
        if archive.unpacked > os.fstat(stream.fileno()).st_size:
            raise ValueError("it would unpack to more than it holds")
        if archive.others:
            raise ValueError(f"{archive.others[0][:60]} is not an array")
        return {name: archive.array(name) for name in archive.names}


def _check(parent: np.ndarray, arrays: dict[str, np.ndarray], names: dict[str, int]) -> None:
    """Level order, and attributes that are numbers of the right shapes and ranges."""
    ordered = parent.ndim == 1 and parent.size > 0 and parent.dtype.kind == "i"
    if (
        not ordered
        or parent[0] != -1
        or not (parent[1:] >= 0).all()
        or not (parent[1:] < np.arange(1, len(parent))).all()
    ):
        raise ValueError("the parents are not in level order")
    if set(arrays) != set(names):
        raise ValueError(f"it holds {', '.join(arrays)}")
    for name, width in names.items():
        values = arrays[name]
        signed = name in ("position", "covariance")
        if values.dtype != np.float32 or values.shape != (len(parent), *([width] if width else [])):
            raise ValueError(f"{name} is {values.dtype} {list(values.shape)}")
        if not np.isfinite(values).all() or (not signed and (values < 0).any()):
            raise ValueError(f"{name} is out of range")
