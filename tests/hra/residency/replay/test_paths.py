"""Poses, the ground and the made-up paths."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from hra.errors import ArrayError, FileError, HraError
from hra.residency import GroundTexture, Trace, load_poses
from hra.residency.replay.ground import _key, _with_ancestors
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


def test_the_ground_is_sampled_as_its_definition_says():
    ground = GroundTexture(
        texels_per_metre=8, tile=16, tile_bytes=7, levels=4, near=1, far=60, distances=9, directions=5
    )
    position, heading = np.array([[3.0, 4.0], [5.0, 4.0]]), np.array([[2.0, 0.0], [1.0, 1.0]])
    trace = ground.trace(position, heading)
    assert trace.parents is not None and trace.weights is not None
    counts = np.diff(np.concatenate([[0], np.cumsum(trace.weights)])[trace.frames])
    assert counts.tolist() == [45, 45]
    wanted = [set(), set()]
    for frame in range(2):
        direction = heading[frame] / np.linalg.norm(heading[frame])
        for distance in np.geomspace(1, 60, 9):
            level = min(int(np.log2(max(distance / 700 * 8, 1))), 3)
            for across in np.linspace(-0.75, 0.75, 5):
                side = np.array([-direction[1], direction[0]])
                point = position[frame] + 90 - [3, 4] + distance * (direction + across * side)
                wanted[frame].add((level, *np.floor(point / (2 * 2**level)).astype(int).tolist()))
    assert [trace.frame(frame).size for frame in range(2)] == [len(tiles) for tiles in wanted]
    assert np.intersect1d(trace.frame(0), trace.frame(1)).size == len(wanted[0] & wanted[1])
    assert (trace.cost == 7).all()


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


@pytest.mark.parametrize("frames", [1, 2])
def test_short_paths_are_paths(frames: int):
    assert len(kitti_like(frames)) == len(terrain_walk(frames)) == frames


def test_impossible_paths_are_refused():
    for make in (kitti_like, terrain_walk):
        with pytest.raises(HraError, match="0 frames"):
            make(0)
    ground = GroundTexture()
    for position, heading in (([[0, 0]], [[0, 0]]), ([[np.nan, 0]], [[1, 0]]), ([[0, 0, 0]], [[1, 0, 0]])):
        with pytest.raises(ArrayError):
            ground.trace(np.array(position), np.array(heading))
    with pytest.raises(ArrayError, match="largest"):
        ground.trace(np.array([[0.0, 0.0], [1e9, 0.0]]), np.array([[1.0, 0.0], [1.0, 0.0]]))


def test_quaternions_turn_as_scipy_says(tmp_path: Path):
    turns = Rotation.random(6, np.random.default_rng(4))
    rows = [[k, 1, 2, 3, *quaternion] for k, quaternion in enumerate(turns.as_quat())]
    (tmp_path / "p.txt").write_text("\n".join(" ".join(map(repr, map(float, row))) for row in rows))
    assert np.allclose(load_poses(tmp_path / "p.txt").rotation, turns.as_matrix())


@pytest.mark.parametrize("seed", range(20))
def test_tiles_of_the_ground_come_with_all_coarser_ones(seed: int):
    rng, levels = np.random.default_rng(seed), int(np.random.default_rng(seed).integers(1, 5))
    fine = {tuple(rng.integers(0, (levels, 20, 20)).tolist()) for _ in range(int(rng.integers(1, 12)))}
    every = set(fine)
    for level, column, row in fine:
        for above in range(level + 1, levels):
            every.add((above, column >> above - level, row >> above - level))
    keys = {tile: int(_key(*(np.array(part) for part in tile))) for tile in every}
    tiles, parents = _with_ancestors(np.array(sorted(keys[tile] for tile in fine)), levels)
    assert tiles.tolist() == sorted(keys.values())
    coarse_first = sorted(every, key=keys.__getitem__, reverse=True)
    for (level, column, row), parent in zip(coarse_first, parents.tolist(), strict=True):
        expected = -1 if level == levels - 1 else coarse_first.index((level + 1, column >> 1, row >> 1))
        assert parent == expected
