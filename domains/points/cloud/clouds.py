"""Clouds: points as discs that face the viewer, and Gaussian splats as ellipsoids; their arrays are checked once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from hra.errors import ArrayError, check_kind

# How many harmonics the bands up to each have, the constant one aside.
BANDS = (0, 3, 8, 15)
# What float32 and sums over a tree may put minors of covariances off by, as a share of the product of the diagonal.
_ROUNDED = 1e-3


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


def _origin(values: Any) -> tuple[float, float, float]:
    try:
        found = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.shape != (3,) or not np.isfinite(found).all():
        raise ArrayError(f"the origin must be three finite numbers, got {values!r}"[:200], where="origin")
    x, y, z = found.tolist()
    return x, y, z


@dataclass(frozen=True, eq=False)
class PointCloud:
    """Points as discs that face the viewer.

    Parameters
    ----------
    positions : float32 [P, 3], P >= 1, relative to the origin. colors : float32 [P, 3] in 0 .. 1 as they are shown
        (sRGB), grey by default.
    radii : float32 [P] >= 0, world units; by default the side of the square that a point has to itself on a surface,
        estimated from its neighbours when a tree is built.
    origin : float64 [3], what is added to positions in files; the cloud, its trees and their cameras do without.
    fields : what else points carry, by name: numbers [P] or [P, k] of any type, such as "classification".
    crs : the coordinate system as LAS files hold it: records of LASF_Projection by number, 2112 for WKT, 34735 to 34737
        for GeoTIFF.

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
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)
    fields: Mapping[str, Any] = field(default_factory=dict)
    crs: Mapping[int, bytes] = field(default_factory=dict)

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
        object.__setattr__(self, "origin", _origin(self.origin))
        check_kind("fields", self.fields, Mapping, "pass a dict from the name of each field to its values [P]")
        object.__setattr__(self, "fields", {name: _field(name, v, len(positions)) for name, v in self.fields.items()})

    def __len__(self) -> int:
        """Number of points P."""
        return len(self.positions)


def _field(name: str, values: Any, count: int) -> np.ndarray:
    found = np.array(values)
    if found.ndim not in (1, 2) or len(found) != count or found.dtype.kind not in "iufb":
        what = f"the field {name!r} must be numbers [{count}] or [{count}, k], got {found.dtype} {list(found.shape)}"
        raise ArrayError(what[:300], where="fields")
    found.flags.writeable = False
    return found


@dataclass(frozen=True, eq=False)
class SplatCloud:
    """3D Gaussians as B. Kerbl and others draw them (3D Gaussian Splatting, 2023).

    Parameters
    ----------
    positions : float32 [P, 3], P >= 1, relative to the origin; covariances : float32 [P, 6] as xx, xy, xz, yy, yz, zz,
        world units squared, the diagonal >= 0. colors : float32 [P, 3], the mean over all directions as it is shown
        (sRGB); 0 to 1 without harmonics. opacities : float32 [P] in 0 .. 1, at the centre.
    harmonics : float32 [P, K, 3], what directions add to the colours: coefficients of the spherical harmonics of the
        bands 1 to 3, K = 3, 8 or 15 of them, in the order of the splat PLY; none by default.
    origin : as of `PointCloud`.

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
    harmonics: Any = None
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)

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
        harmonics = np.zeros((len(positions), 0, 3)) if self.harmonics is None else self.harmonics
        harmonics = rows("harmonics", harmonics, (len(positions), None, 3))
        if harmonics.shape[1] not in BANDS:
            what = f"{harmonics.shape[1]} harmonics are not those of whole bands"
            raise ArrayError(what, where="harmonics", fix="pass 0, 3, 8 or 15")
        ends = (-np.inf, np.inf) if harmonics.shape[1] else (0, 1)
        object.__setattr__(self, "colors", rows("colors", self.colors, positions.shape, *ends))
        object.__setattr__(self, "opacities", rows("opacities", self.opacities, (len(positions),), 0, 1))
        object.__setattr__(self, "harmonics", harmonics)
        object.__setattr__(self, "origin", _origin(self.origin))

    def __len__(self) -> int:
        """Number of splats P."""
        return len(self.positions)

    def seen_from(self, eye: Any) -> np.ndarray:
        """Colours [P, 3] in 0 .. 1 as they look from a point [3], float32."""
        if not self.harmonics.shape[1]:
            return self.colors
        away = self.positions - np.asarray(eye, np.float64)
        away /= np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-30)
        weights = harmonic_weights(away, self.harmonics.shape[1])
        added = np.einsum("pk,pkc->pc", weights, self.harmonics)
        return (self.colors + added).clip(0, 1).astype(np.float32)

    @classmethod
    def of(
        cls,
        positions: Any,
        scales: Any,
        rotations: Any,
        colors: Any,
        opacities: Any,
        harmonics: Any = None,
        origin: tuple[float, float, float] = (0.0, 0.0, 0.0),
    ) -> SplatCloud:
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
        covariances = full[:, [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]
        return cls(positions, covariances, colors, opacities, harmonics, origin)


def check_gaussians(covariances: np.ndarray) -> None:
    """Refuse what is no covariance [P, 6]: a minor below 0 by more than roundings, as of numbers in another order.

    Raises
    ------
    ArrayError : names the first that is none.
    """
    xx, xy, xz, yy, yz, zz = covariances.T.astype(np.float64)
    a, b, c = (variance + float(np.finfo(np.float32).tiny) for variance in (xx, yy, zz))
    whole = xx * yy * zz + 2 * xy * xz * yz - xx * yz**2 - yy * xz**2 - zz * xy**2
    minors = ((1 + _ROUNDED) * a * b - xy**2, (1 + _ROUNDED) * a * c - xz**2, (1 + _ROUNDED) * b * c - yz**2)
    bad = np.flatnonzero(np.min([*minors, whole + _ROUNDED * a * b * c], axis=0) < 0)
    if bad.size:
        what = (
            f"covariances[{bad[0]}] is {covariances[bad[0]].tolist()}, which is of no Gaussian: a variance is below 0"
        )
        raise ArrayError(what, where="covariances", fix="pass xx, xy, xz, yy, yz, zz, in this order")


def harmonic_weights(directions: np.ndarray, count: int) -> np.ndarray:
    """Real spherical harmonics of the bands 1 to 3 in unit directions [P, 3] from the eye, float64 [P, count].

    Source: the constants and signs of B. Kerbl and others (2023), after P.-P. Sloan, Efficient Spherical Harmonic
    Evaluation (2013).
    """
    x, y, z = directions.T
    found = [-0.4886025119029199 * y, 0.4886025119029199 * z, -0.4886025119029199 * x]
    if count > 3:
        found += [1.0925484305920792 * x * y, -1.0925484305920792 * y * z]
        found += [0.31539156525252005 * (2 * z * z - x * x - y * y)]
        found += [-1.0925484305920792 * x * z, 0.5462742152960396 * (x * x - y * y)]
    if count > 8:
        found += [-0.5900435899266435 * y * (3 * x * x - y * y), 2.890611442640554 * x * y * z]
        found += [-0.4570457994644658 * y * (4 * z * z - x * x - y * y)]
        found += [0.3731763325901154 * z * (2 * z * z - 3 * x * x - 3 * y * y)]
        found += [-0.4570457994644658 * x * (4 * z * z - x * x - y * y)]
        found += [1.445305721320277 * z * (x * x - y * y), -0.5900435899266435 * x * (x * x - 3 * y * y)]
    return np.stack(found, axis=1)


def _unit(quaternions: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(quaternions.astype(float), axis=1, keepdims=True)
    return np.where(length > 0, quaternions / np.where(length > 0, length, 1), [1.0, 0, 0, 0])
