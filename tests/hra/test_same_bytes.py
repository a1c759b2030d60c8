"""The same input gives the same bytes: in twenty runs, with any threads, hash seeds and order of nodes."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import hra
from hra.domains import meshes, tokens

ROOT = Path(__file__).parents[2]


def mesh() -> meshes.TriangleMesh:
    """A bumpy height field of 1,800 triangles."""
    across, along = np.meshgrid(np.arange(31.0), np.arange(31.0))
    height = np.sin(across * 1.3) + np.cos(along * 0.7)
    corner = (np.arange(30)[:, None] * 31 + np.arange(30)).ravel()
    faces = np.concatenate([corner[:, None] + [0, 1, 31], corner[:, None] + [1, 32, 31]])
    return meshes.from_arrays(np.stack([across, along, height], axis=-1).reshape(-1, 3), faces)


def image() -> np.ndarray:
    return np.random.default_rng(0).random((96, 128, 3), dtype=np.float32)


def outputs() -> dict[str, bytes]:
    """A cluster mesh, a cut, an allocation and tokens, as bytes."""
    clusters = meshes.build(mesh())
    camera = hra.Camera.orbit(clusters.bounds, azimuth=30)
    allocator = meshes.MeshAllocator(clusters)
    cut = allocator.allocate(camera, 700)
    chosen = tokens.PyramidSampling()
    found = chosen.realize(chosen.allocate((image(), "top left"), 64))
    parts = (clusters.positions, clusters.indices, clusters.offsets, clusters.hierarchy.edges)
    return {
        "clusters": b"".join(np.ascontiguousarray(part).tobytes() for part in parts),
        "cut": cut.selected.tobytes() + np.array([cut.gain, cut.upper_bound]).tobytes(),
        "mesh": np.ascontiguousarray(allocator.realize(cut).positions).tobytes(),
        "tokens": found.values.tobytes() + found.relevance.tobytes(),
    }


def digests() -> str:
    """What another process compares."""
    return " ".join(hashlib.sha256(content).hexdigest()[:16] for content in outputs().values())


def test_twenty_runs_give_the_same_bytes() -> None:
    assert len({digests() for _ in range(20)}) == 1


def in_another_process(**settings: str) -> str:
    code = "from tests.hra.test_same_bytes import digests; import sys; sys.stdout.write(digests())"
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, env=os.environ | settings, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.parametrize(("threads", "seed"), [("1", "1"), ("2", "2"), ("8", "3")])
def test_threads_and_seeds_of_hashes_do_not_matter(threads: str, seed: str) -> None:
    names = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    assert in_another_process(**dict.fromkeys(names, threads), PYTHONHASHSEED=seed) == digests()


def test_nodes_in_another_order_are_chosen_alike_where_nothing_ties() -> None:
    rng = np.random.default_rng(3)
    size = 400
    parent, cost = np.r_[-1, rng.integers(0, np.arange(1, size))], rng.integers(1, 9, size)
    gain = rng.random(size)
    for traversal in (hra.Hull(), hra.Exact(), hra.BestFirst()):
        plain = hra.solve(hra.Hierarchy.tree(parent, cost, mode="add"), 500, gains=gain, traversal=traversal)
        for seed in range(5):
            new = np.random.default_rng(seed).permutation(size)  # node i of the old order is node new[i]
            moved_parent, moved_cost, moved_gain = np.empty(size, int), np.empty(size, int), np.empty(size)
            moved_parent[new] = np.where(parent < 0, -1, new[parent])
            moved_cost[new], moved_gain[new] = cost, gain
            tree = hra.Hierarchy.tree(moved_parent, moved_cost, mode="add")
            moved = hra.solve(tree, 500, gains=moved_gain, traversal=traversal)
            assert sorted(new[plain.cut]) == sorted(moved.cut)
            assert moved.cost == plain.cost


def test_files_of_equal_answers_are_equal(tmp_path: Path) -> None:
    built = meshes.build(mesh())
    for name in ("a", "b"):
        built.save(tmp_path / f"{name}.hra")
        mesh().export(tmp_path / f"{name}.glb")
    for suffix in (".hra", ".glb"):
        assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()


def test_files_of_allocations_differ_in_their_seconds_only(tmp_path: Path) -> None:
    tree = hra.Hierarchy.tree([-1, 0, 0, 1, 1], [0, 2, 3, 1, 4])
    contents = []
    for _ in range(2):
        hra.solve(tree, 5, gains=np.ones(5)).save(tmp_path / "a.npz")
        with np.load(tmp_path / "a.npz", allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        header = json.loads(arrays.pop("header").tobytes())
        del header["seconds"], header["checksum"]
        contents.append((header, {name: values.tobytes() for name, values in arrays.items()}))
    assert contents[0] == contents[1]
