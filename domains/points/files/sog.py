"""SOG, the compressed splats of PlayCanvas: pictures in WebP, in one archive or beside their ``meta.json``.

Source: PlayCanvas, SOG file format, version 2 (2025).
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from hra.domains.points.splat_cloud import SplatCloud
from hra.errors import FileError, HraError
from hra.files.images.opening import decoded_upright
from hra.files.json_text import parse_object
from hra.files.limits import DEFAULT
from hra.files.local_files import read_regular

# The constant harmonic: colours are 1/2 plus this times the coefficient.
HARMONIC = 0.28209479177387814
_NAME, _SHORTEST = "meta.json", 252  # alpha of quaternions: this plus the number of the component that is left out

Reader = Callable[[str], bytes]


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
            return _splats(read_regular(path), lambda name: read_regular(path.parent / name), where)
        data = read_regular(path)
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            DEFAULT.check_archive(sum(entry.file_size for entry in archive.infolist()), len(data), where)
            return _splats(archive.read(_NAME), archive.read, where)
    except HraError:
        raise
    except (ValueError, KeyError, TypeError, IndexError, EOFError, OverflowError) as error:
        raise _refused(f"{type(error).__name__}: {error}", where) from error
    except (OSError, RuntimeError, NotImplementedError, zipfile.BadZipFile, zipfile.LargeZipFile) as error:
        raise _refused(str(error), where) from error


def _refused(what: str, where: str) -> FileError:
    fix = "write it again by splat-transform, or as PLY"
    return FileError(f"this is not a SOG file of version 2: {what}", where=where, fix=fix)


def _splats(text: bytes, read: Reader, where: str) -> SplatCloud:
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
