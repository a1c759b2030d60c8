"""Clouds from files, and to PLY and COPC.

SOG is the compressed form of splats of PlayCanvas: pictures in WebP, in one archive or beside their ``meta.json``.

Source of SOG: PlayCanvas, SOG file format, version 2 (2025).
"""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from hra.domains.points.cloud.clouds import PointCloud, SplatCloud
from hra.domains.points.files.copc_writing import write_copc
from hra.domains.points.files.las import read_las
from hra.errors import FileError, HraError
from hra.files.atomic_write import write_atomically
from hra.files.images.opening import decoded_upright
from hra.files.json_text import parse_object
from hra.files.limits import DEFAULT
from hra.files.local_files import local_path, read_regular
from hra.files.ply import Columns, binary_table, read_elements

_SPLAT = ("opacity", "scale_0", "scale_1", "scale_2", "rot_0", "rot_1", "rot_2", "rot_3", "f_dc_0", "f_dc_1", "f_dc_2")
# The constant harmonic: colours are 1/2 plus this times the coefficient.
HARMONIC = 0.28209479177387814
_NAME, _SHORTEST = "meta.json", 252  # alpha of quaternions: this plus the number of the component that is left out

Reader = Callable[[str], bytes]


def load_points(path: str | os.PathLike[str], level: int | None = None) -> PointCloud | SplatCloud:
    """A cloud from a PLY file (points, mesh vertices, or Gaussian splats), LAS, LAZ or COPC (``hra[points]``), or SOG.

    SOG is an archive ``.sog``, or a ``meta.json`` with its pictures beside it. Of splats the constant colour is read,
    which is what all directions have in common.

    Parameters
    ----------
    level : of a COPC file, the finest level that is read, 0 for its root; of others nothing but None.

    Raises
    ------
    FileError : it cannot be read, or holds no points. ArrayError : numbers that are not finite or out of range.
    HraError : no level, or one of a file that has none. MissingExtra : laspy is not installed.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import points
    >>> len(points.load_points(hra.samples.path("skull.ply")))
    21260
    """
    if Path(path).suffix.lower() in (".las", ".laz"):
        return read_las(path, level)
    if level is not None:
        raise HraError("only COPC files have levels", where=str(path), fix="leave the level out")
    if Path(path).suffix.lower() in (".sog", ".json"):
        return read_sog(local_path(path))
    vertices = read_elements(read_regular(path), str(path)).get("vertex", Columns()).scalars
    if not all(len(vertices.get(name, ())) for name in "xyz"):
        raise FileError("the PLY file has no vertices with x, y and z", where=str(path))
    positions = np.column_stack([vertices[name] for name in "xyz"])
    if all(name in vertices for name in _SPLAT):
        return _splats(positions, *(vertices[name].astype(np.float64) for name in _SPLAT))
    radii = vertices.get("radius")
    return PointCloud(positions, _colors(vertices), radii)


def _splats(positions: np.ndarray, opacity: np.ndarray, *rest: np.ndarray) -> SplatCloud:
    scales, rotations, harmonics = (np.column_stack(part) for part in (rest[:3], rest[3:7], rest[7:]))
    with np.errstate(over="ignore"):
        shares = 1 / (1 + np.exp(-opacity))
        return SplatCloud.of(
            positions, np.exp(scales), rotations, (0.5 + HARMONIC * harmonics).clip(0, 1), shares.clip(0, 1)
        )


def _colors(vertices: object) -> np.ndarray | None:
    names = ("red", "green", "blue")
    if not all(name in vertices for name in names):  # pyright: ignore[reportOperatorIssue]
        return None
    found = np.column_stack([vertices[name] for name in names])  # pyright: ignore[reportIndexIssue]
    return found / (1 if found.dtype.kind == "f" else np.iinfo(found.dtype).max)


def save_points(path: str | os.PathLike[str], cloud: PointCloud | SplatCloud) -> None:
    """Write a cloud as binary PLY: points with colours and radii, or splats as their viewers read them.

    To ``.laz`` points are written as COPC (``hra[points]``), see `hra.domains.points.files.copc_writing`; name it
    ``.copc.laz``, as its readers expect.

    Raises
    ------
    HraError : splats as COPC. MissingExtra : laspy is not installed.
    FileError : see `hra.files.atomic_write.write_atomically`.

    Examples
    --------
    >>> import tempfile
    >>> from hra.domains import points
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     points.save_points(f"{folder}/two.ply", points.PointCloud([[0, 0, 0], [1, 0, 0]]))
    ...     len(points.load_points(f"{folder}/two.ply"))
    2
    """
    if local_path(path).suffix.lower() == ".laz":
        if not isinstance(cloud, PointCloud):
            raise HraError("COPC holds points, not splats", where=str(path), fix="write .ply")
        return write_atomically(path, partial(write_copc, cloud=cloud))
    columns = dict(zip("xyz", cloud.positions.T, strict=True))
    if isinstance(cloud, PointCloud):
        colors = np.rint(cloud.colors * 255).astype(np.uint8)
        columns |= dict(zip(("red", "green", "blue"), colors.T, strict=True))
        columns |= {} if cloud.radii is None else {"radius": cloud.radii}
    else:
        columns |= _splat_columns(cloud)
    write_atomically(path, binary_table(columns))


def _splat_columns(cloud: SplatCloud) -> dict[str, np.ndarray]:
    """Logarithms of standard deviations, quaternions, logits of opacity, harmonics."""
    full = cloud.covariances[:, [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(-1, 3, 3).astype(np.float64)
    variances, axes = np.linalg.eigh(full)
    axes[:, :, 0] *= np.linalg.det(axes)[:, None]  # a turn, not a mirror
    shares = cloud.opacities.astype(np.float64).clip(1e-6, 1 - 1e-6)
    values = [np.log(shares / (1 - shares)), *(0.5 * np.log(np.maximum(variances, 1e-30))).T]
    values += [*quaternions(axes).T, *((cloud.colors - 0.5) / HARMONIC).T]
    return {name: value.astype(np.float32) for name, value in zip(_SPLAT, values, strict=True)}


def quaternions(turns: np.ndarray) -> np.ndarray:
    """Quaternions [P, 4] (w, x, y, z) of rotation matrices [P, 3, 3].

    Source: I. Y. Bar-Itzhack, New Method for Extracting the Quaternion from a Rotation Matrix (2000): the eigenvector
    of the largest eigenvalue, which is exact for any turn.
    """
    (a, b, c), (d, e, f), (g, h, i) = np.moveaxis(turns, 0, -1)
    o = np.zeros_like(a)  # of symmetric matrices `eigh` looks at the lower triangle only
    rows = [
        [a + e + i, o, o, o],
        [h - f, a - e - i, o, o],
        [c - g, b + d, e - a - i, o],
        [d - b, c + g, f + h, i - a - e],
    ]
    return np.linalg.eigh(np.moveaxis(np.array(rows), -1, 0))[1][:, :, -1]


def read_sog(path: Path) -> SplatCloud:
    """Splats of an archive ``.sog``, or of a ``meta.json`` and the pictures beside it; harmonics stay unread.

    Raises
    ------
    FileError : not version 2 of the format, names of files elsewhere, numbers that are missing.
    LimitExceeded : too many pixels, or an archive that unpacks to too much. ImageError : a picture is damaged.
    """
    where = str(path)
    try:
        if path.suffix.lower() == ".json":
            return _unpacked(read_regular(path), lambda name: read_regular(path.parent / name), where)
        data = read_regular(path)
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            DEFAULT.check_archive(sum(entry.file_size for entry in archive.infolist()), len(data), where)
            return _unpacked(archive.read(_NAME), archive.read, where)
    except HraError:
        raise
    except (ValueError, KeyError, TypeError, IndexError, EOFError, OverflowError) as error:
        raise _refused(f"{type(error).__name__}: {error}", where) from error
    except (OSError, RuntimeError, NotImplementedError, zipfile.BadZipFile, zipfile.LargeZipFile) as error:
        raise _refused(str(error), where) from error


def _refused(what: str, where: str) -> FileError:
    fix = "write it again by splat-transform, or as PLY"
    return FileError(f"this is not an SOG file of version 2: {what}", where=where, fix=fix)


def _unpacked(text: bytes, read: Reader, where: str) -> SplatCloud:
    meta = parse_object(text, _NAME, where)
    count = meta["count"]
    if meta.get("version") != 2 or type(count) is not int or count < 1:
        raise ValueError(f"version {meta.get('version')!r}, count {count!r}")
    low, high, turns, scales, colors = _pictures(meta, read, count, where)
    places = (low[:, :3] + 256.0 * high[:, :3]) / 65535
    ends = [_numbers(meta["means"][name], 3) for name in ("mins", "maxs")]
    places = ends[0] + (ends[1] - ends[0]) * places
    with np.errstate(over="ignore"):
        positions = np.sign(places) * np.expm1(np.abs(places))
        deviations = np.exp(_numbers(meta["scales"]["codebook"], 256)[scales[:, :3]])
    harmonics = _numbers(meta["sh0"]["codebook"], 256)[colors[:, :3]]
    shades, shares = (0.5 + HARMONIC * harmonics).clip(0, 1), colors[:, 3] / 255
    return SplatCloud.of(positions, deviations, _quaternions(turns), shades, shares)


def _pictures(meta: dict[str, Any], read: Reader, count: int, where: str) -> list[np.ndarray]:
    """The first ``count`` pixels, RGBA uint8 [P, 4], of means (low and high bytes), turns, scales and colours."""
    names = [*meta["means"]["files"][:2], *(meta[part]["files"][0] for part in ("quats", "scales", "sh0"))]
    found = []
    for name in names:
        if not isinstance(name, str) or Path(name).name != name:
            raise ValueError(f"the picture {name!r} does not lie beside {_NAME}")
        with decoded_upright(io.BytesIO(read(name)), f"{where}: {name}", DEFAULT.pixels) as image:
            found.append(np.asarray(image.convert("RGBA")).reshape(-1, 4)[:count])
    if len(found) != 5 or any(len(pixels) != count for pixels in found):
        raise ValueError(f"its pictures are smaller than the {count} splats")
    return found


def _numbers(values: Any, length: int) -> np.ndarray:
    found = np.array(values, np.float64)
    if found.shape != (length,) or not np.isfinite(found).all():
        raise ValueError(f"{length} numbers were expected")
    return found


def _quaternions(pixels: np.ndarray) -> np.ndarray:
    """w, x, y, z [P, 4]: the largest component is what the other three leave of length 1."""
    largest = pixels[:, 3].astype(int) - _SHORTEST
    if (largest < 0).any():
        raise ValueError("a quaternion does not say which component is left out")
    rest = (pixels[:, :3] / 255 - 0.5) * np.sqrt(2)
    found = np.empty((len(pixels), 4))
    places = np.arange(4)[None] != largest[:, None]
    found[places] = rest.reshape(-1)
    found[~places] = np.sqrt(np.maximum(1 - (rest**2).sum(axis=1), 0))
    return found
