"""Camera paths: poses from the text files of SLAM benchmarks, and seeded drives and walks over a ground texture.

A drive goes through streets and comes back to some; a walk goes over terrain.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from hra.camera import Camera
from hra.errors import FileError
from hra.files.limits import POSES
from hra.files.local_files import read_regular
from hra.model.arrays import POSITIVE, whole_in
from hra.residency import GroundTexture, Trace

# Streets and speed of the residential drive that sequence 00 of KITTI odometry records, at 5 frames per second.
_BLOCK = 90.0
_STREETS = (8, 8)
_STEP = 1.64


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
        """Each ``step``-th pose; HraError : no whole number of 1 or more."""
        step = whole_in("step", step, POSITIVE)
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


def kitti_like(frames: int = 2271, seed: int = 0) -> Trace:
    """A car that drives through a grid of streets and comes by known places again, over a ground of 64 texels/metre.

    The sizes follow a trace made from the poses of KITTI odometry 00 (Geiger et al. 2012): about 364 tiles per frame,
    48,000 tiles and 827,000 references. The path itself is random.

    Raises
    ------
    HraError : no frame, or a seed that is no whole number from 0.
    """
    random = _random(frames, seed)
    corners = _street_corners(random, int(frames * _STEP * 1.5 / _BLOCK) + 3)
    path = _along(corners, _speeds(random, frames, _STEP))
    return GroundTexture().trace(path, _headings(path))


def terrain_walk(frames: int = 1200, seed: int = 0) -> Trace:
    """A walker who wanders over terrain of 16 texels/metre and looks around; errors as in `kitti_like`."""
    random = _random(frames, seed)
    turn = np.cumsum(_smooth(random.normal(0, 0.05, frames), 15))
    path = np.cumsum(0.5 * np.stack([np.cos(turn), np.sin(turn)], axis=1), axis=0)
    look = turn + np.cumsum(_smooth(random.normal(0, 0.2, frames), 30))
    ground = GroundTexture(texels_per_metre=16.0, near=1.5, far=400.0)
    return ground.trace(path, np.stack([np.cos(look), np.sin(look)], axis=1))


def _random(frames: int, seed: int) -> np.random.Generator:
    whole_in("frames", frames, POSITIVE)
    return np.random.default_rng(whole_in("seed", seed))


def _street_corners(random: np.random.Generator, count: int) -> np.ndarray:
    """A random walk over crossings that never turns back at once, metres [count, 2]."""
    crossings = [np.array([_STREETS[0] // 2, _STREETS[1] // 2])]
    direction = np.array([1, 0])
    while len(crossings) < count:
        left = np.array([-direction[1], direction[0]])
        choices = [
            d for d in (direction, left, -left) if ((crossings[-1] + d >= 0) & (crossings[-1] + d < _STREETS)).all()
        ]
        direction = choices[random.integers(len(choices))]
        crossings.append(crossings[-1] + direction)
    return np.array(crossings) * _BLOCK


def _along(corners: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Positions [F, 2] after steps [F] along the corners, which are rounded."""
    distance = np.cumsum(step)
    milestones = np.arange(len(corners)) * _BLOCK
    path = np.stack([np.interp(distance, milestones, corners[:, axis]) for axis in range(2)], axis=1)
    return np.stack([_smooth(path[:, axis], 9) for axis in range(2)], axis=1)


def _speeds(random: np.random.Generator, frames: int, mean: float) -> np.ndarray:
    """Steps that vary smoothly around their mean [F]."""
    wave = _smooth(random.normal(0, 1, frames), 45)
    return mean * np.clip(1 + wave, 0.2, 1.8)


def _headings(path: np.ndarray) -> np.ndarray:
    """Directions of a path [F, 2]; where it stands still, that of the frame before."""
    ahead = np.gradient(path, axis=0) if len(path) > 1 else np.ones_like(path)
    moving = np.linalg.norm(ahead, axis=1) > 1e-9
    last = np.maximum.accumulate(np.where(moving, np.arange(len(path)), moving.argmax()))
    return ahead[last]


def _smooth(values: np.ndarray, width: int) -> np.ndarray:
    """Moving average over an odd or even ``width``; the ends repeat."""
    padded = np.pad(values, (width // 2, width - 1 - width // 2), mode="edge")
    return np.convolve(padded, np.full(width, 1 / width), mode="valid")
