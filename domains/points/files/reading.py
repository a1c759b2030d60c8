"""Clouds from files, and to PLY and COPC; the compact files of splats are in `splat_formats`.

SOG is the compressed form of splats of PlayCanvas: pictures in WebP, in one archive or beside their ``meta.json``.

Source of SOG: PlayCanvas, SOG file format, version 2 (2025).
"""

from __future__ import annotations

import io
import os
import re
import warnings
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from hra.domains.points.cloud.clouds import BANDS, PointCloud, SplatCloud
from hra.domains.points.cloud.extent import Extent
from hra.domains.points.files.copc_writing import write_copc
from hra.domains.points.files.finite import check_finite, checked_splats, naming_file
from hra.domains.points.files.las import read_las
from hra.domains.points.files.origins import axis_origin
from hra.domains.points.files.ply_columns import SPLAT, field_columns
from hra.domains.points.files.splat_formats import (
    HARMONIC,
    PACKED,
    read_compact,
    read_compressed_ply,
    warn_of_filter,
)
from hra.domains.points.files.suffixes import NOT_READ, READ
from hra.errors import FileError, HraError, RepairWarning, check_kind, warn
from hra.files.atomic_write import write_atomically
from hra.files.images.opening import decoded_upright
from hra.files.json_text import parse_object
from hra.files.limits import DEFAULT
from hra.files.local_files import local_path, read_regular
from hra.files.ply import Columns, binary_table, read_elements
from hra.files.ply.colors import COLORS, ply_colors

# What splats have in PLY beside their harmonics.
_UNUSED = {*"xyz", *SPLAT}
# Elements of PLY that are read; and what makes surfaces of vertices, which are read as points.
_ELEMENTS = {"vertex", "chunk", "sh", "face", "tristrips"}
# How Brush and Postshot say in PLY whether splats were trained for antialiased drawing; the last comment counts.
_MODE = re.compile(rb"[\r\n]comment[ \t]+(?:splatrendermode:|antialiased)[ \t]+(mip|1|default|2dgs|0)\b", re.IGNORECASE)
_NAME, _SHORTEST = "meta.json", 252  # alpha of quaternions: this plus the number of the component that is left out

Reader = Callable[[str], bytes]


def load_points(path: str | os.PathLike[str], level: int | None = None) -> PointCloud | SplatCloud:
    """A cloud from PLY (points, vertices of meshes, or splats), LAS, LAZ or COPC (``hra[points]``), or SOG.

    SOG is an archive ``.sog``, or a ``meta.json`` with its pictures beside it. Of splats also ``.splat``, ``.spz`` and
    PLY as PlayCanvas compresses it are read; those with two deviations (2D Gaussian Splatting) are flat. Doubles that
    float32 would round by much count from an origin. Properties of points that have no other place are fields.

    Parameters
    ----------
    level : of a COPC file, the finest level that is read, 0 for its root; of others nothing but None.

    Raises
    ------
    FileError : it cannot be read, is of a format that is not, or holds no points. ArrayError : numbers that are not
        finite or out of range, in how many rows.
    HraError : no level, or one of a file that has none. MissingExtra : laspy is not installed.

    Warns
    -----
    RepairWarning : properties of splats, lists or further elements were left out; or see `ply_colors` and
        `warn_of_filter`.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import points
    >>> len(points.load_points(hra.samples.path("skull.ply")))
    21260
    """
    path = local_path(path)
    with naming_file(str(path)):
        return _loaded(path, level)


def _loaded(path: Path, level: int | None) -> PointCloud | SplatCloud:
    where, suffix = str(path), path.suffix.lower()
    if suffix in (".las", ".laz"):
        return read_las(path, level)
    if level is not None:
        raise HraError("only COPC files have levels", where=where, fix="leave the level out")
    if suffix in (".sog", ".json"):
        return read_sog(path)
    if suffix in NOT_READ:
        fix = "convert it to PLY, LAS or LAZ, for example by CloudCompare"
        raise FileError(f"{suffix[1:].upper()} files are not read", where=where, fix=fix)
    if suffix in (".splat", ".spz", ".ksplat"):
        return read_compact(read_regular(path), suffix, where)
    content = read_regular(path)
    if suffix != ".ply" and not content.startswith(b"ply"):
        raise FileError(f"the format {suffix[:20]!r} is not read here", where=where, fix=f"use {', '.join(READ)}")
    return _read_ply(content, where)


def _read_ply(content: bytes, where: str) -> PointCloud | SplatCloud:
    """Points or splats, by the columns of the vertices."""
    elements = read_elements(content, where)
    held = elements.get("vertex", Columns())
    modes = _MODE.findall(content, 0, content.find(b"end_header"))
    warn_of_filter(modes[-1:] in ([b"1"], [b"mip"]), where)
    others = [name for name, columns in elements.items() if name not in _ELEMENTS and _has_rows(columns)]
    for kind, names in (("elements", others), ("lists of vertices", list(held.lists))):
        if names:
            warn(f"{where}: the {kind} {', '.join(names)} were left out"[:500])
    if all(len(held.scalars.get(name, ())) for name in PACKED):
        return read_compressed_ply(elements, where)
    vertices = dict(held.scalars)
    if not all(len(vertices.get(name, ())) for name in "xyz"):
        raise FileError("the PLY file has no vertices with x, y and z", where=where)
    places = np.column_stack([vertices[name] for name in "xyz"])
    positions, origin = axis_origin(places, Extent.of(places).map_corners())
    if all(name in vertices for name in SPLAT if name != "scale_2"):
        return _splats(positions, origin, vertices, where)
    colors, shades = ply_colors(vertices, where)
    fields = {name: rows for name, rows in vertices.items() if name not in {*"xyz", "radius", *shades}}
    check_finite(where, "points", coordinates=positions, colours=colors, radii=vertices.get("radius"))
    return PointCloud(positions, colors, vertices.get("radius"), origin, fields)


def _has_rows(columns: Columns) -> bool:
    return any(map(len, columns.scalars.values())) or any(len(rows.offsets) > 1 for rows in columns.lists.values())


def _splats(positions: np.ndarray, origin: Any, vertices: dict[str, np.ndarray], where: str) -> SplatCloud:
    # 2D Gaussian Splatting has discs in the plane of the first two axes.
    flat = {"scale_2": np.full(len(positions), -np.inf)}
    named = {name: rows.astype(np.float64) for name, rows in (flat | vertices).items() if name in SPLAT}
    rest = sorted((n for n in vertices if n.startswith("f_rest_") and n[7:].isdigit()), key=lambda name: int(name[7:]))
    bands = len(rest) // 3
    if 3 * bands != len(rest) or bands not in BANDS or rest != [f"f_rest_{k}" for k in range(len(rest))]:
        raise FileError(f"{len(rest)} harmonics are not those of whole bands", where=where, fix="export it again")
    lost = [name for name, rows in vertices.items() if name not in _UNUSED and name not in rest and np.any(rows)]
    if lost:
        what = f"{where}: the properties {', '.join(lost)} of splats were left out"
        warn(what[:500])
    harmonics = None
    if bands:
        harmonics = np.column_stack([vertices[name] for name in rest]).reshape(-1, 3, bands).transpose(0, 2, 1)
    scales, rotations, colors = (
        np.column_stack([named[n] for n in part]) for part in (SPLAT[1:4], SPLAT[4:8], SPLAT[8:])
    )
    with np.errstate(over="ignore"):
        shares = 1 / (1 + np.exp(-named["opacity"]))
        shown = 0.5 + HARMONIC * colors
        shown = shown if bands else shown.clip(0, 1)
        deviations, opacities = np.exp(scales), shares.clip(0, 1)
    return checked_splats(where, positions, deviations, rotations, shown, opacities, harmonics, origin)


def save_points(path: str | os.PathLike[str], cloud: PointCloud | SplatCloud) -> None:
    """Write a cloud as binary PLY: points with colours, radii and fields, or splats as their viewers read them.

    Coordinates that count from an origin are written as doubles with it.

    To ``.laz`` points are written as COPC (``hra[points]``), see `hra.domains.points.files.copc_writing`; name it
    ``.copc.laz``, as its readers expect.

    Raises
    ------
    HraError : splats as COPC. MissingExtra : laspy is not installed.
    FileError : another format by its name; see `hra.files.atomic_write.write_atomically`.

    Warns
    -----
    RepairWarning : the coordinate system is left out of PLY; or a field gets another name, see `field_columns` and
        `hra.domains.points.files.las_dimensions`.

    Examples
    --------
    >>> import tempfile
    >>> from hra.domains import points
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     points.save_points(f"{folder}/two.ply", points.PointCloud([[0, 0, 0], [1, 0, 0]]))
    ...     len(points.load_points(f"{folder}/two.ply"))
    2
    """
    check_kind("cloud", cloud, (PointCloud, SplatCloud), "pass a cloud; trees are written by save_tree")
    suffix = local_path(path).suffix.lower()
    if suffix not in (".ply", ".laz"):
        raise FileError(f"the format {suffix[:20]!r} is not written here", where=str(path), fix="use .ply, .laz")
    if suffix == ".laz":
        if not isinstance(cloud, PointCloud):
            raise HraError("COPC holds points, not splats", where=str(path), fix="write .ply")
        return write_atomically(path, partial(write_copc, cloud=cloud))
    if isinstance(cloud, PointCloud) and cloud.crs:
        what = f"{path}: PLY has no place for the coordinate system, which was left out"
        warn(what)
    write_atomically(path, binary_table(_columns(cloud)))


def header_bytes(cloud: PointCloud | SplatCloud, count: int) -> int:
    """What the header of a PLY file takes that holds up to ``count`` rows like those of a cloud."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RepairWarning)  # fields that get other names are named once they are written
        columns = _columns(cloud)
    rows = len(cloud) * sum(values.itemsize for values in columns.values())
    return len(binary_table(columns)) - rows + len(str(count)) - len(str(len(cloud)))


def _columns(cloud: PointCloud | SplatCloud) -> dict[str, np.ndarray]:
    places = cloud.positions + np.array(cloud.origin) if any(cloud.origin) else cloud.positions
    columns = dict(zip("xyz", places.T, strict=True))
    if isinstance(cloud, SplatCloud):
        return columns | _splat_columns(cloud)
    columns |= dict(zip(COLORS, np.rint(cloud.colors * 255).astype(np.uint8).T, strict=True))
    columns |= {} if cloud.radii is None else {"radius": cloud.radii}
    return columns | field_columns(cloud.fields)


def _splat_columns(cloud: SplatCloud) -> dict[str, np.ndarray]:
    """Logarithms of standard deviations, quaternions, logits of opacity, harmonics."""
    full = cloud.covariances[:, [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(-1, 3, 3).astype(np.float64)
    variances, axes = np.linalg.eigh(full)
    axes[:, :, 0] *= np.linalg.det(axes)[:, None]  # a turn, not a mirror
    shares = cloud.opacities.astype(np.float64).clip(1e-6, 1 - 1e-6)
    values = [np.log(shares / (1 - shares)), *(0.5 * np.log(np.maximum(variances, 1e-30))).T]
    values += [*quaternions(axes).T, *((cloud.colors - 0.5) / HARMONIC).T]
    columns = {name: value.astype(np.float32) for name, value in zip(SPLAT, values, strict=True)}
    rest = cloud.harmonics.transpose(0, 2, 1).reshape(len(cloud), -1).T
    return columns | {f"f_rest_{k}": value for k, value in enumerate(rest)}


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
    """Splats of an archive ``.sog``, or of a ``meta.json`` and the pictures beside it, with their harmonics.

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
    warn_of_filter(meta.get("antialias") is True or meta.get("model") == "antialiased", where)
    low, high, turns, scales, colors = _pictures(meta, read, count, where)
    places = (low[:, :3] + 256.0 * high[:, :3]) / 65535
    ends = [_numbers(meta["means"][name], 3) for name in ("mins", "maxs")]
    places = ends[0] + (ends[1] - ends[0]) * places
    with np.errstate(over="ignore"):
        positions = np.sign(places) * np.expm1(np.abs(places))
        deviations = np.exp(_numbers(meta["scales"]["codebook"], 256)[scales[:, :3]])
    constant = 0.5 + HARMONIC * _numbers(meta["sh0"]["codebook"], 256)[colors[:, :3]]
    harmonics = _palette(meta["shN"], read, count, where) if "shN" in meta else None
    shades = constant.clip(0, 1) if harmonics is None else constant
    turned, opacities = _quaternions(turns), colors[:, 3] / 255
    return checked_splats(where, positions, deviations, turned, shades, opacities, harmonics)


def _palette(entry: dict[str, Any], read: Reader, count: int, where: str) -> np.ndarray:
    """Harmonics [P, K, 3]: each splat names a set in a picture, 64 beside each other, of bytes into a codebook."""
    bands = BANDS[entry["bands"]]
    (sets, labels), codebook = _shapes(entry["files"], read, where), _numbers(entry["codebook"], 256)
    if sets.shape[1] != 64 * bands or labels.shape[0] * labels.shape[1] < count:
        raise ValueError("the pictures of its harmonics are of other sizes than it says")
    labels = labels.reshape(-1, 4)[:count].astype(np.int64)
    number = labels[:, 0] + 256 * labels[:, 1]
    if number.max(initial=0) >= 64 * sets.shape[0]:
        raise ValueError("a splat names harmonics that are not there")
    columns = (number % 64 * bands)[:, None] + np.arange(bands)
    return codebook[sets[(number // 64)[:, None], columns, :3]]


def _pictures(meta: dict[str, Any], read: Reader, count: int, where: str) -> list[np.ndarray]:
    """The first ``count`` pixels, RGBA uint8 [P, 4], of means (low and high bytes), turns, scales and colours."""
    names = [*meta["means"]["files"][:2], *(meta[part]["files"][0] for part in ("quats", "scales", "sh0"))]
    found = [pixels.reshape(-1, 4)[:count] for pixels in _shapes(names, read, where)]
    if len(found) != 5 or any(len(pixels) != count for pixels in found):
        raise ValueError(f"its pictures are smaller than the {count} splats")
    return found


def _shapes(names: list[Any], read: Reader, where: str) -> list[np.ndarray]:
    """Pictures as they are, RGBA uint8 [H, W, 4]."""
    found = []
    for name in names:
        if not isinstance(name, str) or Path(name).name != name:
            raise ValueError(f"the picture {name!r} does not lie beside {_NAME}")
        with decoded_upright(io.BytesIO(read(name)), f"{where}: {name}", DEFAULT.pixels) as image:
            found.append(np.asarray(image.convert("RGBA")))
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
