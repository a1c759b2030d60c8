"""Chunks of records: nothing is lost, none is too large, and what chunks share is found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hra.kernels.chunking import Records, chunk_records, shared_keys, weighted_parts


@given(seed=st.integers(0, 999), count=st.integers(1, 60), most=st.integers(1, 40), share=st.sampled_from([None, 0.41]))
def test_boxes_weigh_at_most_what_they_may_but_for_single_points(seed: int, count: int, most: int, share: float | None):
    rng = np.random.default_rng(seed)
    points, weights = rng.normal(size=(count, 3)), rng.integers(1, 20, count)
    label = weighted_parts(points, weights, most, share)
    sums, sizes = np.bincount(label, weights), np.bincount(label)
    assert (sizes > 0).all() and ((sums <= most) | (sizes == 1)).all()


def test_other_shares_draw_other_borders():
    points, weights = np.arange(160.0)[:, None], np.ones(160, int)
    halves, others = (np.diff(weighted_parts(points, weights, 20, share)) > 0 for share in (None, 0.41))
    assert halves.sum() == 7 and not np.array_equal(halves, others)


@pytest.mark.parametrize("spread", [1.0, 1e-3, 0.0])
def test_every_record_is_in_one_chunk_in_its_order(tmp_path: Path, spread: float):
    rng, file = np.random.default_rng(0), tmp_path / "rows"
    rows = np.concatenate([rng.normal(size=(3000, 3)) * spread, rng.normal(size=(100, 3))]).astype(np.float32)
    rng.shuffle(rows)
    np.column_stack([rows, np.arange(len(rows), dtype=np.float32)]).tofile(file)
    chunks = chunk_records(Records(file, 4, 0, len(rows)), lambda block: block[:, :3], 64, tmp_path)
    read = [chunk.read() for chunk in chunks]
    assert max(len(chunk) for chunk in read) <= 64
    assert all((np.diff(chunk[:, 3]) > 0).all() for chunk in read)
    together = np.concatenate(read)
    np.testing.assert_array_equal(together[np.argsort(together[:, 3]), :3], rows)


@given(seed=st.integers(0, 999), memory=st.sampled_from([1500, 10**6]))
@settings(max_examples=20)
def test_keys_of_several_chunks(tmp_path_factory: pytest.TempPathFactory, seed: int, memory: int):
    rng, folder = np.random.default_rng(seed), tmp_path_factory.mktemp("keys")
    chunks = [np.unique(rng.integers(0, 60, rng.integers(1, 30))).astype(np.uint64) for _ in range(4)]
    chunks[0] = np.append(chunks[0], np.uint64(2**64 - 1))
    chunks[1] = np.append(chunks[1], np.uint64(2**64 - 1))
    files = [folder / f"{number}.npy" for number in range(4)]
    for file, keys in zip(files, chunks, strict=True):
        np.save(file, keys)
    found, counts = np.unique(np.concatenate(chunks), return_counts=True)
    np.testing.assert_array_equal(shared_keys(files, memory), found[counts > 1])
