"""Codes against bits of Python integers, sorting against `sorted`, trees against recursion; backends to the bit."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hra import Hierarchy
from hra.errors import ArrayError, BackendUnavailable, HraError
from hra.kernels import backends
from hra.kernels.trees import PointTree, build_tree, morton_codes, sort_keys

BACKENDS = ("reference", "numba", "warp")
seeds = st.integers(0, 2**32 - 1)


def random_points(seed: int) -> np.ndarray:
    """Up to 60 points in the plane or in space: spread, on a coarse grid with duplicates, all equal; any magnitude."""
    rng = np.random.default_rng(seed)
    count, axes = int(rng.choice([0, 1, 2, 3, 20, 60])), int(rng.integers(2, 4))
    spread = rng.random((count, axes))
    kind = rng.integers(4)
    if kind == 1:
        spread = np.floor(spread * 3)
    elif kind == 2:
        spread[:] = 0.25
    elif kind == 3:
        spread **= 30  # most in one corner
    points = spread * rng.choice([1e-9, 1.0, 1e7]) + rng.choice([0.0, -1e7])
    return points.astype(("f4", "f8")[rng.integers(2)])


def plain_codes(points: np.ndarray, low: list[float], side: float, bits: int) -> list[int]:
    """Cells as Python numbers, their bits put together one by one."""
    axes = points.shape[1]
    codes = []
    for point in points.astype(np.float64).tolist():
        cells = [int((x - origin) / side * 2**bits) if side else 0 for x, origin in zip(point, low, strict=True)]
        cells = [min(max(cell, 0), 2**bits - 1) for cell in cells]
        codes.append(sum((cell >> j & 1) << j * axes + a for a, cell in enumerate(cells) for j in range(bits)))
    return codes


def assert_same(found: PointTree, expected: PointTree) -> None:
    for name in ("order", "begin", "end"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    for name in ("parent", "leaf", "node", "first_child", "level_offsets"):
        np.testing.assert_array_equal(getattr(found.tree, name), getattr(expected.tree, name), err_msg=name)


@pytest.mark.parametrize("backend", BACKENDS)
@given(seed=seeds, bits=st.sampled_from([32, 64]))
def test_codes_are_interleaved_bits(backend, seed, bits):
    points = random_points(seed)
    codes = morton_codes(points, bits=bits, backend=backend)
    assert codes.dtype == f"u{bits // 8}"
    if len(points):
        low, high = points.min(axis=0).astype(np.float64), points.max(axis=0).astype(np.float64)
        expected = plain_codes(points, low.tolist(), float((high - low).max()), bits // points.shape[1])
        assert codes.tolist() == expected


@pytest.mark.parametrize("backend", BACKENDS)
def test_corners_of_the_grid(backend):
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]], np.float32)
    x = sum(1 << 3 * j for j in range(21))
    assert morton_codes(corners, backend=backend).tolist() == [0, x, x << 1, x << 2, 2**63 - 1]
    assert morton_codes(corners, bits=32, backend=backend).tolist()[-1] == 2**30 - 1
    assert morton_codes(corners[:, :2], backend=backend).tolist()[-1] == 2**64 - 1


@pytest.mark.parametrize("backend", BACKENDS)
def test_points_outside_given_bounds_count_as_on_their_border(backend):
    points = np.array([[-5, 0.5], [0, 0.5], [1, 2], [1, 1]], np.float64)
    codes = morton_codes(points, bounds=[[0, 0], [1, 1]], backend=backend)
    assert codes[0] == codes[1] and codes[2] == codes[3]
    assert morton_codes(points, bounds=[[3, 3], [3, 3]], backend=backend).tolist() == [0] * 4


@pytest.mark.parametrize("backend", BACKENDS)
@given(keys=hnp.arrays(st.sampled_from([np.uint32, np.uint64]), st.integers(0, 40), elements=st.integers(0, 2**32 - 1)))
def test_sorting_is_stable(backend, keys):
    keys = np.where(keys % 3 == 0, keys % 7, keys).astype(keys.dtype) << keys.dtype.type(8 * keys.itemsize - 32)
    found, order = sort_keys(keys, backend=backend)
    assert order.tolist() == sorted(range(keys.size), key=keys.tolist().__getitem__) and order.dtype == np.int32
    np.testing.assert_array_equal(found, keys[order])


def test_sorting_leaves_its_input_alone():
    keys = np.array([3, 1, 2], np.uint64)
    for backend in BACKENDS:
        sort_keys(keys, backend=backend)
        assert keys.tolist() == [3, 1, 2]


@given(seed=seeds, leaf_size=st.integers(1, 9), bits=st.sampled_from([32, 64]))
def test_backends_build_the_same_tree(seed, leaf_size, bits):
    points = random_points(seed)
    expected = build_tree(points, leaf_size=leaf_size, bits=bits, backend="reference")
    for backend in ("numba", "warp"):
        assert_same(build_tree(points, leaf_size=leaf_size, bits=bits, backend=backend), expected)


@given(seed=seeds, leaf_size=st.integers(1, 9))
def test_the_tree_is_one_tree_in_level_order_whose_leaves_are_the_points(seed, leaf_size):
    points = random_points(seed)
    built = build_tree(points, leaf_size=leaf_size)
    parent = built.tree.parent
    if not len(points):
        return
    edges = [(int(p), v) for v, p in enumerate(parent) if p >= 0]
    graph = nx.DiGraph(edges) if edges else nx.empty_graph(1, nx.DiGraph)
    assert nx.is_arborescence(graph)
    lengths = nx.single_source_shortest_path_length(graph, 0)
    depth = [int(lengths[v]) for v in range(len(parent))]
    assert depth == sorted(depth) and (np.diff(parent) >= 0).all()
    np.testing.assert_array_equal(np.searchsorted(depth, range(max(depth) + 2)), built.tree.level_offsets)
    assert sorted(built.tree.leaf.tolist()) == [v for v in graph if graph.out_degree(v) == 0]
    assert all(graph.out_degree(v) != 1 for v in graph) and len(parent) <= 2 * len(points) - 1
    for v in graph:
        below = {int(np.flatnonzero(built.tree.leaf == leaf)[0]) for leaf in nx.descendants(graph, v) | {v}
                 if leaf in built.tree.leaf}  # fmt: skip
        assert below == set(built.order[built.begin[v] : built.end[v]].tolist())


@given(seed=seeds)
def test_every_inner_node_is_all_that_lies_in_its_cell(seed):
    points = random_points(seed)
    built = build_tree(points)
    keys = [int(code) for code in morton_codes(points)]
    axes = points.shape[1]
    for begin, end in zip(built.begin, built.end, strict=True):
        below = built.order[begin:end].tolist()
        low, high = keys[below[0]], keys[below[-1]]
        shift = -(-(low ^ high).bit_length() // axes) * axes
        if low != high:
            assert set(below) == {i for i, key in enumerate(keys) if key >> shift == low >> shift}


@given(seed=seeds)
def test_permuted_points_give_the_same_tree_up_to_ties(seed):
    points = random_points(seed)
    shuffle = np.random.default_rng(seed).permutation(len(points))
    built, other = build_tree(points), build_tree(points[shuffle])
    for name in ("parent", "node", "first_child", "level_offsets"):
        np.testing.assert_array_equal(getattr(other.tree, name), getattr(built.tree, name))
    codes = morton_codes(points)
    np.testing.assert_array_equal(codes[shuffle[other.order]], codes[built.order])
    # The tie rule: points of one finest cell stay in the order in which they were given.
    assert all(a < b for a, b in zip(other.order, other.order[1:], strict=False)
               if codes[shuffle[a]] == codes[shuffle[b]])  # fmt: skip


def test_leaf_size_stops_the_splitting():
    points = np.random.default_rng(0).random((500, 3))
    sizes = [len(build_tree(points, leaf_size=leaf_size).tree) for leaf_size in (1, 8, 64, 500)]
    assert sizes == sorted(sizes, reverse=True) and sizes[-1] == 501
    whole = build_tree(points, leaf_size=500)
    assert whole.tree.parent.tolist() == [-1] + [0] * 500


def test_hierarchies_take_the_parents_as_they_are():
    built = build_tree(np.random.default_rng(1).random((300, 2)))
    hierarchy = Hierarchy.tree(built.tree.parent, np.ones(len(built.tree)))
    assert hierarchy.total_cost == 300 and hierarchy.base_cost == 1


def test_equal_points_hang_under_one_cell():
    for backend in BACKENDS:
        built = build_tree(np.full((5, 3), 7.0), backend=backend)
        assert built.tree.parent.tolist() == [-1, 0, 0, 0, 0, 0] and built.order.tolist() == [0, 1, 2, 3, 4]
        assert build_tree(np.full((1, 3), 7.0), backend=backend).tree.parent.tolist() == [-1]


def test_other_arrays_and_rows_with_gaps():
    torch = pytest.importorskip("torch")
    points = np.random.default_rng(2).random((50, 3))
    codes = morton_codes(torch.from_numpy(points))
    assert isinstance(codes, torch.Tensor) and codes.dtype == torch.uint64
    np.testing.assert_array_equal(codes.numpy(), morton_codes(points))
    gaps = np.repeat(np.repeat(points, 2, axis=0), 2, axis=1)[::2, ::2]
    for backend in BACKENDS:
        assert_same(build_tree(gaps, backend=backend), build_tree(points, backend="reference"))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_points_that_are_not_finite_are_refused_and_named(backend, bad):
    points = np.zeros((600, 3), np.float32)
    points[417, 1] = bad
    for bounds in (None, [[0, 0, 0], [1, 1, 1]]):
        with pytest.raises(ArrayError, match=r"points\[417\]"):
            morton_codes(points, bounds=bounds, backend=backend)
    with pytest.raises(ArrayError, match=r"points\[417\]"):
        build_tree(points, backend=backend)


def test_wrong_arguments_are_named():
    points = np.zeros((4, 3))
    with pytest.raises(ArrayError, match=r"\[N, 2\] or \[N, 3\]"):
        morton_codes(np.zeros((4, 4)))
    with pytest.raises(ArrayError, match="int64"):
        build_tree(np.zeros((4, 3), np.int64))
    with pytest.raises(ArrayError, match="16"):
        morton_codes(points, bits=16)
    with pytest.raises(ArrayError, match="bounds"):
        morton_codes(points, bounds=[[1, 0, 0], [0, 1, 1]])
    with pytest.raises(ArrayError, match="bounds"):
        morton_codes(points, bounds=[[0, 0], [1, 1]])
    with pytest.raises(ArrayError, match="overflows"):
        morton_codes(np.array([[-1.7e308, 0], [1.7e308, 0]]))
    with pytest.raises(HraError, match="leaf_size"):
        build_tree(points, leaf_size=0)
    with pytest.raises(ArrayError, match="keys"):
        sort_keys(np.zeros(3, np.int64))
    with pytest.raises(BackendUnavailable, match="backend 'cl' is unknown"):
        build_tree(points, backend="cl")


def test_auto_falls_back_but_an_explicit_choice_does_not(monkeypatch):
    points = np.random.default_rng(4).random((20, 2))
    monkeypatch.setitem(backends.BUILT_IN, "numba", "hra.kernels.no_numba")
    assert_same(build_tree(points), build_tree(points, backend="reference"))
    with pytest.raises(BackendUnavailable, match="no_numba"):
        build_tree(points, backend="numba")


def test_backends_of_other_packages_are_not_asked(monkeypatch):
    monkeypatch.setattr("hra.kernels.backends.load_backend", lambda name: object())
    with pytest.raises(BackendUnavailable, match="'theirs' does not implement"):
        build_tree(np.zeros((2, 2)), backend="theirs")


@pytest.mark.slow
def test_a_million_points_in_clusters():
    rng = np.random.default_rng(5)
    points = (rng.normal(size=(1_000_000, 3)) * 10.0 ** -rng.integers(0, 9, (1_000_000, 1))).astype(np.float32)
    found = build_tree(points)
    assert_same(found, build_tree(points, backend="warp"))
    assert len(found.tree) <= 2 * len(points) - 1 and len(found.tree.levels) <= 23
