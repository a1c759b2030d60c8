"""How a command places its camera: around the object, from one point to another, or from a file.

Amounts are read as people write them: ``10k`` triangles, ``2.5M``, ``64MB``, ``1920x1080``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hra.errors import ArrayError, CameraError, FileError, HraError
from hra.files.json_text import parse_object
from hra.files.local_files import read_regular

if TYPE_CHECKING:
    import numpy as np

    from hra.camera import Camera

ViewportOption = Annotated[str, typer.Option(help="Screen size.")]
# Of every command, so that an error in pixels means the same in all of them.
VIEWPORT = "1920x1080"
_AZIMUTH, _ELEVATION = 30.0, 10.0
# Of meshes, as in glTF.
UP = (0.0, 1.0, 0.0)
_POINTS, _MATRICES = ("eye", "target", "up"), ("view", "projection")
_NUMBERS = ("vertical_fov_degrees", "near")
_COUNTS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}
_BYTES = {
    **{"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30},
    **{unit: size for unit, size in _COUNTS.items() if unit},
}
_MOST_BYTES = 10**15


def count(text: str) -> float:
    """``10k``, ``2.5M``, ``1e4`` or ``10_000`` as a number; k is 1e3, M is 1e6.

    Raises
    ------
    HraError : no such number.
    """
    try:
        return _number(text, _COUNTS, "kKmMgG")
    except (ValueError, KeyError) as error:
        fix = "write it as 10000, 10k or 2.5M"
        raise HraError(f"{text[:60]!r} is not a number", fix=fix) from error


def whole_count(text: str | int) -> int:
    """`count` for things that cannot be divided: ``273`` or ``10k``; an option's default is a number already.

    Raises
    ------
    HraError : no whole number >= 0.
    """
    text = str(text)
    if text.isdecimal() and len(text) < 400:  # every digit counts, of numbers beyond 2**53 too
        return int(text)
    value = count(text)
    if not (math.isfinite(value) and value >= 0 and value == int(value)):
        raise HraError(f"{text[:60]!r} is not a whole number >= 0", fix="write 273 or 10k")
    return int(value)


def byte_count(text: str) -> int:
    """``64MB``, ``512KiB``, ``500k`` or ``4096`` as bytes; MB is 1e6, MiB is 2**20.

    Raises
    ------
    HraError : not a non-negative number with an optional unit.
    """
    try:
        value = _number(text, _BYTES, "bBkKmMgGiI")
    except (ValueError, KeyError) as error:
        fix = "write it as 64MB, 512KiB or 4096"
        raise HraError(f"{text[:60]!r} is not a byte count", fix=fix) from error
    # Bytes are counted in int64, and numbers of bytes are added up.
    if not 0 <= value <= _MOST_BYTES:
        raise HraError(f"{text[:60]!r} is not a byte count", fix="use a number from 0 to 1e15")
    return int(value)


def _number(text: str, units: dict[str, int], letters: str) -> float:
    plain = text.strip()
    number = plain.rstrip(letters)
    return float(number) * units[plain[len(number) :].lower()]


def size(text: str, option: str = "--viewport") -> tuple[int, int]:
    """``1920x1080`` as (1920, 1080).

    Parameters
    ----------
    option : that it was given for.

    Raises
    ------
    HraError : not two whole numbers of at least 1.
    """
    sides = text.lower().split("x")
    if len(sides) != 2 or not all(re.fullmatch("[0-9]{1,9}", side) and int(side) for side in sides):
        raise HraError(f"{text[:60]!r} is not a size", where=option, fix="write it as 1920x1080")
    return int(sides[0]), int(sides[1])


@dataclass(frozen=True)
class CameraOptions:
    """Where the camera is, as it was given."""

    azimuth: Annotated[float | None, typer.Option(help="Camera around the mesh, degrees.")] = None
    elevation: Annotated[float | None, typer.Option(help="Camera above the mesh, degrees.")] = None
    distance: Annotated[float | None, typer.Option(help="Camera to centre; by default it fills the picture.")] = None
    up: Annotated[
        str | None,
        typer.Option(
            help="The upward direction; by default y, -y of splats, z of clouds with a coordinate system, away from "
            "the ground of tilesets.",
            metavar="X,Y,Z",
        ),
    ] = None
    eye: Annotated[str | None, typer.Option(help="Camera at this point instead.", metavar="X,Y,Z")] = None
    target: Annotated[str | None, typer.Option(help="Point to look at; the centre by default.", metavar="X,Y,Z")] = None
    camera_file: Annotated[
        Path | None, typer.Option("--camera", help="Camera from a JSON file: eye, target, up, or view and projection.")
    ] = None

    @property
    def from_one_side(self) -> bool:
        """Whether a direction was given; without one a mesh is wanted for all sides."""
        return any(given is not None for given in (self.azimuth, self.elevation, self.eye, self.camera_file))

    def upward(self, usual: Sequence[float] = UP) -> list[float]:
        """The upward direction; ``usual``: the one if none was given.

        Raises
        ------
        HraError : text that is not a vector.
        """
        return [*usual] if self.up is None else vector(self.up, "--up")

    def camera(
        self,
        points: np.ndarray,
        screen: str,
        origin: Sequence[float] = (0.0, 0.0, 0.0),
        usual_up: Sequence[float] = UP,
    ) -> Camera:
        """The camera for an object of these points [N, 3], such as corners of boxes, and a screen like ``1920x1080``.

        Parameters
        ----------
        origin : what the points count from. Places that were given count from 0, those of the camera from here.
        usual_up : the upward direction if none was given.

        Raises
        ------
        HraError : options that exclude each other, or text that is not a vector or size.
        CameraError : no such camera is possible.
        FileError : the camera file is missing or malformed.
        """
        self._check()
        viewport, up = size(screen), self.upward(usual_up)
        if self.camera_file is not None:
            import numpy as np

            placement = np.eye(4)
            placement[:3, 3] = origin
            found = _from_file(self.camera_file, viewport)
            return found.seen_from(placement) if any(origin) else found
        if self.eye is not None:
            middle = ((points.min(axis=0) + points.max(axis=0)) / 2).tolist()
            eye, center = vector(self.eye, "--eye"), None if self.target is None else vector(self.target, "--target")
            eye, center = ([a - b for a, b in zip(place, origin, strict=True)] for place in (eye, center or middle))
            ends = {"eye": eye, "target": middle if self.target is None else center}
            return _between({**ends, "up": up}, viewport)
        return self._around(points, up, viewport)

    def _check(self) -> None:
        """Refuse options of which one would be ignored."""
        around = {"--azimuth": self.azimuth, "--elevation": self.elevation, "--distance": self.distance}
        if self.camera_file is not None:
            chosen, others = "--camera", {"--eye": self.eye, "--target": self.target, "--up": self.up} | around
        elif self.eye is not None:
            chosen, others = "--eye", around
        elif self.target is not None:
            raise HraError("a target without an eye", where="--target", fix="add --eye, or use --azimuth")
        else:
            return
        if given := [name for name, value in others.items() if value is not None]:
            raise HraError("the camera is given twice", where=chosen, fix=f"leave out {', '.join(given)}")

    def _around(self, points: np.ndarray, up: Any, viewport: tuple[int, int]) -> Camera:
        from hra.camera import Camera
        from hra.camera.framing import fit_camera

        azimuth = _AZIMUTH if self.azimuth is None else self.azimuth
        elevation = _ELEVATION if self.elevation is None else self.elevation
        if self.distance is None:
            return fit_camera(points, azimuth, elevation, up=up, viewport=viewport)
        bounds = points.min(axis=0), points.max(axis=0)
        return Camera.orbit(bounds, azimuth, elevation, self.distance, up=up, viewport=viewport)


def _between(placed: dict[str, Any], viewport: tuple[int, int]) -> Camera:
    """A camera from its eye to its target; the near plane, if none is given, does not depend on the unit of length."""
    from hra.camera import Camera
    from hra.model.arrays import numbers

    if "near" not in placed:
        ends = (numbers(name, placed[name], 3) for name in ("eye", "target"))
        placed = {**placed, "near": max(math.dist(*ends), 1e-30) / 1000}
    return Camera.perspective(**placed, viewport=viewport)


def vector(text: str, where: str) -> list[float]:
    """``1,2,3`` as numbers.

    Raises
    ------
    HraError : not three numbers.
    """
    try:
        x, y, z = (float(part) for part in text.split(","))
    except ValueError as error:
        raise HraError(f"{text!r} is not a point", where=where, fix="write it as 1,2,3") from error
    return [x, y, z]


def _from_file(file: Path, viewport: tuple[int, int]) -> Camera:
    """A camera of the keys eye, target, up ..., or of view and projection; a viewport may stand beside them."""
    from hra.camera import Camera

    record = _read(file)
    viewport = tuple(record.pop("viewport", viewport))
    try:
        if set(record) == set(_MATRICES):
            return Camera.from_matrices(record["view"], record["projection"], viewport)
        if not {"eye", "target"} <= set(record) <= {*_POINTS, *_NUMBERS}:
            keys = f"{', '.join(_POINTS)}, {', '.join(_NUMBERS)}, or {' and '.join(_MATRICES)}"
            fix = 'write {"eye": [0, 0, 5], "target": [0, 0, 0]}'
            raise FileError(
                f"a camera file has the keys {keys}, this one {', '.join(record)}", where=str(file), fix=fix
            )
        return _between(record, viewport)
    except (CameraError, ArrayError, TypeError, ValueError) as error:
        reason = getattr(error, "what", error)
        raise FileError(f"the camera file gives no camera: {reason}", where=str(file)) from error


def _read(file: Path) -> dict[str, Any]:
    record = parse_object(read_regular(file), "camera file", str(file))
    if not isinstance(record.get("viewport", []), list):
        raise FileError("the viewport is not a list", where=str(file), fix='write "viewport": [1920, 1080]')
    return record
