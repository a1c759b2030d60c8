"""Trees of clouds that were built, as NumPy archives without pickles."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import IO, Any

import numpy as np

from hra.domains.points.cloud.cloud_tree import FIELD, CloudTree
from hra.domains.points.cloud.clouds import BANDS, PointCloud, SplatCloud
from hra.domains.points.files.suffixes import BUILT
from hra.errors import FileError, HraError, check_kind
from hra.files.atomic_write import write_atomically
from hra.files.limits import enough_memory
from hra.files.local_files import local_path, open_regular
from hra.files.plain_arrays import plain_archive, save_plain

_COMMON = {"position": 3, "color": 3, "reach": 0, "size": 0, "color_loss": 0, "cover_loss": 0, "shift": 0}
_KINDS = {"points": (PointCloud, _COMMON), "splats": (SplatCloud, {**_COMMON, "covariance": 6, "opacity": 0})}
_SIGNED = ("position", "covariance", "harmonics", "color")
# What a tree has only where it says something: names of fields and their numbers, and records of the coordinate system.
_NAMES, FIELD_ENTRY, _RECORD = "fields", "field_", "crs_"


def save_tree(path: str | os.PathLike[str], tree: CloudTree) -> None:
    """Write a tree, so that cuts need not build it again.

    Raises
    ------
    FileError : another suffix than ``.hpt``; see `hra.files.atomic_write.write_atomically`.

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
    check_suffix(path)
    check_kind("tree", tree, CloudTree, "pass points.build(cloud); clouds are written by save_points")
    held = tree.hierarchy.node
    arrays = {name: held[name] for name in (*_KINDS[tree.kind.unit][1], "harmonics", "harmonic_loss") if name in held}
    whole = {"kind": np.array(tree.kind.unit), "parent": tree.parent, **arrays}
    whole |= additions(list(tree.fields), tree.origin, tree.crs)
    whole |= {f"{FIELD_ENTRY}{k}": rows for k, rows in enumerate(tree.fields.values())}
    write_atomically(path, lambda stream: save_plain(stream, whole))


def check_suffix(path: str | os.PathLike[str]) -> None:
    """Refuse to write a tree under the suffix of another file.

    Raises
    ------
    FileError : another suffix than ``.hpt``.
    """
    if local_path(path).suffix.lower() != BUILT:
        raise FileError("trees of clouds are written as .hpt", where=str(path), fix="use the suffix .hpt")


def additions(
    names: Sequence[str], origin: tuple[float, float, float], crs: Mapping[int, bytes]
) -> dict[str, np.ndarray]:
    """The arrays of a file that only some trees have, except for the fields' numbers: these are field_0, field_1 ..."""
    found = {_NAMES: np.array([*names])} if names else {}
    found |= {"origin": np.array(origin)} if any(origin) else {}
    return found | {f"{_RECORD}{number}": np.frombuffer(record, np.uint8) for number, record in crs.items()}


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
            parent, names = arrays.pop("parent"), dict(names)
            place, fields = _place(arrays), _fields(arrays, len(parent) if parent.ndim else 0)
            if kind is SplatCloud and arrays.get("harmonics", np.zeros(0)).shape[1:] in [(count, 3) for count in BANDS]:
                names |= {"harmonics": arrays["harmonics"].shape[1:], "harmonic_loss": 0}
            _check(parent, arrays, names)
            return CloudTree.of(parent, arrays | fields, kind, **place)
        except (ValueError, KeyError, OSError, HraError) as error:
            reason = error.what if isinstance(error, HraError) else error
            fix = "build it again with `hra points build`"
            raise FileError(f"this is not a tree of points: {reason}", where=str(path), fix=fix) from error


def _arrays(stream: IO[bytes]) -> dict[str, np.ndarray]:
    """All arrays of an archive, one after the other: no more is held than they take."""
    with plain_archive(stream) as archive:
        # Nothing is unpacked that is larger than the file: `save_tree` compresses nothing.
        if archive.unpacked > os.fstat(stream.fileno()).st_size:
            raise ValueError("it would unpack to more than it holds")
        if archive.others:
            raise ValueError(f"{archive.others[0][:60]} is not an array")
        return {name: archive.array(name) for name in archive.names}


def _place(arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Origin and coordinate system, taken out of the arrays."""
    origin = arrays.pop("origin", np.zeros(3))
    if origin.shape != (3,) or origin.dtype.kind != "f" or not np.isfinite(origin).all():
        raise ValueError("the origin is not a point")
    records = [name for name in arrays if name.startswith(_RECORD)]
    crs = {int(name.removeprefix(_RECORD)): arrays.pop(name).astype(np.uint8).tobytes() for name in records}
    x, y, z = origin.astype(np.float64).tolist()
    return {"origin": (x, y, z), "crs": crs}


def _fields(arrays: dict[str, np.ndarray], count: int) -> dict[str, np.ndarray]:
    """The fields as attributes of nodes, taken out of the arrays."""
    names = [str(name) for name in arrays.pop(_NAMES, np.zeros(0, "<U1")).reshape(-1)]
    found = {FIELD + name: arrays.pop(f"{FIELD_ENTRY}{k}") for k, name in enumerate(names)}
    for name, rows in found.items():
        if rows.ndim not in (1, 2) or len(rows) != count or rows.dtype.kind not in "iufb":
            raise ValueError(f"{name[:60]} is {rows.dtype} {list(rows.shape)}")
    return found


def _check(parent: np.ndarray, arrays: dict[str, np.ndarray], names: dict[str, Any]) -> None:
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
        signed = name in _SIGNED
        row = width if isinstance(width, tuple) else (width,) if width else ()
        if values.dtype != np.float32 or values.shape != (len(parent), *row):
            raise ValueError(f"{name} is {values.dtype} {list(values.shape)}")
        if not np.isfinite(values).all() or (not signed and (values < 0).any()):
            raise ValueError(f"{name} is out of range")
