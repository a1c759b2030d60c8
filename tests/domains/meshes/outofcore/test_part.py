from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import hra
from hra.domains.meshes.outofcore.group_order import GroupOrder
from hra.domains.meshes.outofcore.part import GROUP_BITS


def write_parts(folder: Path, counts: list[int], rng: np.random.Generator, spread: int) -> list[Path]:
    """Groups whose clusters up to ``spread`` later groups take, besides one cluster of the source in each."""
    names = [(part << GROUP_BITS) + group for part, count in enumerate(counts) for group in range(count)]
    runs: list[list[int]] = [[-1] for _ in range(len(names) + 1)]
    for number, name in enumerate(names):
        takers = rng.integers(number + 1, len(runs), spread)
        for taker in takers.tolist():
            runs[taker].append(name)
    ends, files = np.cumsum(counts).tolist(), []
    ends[-1] += 1
    for part, (begin, end) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
        sizes = np.array([len(run) for run in runs[begin:end]], np.int64)
        made = np.array([name for run in runs[begin:end] for name in run], np.int64)
        files.append(folder / f"{part}.npz")
        np.savez(files[-1], group_sizes=sizes, done_made_by=made)
    return files


@pytest.mark.parametrize("spread", [1, 3])
def test_groups_stand_as_in_the_hierarchy(tmp_path: Path, spread: int):
    rng = np.random.default_rng(spread)
    for turn in range(8):
        folder = tmp_path / str(turn)
        folder.mkdir()
        order = GroupOrder.of(write_parts(folder, [5, 4, 0, 7, 2], rng, spread))
        found = [(segment.groups(), order.places(*segment.load("done_made_by"))) for segment in order.segments()]
        added, removed = (np.concatenate(columns) for columns in zip(*found, strict=True))
        assert (np.diff(added) >= 0).all() and added[0] == -1
        known = hra.Hierarchy.groups(np.ones(len(added)), added, removed)
        np.testing.assert_array_equal(known.added_by, added)
        np.testing.assert_array_equal(known.removed_by, removed)
