"""Camera poses from the text files of SLAM benchmarks."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from hra.camera import Camera
from hra.errors import FileError
from hra.files.limits import POSES
from hra.files.local_files import read_regular


@dataclass(frozen=True, eq=False)
class Poses:
    """Where a camera was and where it looked in each of F frames.

    Attributes
    ----------
    position : float64 [F, 3], world units.
    rotation : float64 [F, 3, 3], camera to world; the camera looks along its +z axis and +y points down, as in
        computer vision.
    up : the axis across the ground: 1 (y) in KITTI's files, 2 (z) in TUM's.
    """

    position: np.ndarray
    rotation: np.ndarray
    up: int

    def __len__(self) -> int:
        """Number of frames."""
        return len(self.position)

    def every(self, step: int) -> Poses:
        """Each ``step``-th pose."""
        return Poses(self.position[::step], self.rotation[::step], self.up)

    def on_ground(self) -> tuple[np.ndarray, np.ndarray]:
        """Positions and view directions over the ground, float64 [F, 2] each, as `GroundTexture.trace` takes them."""
        ground = [axis for axis in range(3) if axis != self.up]
        return self.position[:, ground], self.rotation[:, ground, 2]

    def cameras(self, *, vertical_fov_degrees: float = 60, viewport: tuple[int, int] = (1920, 1080)) -> list[Camera]:
        """A pinhole camera per pose, with a lens that the files do not tell."""
        lens = {"vertical_fov_degrees": vertical_fov_degrees, "viewport": viewport}
        return [
            Camera.perspective(eye, eye + turned[:, 2], -turned[:, 1], **lens)
            for eye, turned in zip(self.position, self.rotation, strict=True)
        ]


def load_poses(path: str | os.PathLike[str]) -> Poses:
    """Read a text file of poses in the KITTI or the TUM format, which the number of columns tells apart.

    KITTI odometry: 12 numbers per line, the rows of [R | t]. TUM RGB-D: time, position (3), quaternion x y z w; lines
    that begin with # are comments.

    Raises
    ------
    FileError : the file cannot be read, or a line has another number of columns, is not finite or is not a rotation.
    """
    rows = _rows(path)
    poses = _from_kitti(rows) if rows.shape[1] == 12 else _from_tum(rows, path)
    turned = poses.rotation @ poses.rotation.transpose(0, 2, 1)
    bad = np.abs(turned - np.eye(3)).max(axis=(1, 2)) > 1e-3
    bad |= np.linalg.det(poses.rotation) < 0
    if bad.any():
        raise FileError("the matrix is not a rotation", where=f"{path}, pose {int(bad.argmax())}")
    return poses


def _rows(path: str | os.PathLike[str]) -> np.ndarray:
    """The numbers of all lines that are not comments [F, 8 or 12]."""
    lines = [line.split() for line in _text(path).splitlines() if line.strip() and not line.lstrip().startswith("#")]
    columns = len(lines[0]) if lines else 0
    if columns not in (8, 12):
        fix = "use 12 columns (KITTI) or 8 (TUM)"
        raise FileError(f"no poses: the first line has {columns} columns", where=str(path), fix=fix)
    for number, line in enumerate(lines):
        if len(line) != columns:
            raise FileError(f"{len(line)} columns instead of {columns}", where=f"{path}, pose {number}")
    try:
        # Number by number: as one array of texts, a single long one would make all of them as long.
        rows = np.array([[float(word) for word in line] for line in lines])
    except ValueError as error:
        raise FileError(f"not a number: {error}", where=str(path)) from error
    # Squares of larger numbers would overflow.
    if not (np.abs(rows) < 1e150).all():
        raise FileError(
            "a number is not finite", where=f"{path}, pose {int((~(np.abs(rows) < 1e150)).any(1).argmax())}"
        )
    return rows


def _text(path: str | os.PathLike[str]) -> str:
    try:
        return read_regular(path, POSES).decode("utf-8")
    except UnicodeDecodeError as error:
        raise FileError("the file is not text", where=str(path)) from error


def _from_kitti(rows: np.ndarray) -> Poses:
    matrix = rows.reshape(-1, 3, 4)
    return Poses(matrix[:, :, 3].copy(), matrix[:, :, :3].copy(), up=1)


def _from_tum(rows: np.ndarray, path: str | os.PathLike[str]) -> Poses:
    quaternion = rows[:, 4:]
    length = np.linalg.norm(quaternion, axis=1, keepdims=True)
    if (length < 1e-6).any():
        raise FileError("the quaternion is zero", where=f"{path}, pose {int(length.argmin())}")
    x, y, z, w = (quaternion / length).T
    rotation = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    return Poses(rows[:, 1:4].copy(), rotation.transpose(2, 0, 1), up=2)
