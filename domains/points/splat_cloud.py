"""Gaussian splats: ellipsoids of colour and opacity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hra.domains.points.checks import rows
from hra.errors import ArrayError


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
