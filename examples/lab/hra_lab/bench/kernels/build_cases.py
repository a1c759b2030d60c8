"""Trees over points with the box of every node, beside what builds search trees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.errors import needs
from hra.kernels.backends import load_warp
from hra.kernels.trees import PointTree, boxes_up, build_tree
from hra_lab.bench.devices import HOST, Device
from hra_lab.bench.harness import Case, Contender, Gaps
from hra_lab.bench.kernels import seeded_inputs
from hra_lab.bench.kernels.checks import check_arrays, require
from hra_lab.bench.kernels.peers import gather, require_host

# Points that are not split any further: what scipy's tree has by default.
_LEAF_SIZE = 16


def octree(count: int, device: Device) -> Case:
    """An octree over ``count`` points of a terrain, with the box of every node."""
    inputs = seeded_inputs.surface_points(count)
    own = Contender("hra", _build, device.send, read=lambda built: _on_host(device, *built))
    others, absent = gather(device, {"scipy": _kd_trees, "Warp": _bounding_volumes})
    given = inputs(0)
    # Points are read; their order, and per node a parent and a box, are written.
    nodes = len(_build(given)[0].tree)
    moved = given.nbytes + 4 * count + nodes * (4 + 2 * given[0].nbytes)
    return Case((own, *others), inputs, _judge, count, moved, absent)


def _build(points: Any) -> tuple[PointTree, Any, Any]:
    built = build_tree(points, leaf_size=_LEAF_SIZE)
    return built, *boxes_up(built.tree, points)


def _kd_trees(device: Device) -> Iterator[Contender]:
    """k-d trees with the box of every node: split at medians, or in the middle, which is faster."""
    require_host(device)
    with needs("scipy", "tokens"):
        from scipy.spatial import KDTree

    for balanced, rule in ((True, "median"), (False, "middle")):

        def run(points: np.ndarray, balanced: bool = balanced) -> Any:
            return KDTree(points, leafsize=_LEAF_SIZE, balanced_tree=balanced)

        yield Contender(f"scipy KDTree, {rule}", run, read=lambda tree: _Tree(tree.indices, tree.mins, tree.maxes))


def _bounding_volumes(device: Device) -> Iterator[Contender]:
    """Warp's own bounding volumes, over the points as boxes without extent."""
    wp = load_warp()

    def prepare(points: np.ndarray) -> Any:
        return wp.array(points, dtype=wp.vec3, device=device.name)

    yield Contender("warp.Bvh", lambda points: wp.Bvh(points, points), prepare, read=_Volumes)


@dataclass(frozen=True, eq=False)
class _Tree:
    """The points [N] in the order of a tree, and the corners [D] of its root."""

    order: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def check(self, name: str, points: np.ndarray) -> None:
        """Raise `HraError` unless it holds every point once, in the box of all."""
        require(name, np.array_equal(np.sort(self.order), np.arange(len(points))), "a point is missing or twice there")
        check_arrays(name, (self.low, self.high), (points.min(axis=0), points.max(axis=0)), 1e-6)


@dataclass(frozen=True, eq=False)
class _Volumes:
    """A `warp.Bvh`, whose nodes cannot be read, only asked."""

    volumes: Any

    def check(self, name: str, points: np.ndarray) -> None:
        """Raise `HraError` unless it holds as many points in all, and in the lower half, as there are."""
        from hra_lab.bench.kernels.hits import hits

        low, high = points.min(axis=0), points.max(axis=0)
        for corner in (high, (low + high) / 2):
            expected = int((points <= corner).all(axis=1).sum())
            found = hits(self.volumes, low, corner)
            require(name, found == expected, f"{found} points in a box instead of {expected}")


def _on_host(device: Device, built: PointTree, low: Any, high: Any) -> tuple[np.ndarray, ...]:
    """Order of the points, parents, and boxes of the nodes."""
    arrays = (built.order, built.tree.parent, low, high)
    return tuple(device.fetch(array) for array in arrays)


def _judge(points: np.ndarray, outputs: Mapping[str, Any]) -> dict[str, Gaps]:
    """The library's tree is that of the reference; every tree holds all points once, in the box of all."""
    own, *peers = outputs
    built = build_tree(points, leaf_size=_LEAF_SIZE, backend="reference")
    check_arrays(own, outputs[own], _on_host(HOST, built, *boxes_up(built.tree, points, backend="reference")), 0.0)
    order, _, low, high = outputs[own]
    _Tree(order, low[0], high[0]).check(own, points)
    for name in peers:
        outputs[name].check(name, points)
    return {}
