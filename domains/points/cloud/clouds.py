"""Clouds: points as discs that face the viewer, and Gaussian splats as ellipsoids; their arrays are checked once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hra.errors import ArrayError


def rows(name: str, values: Any, shape: tuple[int | None, ...], low: float = -np.inf, high: float = np.inf) -> Any:
    """``values`` as read-only float32 of this shape (None for any length), within [low, high].

    Raises
    ------
    ArrayError : another shape, no numbers, or a number that is not finite or out of range.
    """
    given = np.asarray(values)
    fits = len(given.shape) == len(shape) and all(b in (None, a) for a, b in zip(given.shape, shape, strict=True))
    if not fits or given.dtype.kind not in "iuf":
        expected = ", ".join("P" if part is None else str(part) for part in shape)
        raise ArrayError(f"{name} must be numbers [{expected}], got {given.dtype} {list(given.shape)}", where=name)
    with np.errstate(over="ignore"):
        array = np.array(given, np.float32)
    usable = (array >= low) & (array <= high) & np.isfinite(array)
    bad = np.flatnonzero(~usable.all(axis=tuple(range(1, usable.ndim))))
    if bad.size:
        what = f"{name}[{bad[0]}] is {given[bad[0]].tolist()}"
        raise ArrayError(what, where=name, fix=f"finite numbers from {low:g} to {high:g}")
    array.flags.writeable = False
    return array


@dataclass(frozen=True, eq=False)
class PointCloud:
    """Points as discs that face the viewer.

    Parameters
    ----------
    positions : float32 [P, 3], P >= 1. colors : float32 [P, 3] in 0 .. 1 as they are shown (sRGB), grey by default.
    radii : float32 [P] >= 0, world units; by default the side of the square that a point has to itself on a surface,
        estimated from its neighbours when a tree is built.

    Raises
    ------
    ArrayError : another shape, no points, or numbers out of range.

    Examples
    --------
    >>> from hra.domains import points
    >>> cloud = points.PointCloud([[0, 0, 0], [1, 0, 0]])
    >>> len(cloud), cloud.colors[0].tolist()
    (2, [0.5, 0.5, 0.5])
    """

    positions: Any
    colors: Any = None
    radii: Any = None

    unit: ClassVar[str] = "points"
    row_bytes: ClassVar[int] = 19  # in PLY: position and radius as float32, three bytes of colour

    def __post_init__(self) -> None:
        positions = rows("positions", self.positions, (None, 3))
        if not len(positions):
            raise ArrayError("there are no points", where="positions")
        colors = np.full(positions.shape, 0.5) if self.colors is None else self.colors
        object.__setattr__(self, "positions", positions)
        object.__setattr__(self, "colors", rows("colors", colors, positions.shape, 0, 1))
        if self.radii is not None:
            object.__setattr__(self, "radii", rows("radii", self.radii, (len(positions),), 0))

    def __len__(self) -> int:
        """Number of points P."""
        return len(self.positions)


@dataclass(frozen=True, eq=False)
class SplatCloud:
    """3D Gaussians as B. Kerbl and others draw them (3D Gaussian Splatting, 2023), of one colour for all directions.

    Parameters
    ----------
    positions : float32 [P, 3], P >= 1; covariances : float32 [P, 6] as xx, xy, xz, yy, yz, zz, world units squared,
        the diagonal >= 0. colors : float32 [P, 3] in 0 .. 1; opacities : float32 [P] in 0 .. 1, at the centre.

    Raises
    ------
    ArrayError : another shape, no splats, or numbers out of range.

    Examples
    --------
    >>> from hra.domains import points
    >>> points.SplatCloud.of([[0, 0, 0]], [[1, 1, 2]], [[1, 0, 0, 0]], [[1, 0, 0]], [0.5]).covariances.tolist()
    [[1.0, 0.0, 0.0, 1.0, 0.0, 4.0]]
    """

    positions: Any
    covariances: Any
    colors: Any
    opacities: Any

    unit: ClassVar[str] = "splats"
    row_bytes: ClassVar[int] = 56  # 14 float32 of the splat PLY without further harmonics

    def __post_init__(self) -> None:
        positions = rows("positions", self.positions, (None, 3))
        if not len(positions):
            raise ArrayError("there are no splats", where="positions")
        covariances = rows("covariances", self.covariances, (len(positions), 6))
        rows("covariances", covariances[:, [0, 3, 5]], (None, 3), 0)
        object.__setattr__(self, "positions", positions)
        object.__setattr__(self, "covariances", covariances)
        object.__setattr__(self, "colors", rows("colors", self.colors, positions.shape, 0, 1))
        object.__setattr__(self, "opacities", rows("opacities", self.opacities, (len(positions),), 0, 1))

    def __len__(self) -> int:
        """Number of splats P."""
        return len(self.positions)

    @classmethod
    def of(cls, positions: Any, scales: Any, rotations: Any, colors: Any, opacities: Any) -> SplatCloud:
        """From standard deviations [P, 3] along axes that quaternions [P, 4] (w, x, y, z) turn."""
        scales = rows("scales", scales, (None, 3), 0)
        w, x, y, z = _unit(rows("rotations", rotations, (len(scales), 4))).T
        turned = np.stack(
            [
                *(1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
                *(2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
                *(2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
            ],
            axis=1,
        ).reshape(-1, 3, 3)
        full = (turned * scales[:, None].astype(float) ** 2) @ turned.transpose(0, 2, 1)
        return cls(positions, full[:, [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]], colors, opacities)


def _unit(quaternions: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(quaternions.astype(float), axis=1, keepdims=True)
    return np.where(length > 0, quaternions / np.where(length > 0, length, 1), [1.0, 0, 0, 0])
