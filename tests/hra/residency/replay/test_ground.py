from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hra.errors import ArrayError, HraError
from hra.residency import GroundTexture
from hra.residency.replay.ground import _key, _with_ancestors
from hra.residency.replay.paths import kitti_like, terrain_walk


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


def test_impossible_paths_are_refused():
    for make in (kitti_like, terrain_walk):
        with pytest.raises(HraError, match="frames must be an integer of 1 or more, got 0"):
            make(0)
    ground = GroundTexture()
    for position, heading in (([[0, 0]], [[0, 0]]), ([[np.nan, 0]], [[1, 0]]), ([[0, 0, 0]], [[1, 0, 0]])):
        with pytest.raises(ArrayError):
            ground.trace(np.array(position), np.array(heading))
    with pytest.raises(ArrayError, match="largest"):
        ground.trace(np.array([[0.0, 0.0], [1e9, 0.0]]), np.array([[1.0, 0.0], [1.0, 0.0]]))


@pytest.mark.parametrize(
    "wrong",
    [
        {"levels": 0}, {"levels": -1}, {"levels": 2.5}, {"levels": 24}, {"tile": 0}, {"tile_bytes": 2.5},
        {"distances": 0}, {"directions": -3}, {"near": 0}, {"near": np.nan}, {"near": 200}, {"far": np.inf},
        {"focal_pixels": 0}, {"texels_per_metre": -1}, {"half_width": "wide"},
    ],
    ids=repr,
)  # fmt: skip
def test_grounds_that_are_none_are_refused(wrong: dict[str, Any]):
    """Levels below 1 made tiles finer than the texture has, and no samples an empty trace."""
    with pytest.raises(HraError) as refused:
        GroundTexture(**wrong)
    assert refused.value.where in (*wrong, "far")


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
