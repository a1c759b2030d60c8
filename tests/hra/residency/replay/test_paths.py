"""Poses, the ground and the made-up paths."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from hra.errors import FileError, HraError
from hra.residency import Trace, load_poses
from hra.residency.replay.paths import kitti_like, terrain_walk

KITTI = "1 0 0 2 0 1 0 3 0 0 1 4\n0 0 1 5 0 1 0 6 -1 0 0 7\n"
TUM = "# time tx ty tz qx qy qz qw\n0.0 1 2 3 0 0 0 1\n0.1 4 5 6 0 0.70710678 0 0.70710678\n"


def test_kitti_poses(tmp_path: Path):
    (tmp_path / "p.txt").write_text(KITTI)
    poses = load_poses(tmp_path / "p.txt")
    assert poses.position.tolist() == [[2, 3, 4], [5, 6, 7]]
    position, heading = poses.on_ground()
    assert position.tolist() == [[2, 4], [5, 7]]
    assert heading.tolist() == [[0, 1], [1, 0]]
    assert len(poses.every(2)) == 1


def test_tum_poses_turn_as_their_quaternions_say(tmp_path: Path):
    (tmp_path / "p.txt").write_text(TUM)
    poses = load_poses(tmp_path / "p.txt")
    assert np.allclose(poses.rotation[1], [[0, 0, 1], [0, 1, 0], [-1, 0, 0]], atol=1e-6)
    assert poses.on_ground()[0].tolist() == [[1, 2], [4, 5]]


def test_cameras_look_where_the_poses_do(tmp_path: Path):
    (tmp_path / "p.txt").write_text(KITTI)
    straight, turned = load_poses(tmp_path / "p.txt").cameras(viewport=(64, 48))
    assert np.allclose(straight.project([[2, 3, 14]]).pixels, [[32, 24]])
    assert np.allclose(turned.project([[15, 6, 7]]).pixels, [[32, 24]])
    # +y points down, x to the right.
    right, below = straight.project([[3, 3, 14], [2, 4, 14]]).pixels
    assert right[0] > 32
    # Rows of pixels count downwards.
    assert below[1] > 24
    assert np.allclose(straight.position, [2, 3, 4])


BAD = {
    "empty": "",
    "comments only": "# nothing\n",
    "other columns": "1 2 3\n",
    "ragged": KITTI + "1 2\n",
    "words": KITTI.replace("2", "two"),
    "not a number": KITTI.replace("7", "nan"),
    "infinite": KITTI.replace("7", "inf"),
    "not a rotation": KITTI.replace("-1", "-2"),
    "mirrored": "1 0 0 2 0 1 0 3 0 0 -1 4\n",
    "zero quaternion": "0 1 2 3 0 0 0 0\n",
}


@pytest.mark.parametrize("text", BAD.values(), ids=BAD.keys())
def test_bad_pose_files_are_refused(tmp_path: Path, text: str):
    (tmp_path / "p.txt").write_text(text)
    with pytest.raises(FileError) as error:
        load_poses(tmp_path / "p.txt")
    assert "p.txt" in error.value.where


def test_files_that_are_no_text_are_refused(tmp_path: Path):
    (tmp_path / "p.txt").write_bytes(b"\xff\xfe\0")
    for path in ("p.txt", "missing.txt", "."):
        with pytest.raises(FileError):
            load_poses(tmp_path / path)


def depth(trace: Trace, item: int) -> int:
    assert trace.parents is not None
    return 0 if trace.parents[item] < 0 else 1 + depth(trace, int(trace.parents[item]))


@pytest.mark.parametrize("make", [kitti_like, terrain_walk])
def test_made_up_paths_depend_on_their_seed_only(make):
    first, again, other = make(40), make(40), make(40, seed=1)
    assert np.array_equal(first.demands, again.demands)
    assert not np.array_equal(first.demands, other.demands)
    assert len(first) == 40
    assert first.per_frame > 200
    assert {depth(first, int(item)) for item in first.frame(0)} <= set(range(10))


@pytest.mark.parametrize("drawn", [kitti_like, terrain_walk])
def test_a_path_needs_frames_and_a_seed(drawn):
    """Without a seed it was another one each time."""
    for given in ({"frames": 0}, {"frames": 2.5}, {"frames": "2"}, {"seed": None}, {"seed": -1}, {"seed": 1.5}):
        with pytest.raises(HraError, match=next(iter(given))):
            drawn(**{"frames": 3, **given})


@pytest.mark.parametrize("frames", [1, 2])
def test_short_paths_are_paths(frames: int):
    assert len(kitti_like(frames)) == len(terrain_walk(frames)) == frames


def test_quaternions_turn_as_scipy_says(tmp_path: Path):
    turns = Rotation.random(6, np.random.default_rng(4))
    rows = [[k, 1, 2, 3, *quaternion] for k, quaternion in enumerate(turns.as_quat())]
    (tmp_path / "p.txt").write_text("\n".join(" ".join(map(repr, map(float, row))) for row in rows))
    assert np.allclose(load_poses(tmp_path / "p.txt").rotation, turns.as_matrix())


@pytest.mark.parametrize("step", [0, -1, 2.5, None])
def test_steps_go_forward(step: Any, tmp_path: Path):
    """A step of -1 walked the path backwards."""
    (tmp_path / "p.txt").write_text(KITTI)
    with pytest.raises(HraError, match="step must be an integer"):
        load_poses(tmp_path / "p.txt").every(step)
