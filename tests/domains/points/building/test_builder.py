"""Trees over clouds: what is merged keeps its moments, and errors never grow with detail."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from hra.domains.points import PointCloud, SplatCloud, build, load_tree, save_tree
from hra.errors import ArrayError, HraError


def below(parent: np.ndarray, root: int, leaves: np.ndarray) -> list[int]:
    found = []
    for leaf in leaves:
        node = leaf
        while node not in (-1, root):
            node = parent[node]
        found += [leaf] * int(node == root)
    return found


def full(six: np.ndarray) -> np.ndarray:
    return np.asarray(six, float)[..., [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(*np.shape(six)[:-1], 3, 3)


def area(covariance: np.ndarray) -> float:
    minors = sum(np.linalg.det(np.delete(np.delete(covariance, k, 0), k, 1)) for k in range(3))
    return 2 * np.pi * np.sqrt(max(minors, 0) / 3)


def test_a_merged_splat_has_the_mean_and_covariance_of_the_mixture(splats: SplatCloud):
    tree = build(splats)
    node = tree.hierarchy.node
    for root in (0, 1, len(tree.parent) // 4):
        part = below(tree.parent, root, tree.leaves)
        covariances = full(node["covariance"][part])
        mass = np.array([a * area(c) for a, c in zip(node["opacity"][part], covariances, strict=True)])
        mass /= mass.sum()
        mean = mass @ node["position"][part]
        apart = node["position"][part] - mean
        mixture = np.einsum("i,ijk->jk", mass, covariances + apart[:, :, None] * apart[:, None, :])
        assert np.allclose(node["position"][root], mean, atol=1e-5)
        assert np.allclose(full(node["covariance"][root]), mixture, atol=1e-5)


def test_a_merged_splat_keeps_what_it_covers_unless_it_would_be_more_than_opaque(splats: SplatCloud):
    tree = build(splats)
    node = tree.hierarchy.node
    mass = node["opacity"] * np.array([area(c) for c in full(node["covariance"])])
    total = mass[tree.leaves].sum()
    assert mass[0] == pytest.approx(total, rel=1e-3) or node["opacity"][0] == 1


def test_leaves_are_the_cloud(cloud: PointCloud, splats: SplatCloud):
    for given_cloud in (cloud, splats):
        tree = build(given_cloud)
        found = tree.take(tree.leaves)
        for name in ("positions", "colors"):
            first, second = (np.sort(getattr(c, name), axis=0) for c in (found, given_cloud))
            assert np.array_equal(first, second)
        assert not tree.hierarchy.node["color_loss"][tree.leaves].any()


def test_numbers_that_are_no_nodes_are_refused(cloud: PointCloud, splats: SplatCloud):
    for given_cloud in (cloud, splats):
        tree = build(given_cloud)
        for nodes in ([-1], [0, len(tree.parent)], [0.5], [True], 0):
            with pytest.raises(ArrayError, match="nodes"):
                tree.take(nodes)


def test_spheres_contain_those_of_what_is_below(cloud: PointCloud):
    tree = build(cloud)
    node, parent = tree.hierarchy.node, tree.parent
    apart = np.linalg.norm(node["position"][1:].astype(float) - node["position"][parent[1:]], axis=1)
    assert (apart + node["reach"][1:] <= node["reach"][parent[1:]]).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", ["extent", "radius", "scale"])
def test_clouds_beyond_float32_are_refused_and_what_the_message_asks_for_is_built(kind: str, tmp_path: Path):
    places = np.random.default_rng(6).random((500, 3))

    def cloud(size: float) -> PointCloud | SplatCloud:
        if kind == "extent":
            return PointCloud(places * size)
        if kind == "radius":
            return PointCloud(places, radii=np.full(500, size))
        scales = np.full((500, 3), 0.01)
        scales[7] = size
        return SplatCloud.of(places, scales, np.ones((500, 4)), places, places[:, 0])

    for size in (2e17, 1e18):
        with pytest.raises(ArrayError, match="too large for float32") as refused:
            build(cloud(size))
    found = re.search(r"both are (\S+) or less", refused.value.fix)
    assert found is not None
    save_tree(tmp_path / "a.hpt", build(cloud(float(found[1]))))
    assert len(load_tree(tmp_path / "a.hpt").leaves) == 500


def test_covariances_in_another_order_are_refused_and_needles_are_not():
    rng = np.random.default_rng(0)
    places, shades, shares = rng.normal(size=(200, 3)), rng.random((200, 3)), rng.random(200)
    needles = SplatCloud.of(places, np.tile([1, 1e-4, 0], (200, 1)), rng.normal(size=(200, 4)), shades, shares)
    assert len(build(needles).leaves) == 200
    # The diagonal first: off it stand variances, which are larger than what stands on it.
    mixed = np.tile([0.04, 1.0, 0.09, 0.01, 0.0, 0.05], (200, 1))
    with pytest.raises(ArrayError, match=r"covariances\[0\].*no Gaussian") as caught:
        build(SplatCloud(places, mixed, shades, shares))
    assert "xx, xy, xz" in caught.value.fix


def test_bad_clouds_are_refused_with_what_where_and_fix():
    with pytest.raises(ArrayError, match="no points"):
        PointCloud(np.empty((0, 3)))
    with pytest.raises(ArrayError, match=r"positions\[1\] is"):
        PointCloud([[0, 0, 0], [np.nan, 0, 0]])
    with pytest.raises(ArrayError, match="colors"):
        PointCloud([[0, 0, 0]], [[2, 0, 0]])
    with pytest.raises(ArrayError, match="opacities"):
        SplatCloud([[0, 0, 0]], [[1, 0, 0, 1, 0, 1]], [[0, 0, 0]], [1.5])
    with pytest.raises(HraError, match="must be a PointCloud"):
        build([[0, 0, 0]])  # pyright: ignore[reportArgumentType]
