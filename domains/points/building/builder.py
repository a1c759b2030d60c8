"""From a cloud to a tree: the shared octree, and what each of its nodes shows and loses."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.domains.points.cloud.cloud_tree import CloudTree
from hra.domains.points.cloud.clouds import PointCloud, SplatCloud
from hra.domains.points.cloud.moments import (
    Moments,
    areas_of,
    counts_of,
    disc_sizes,
    moments_of,
    overhangs,
    raised,
    spacing,
    spreads,
)
from hra.errors import HraError
from hra.kernels.trees import build_tree


def build(cloud: PointCloud | SplatCloud) -> CloudTree:
    """The tree over a cloud: every inner node is one point or splat that replaces all below it.

    Inner nodes are merged, not sampled: mean of position and colour by area (Gaussians also by covariance and
    opacity, so that mass is kept), because a mean of colours is what a smaller picture shows, and a sample is noise.

    Raises
    ------
    HraError : no cloud.

    Examples
    --------
    >>> from hra.domains import points
    >>> tree = points.build(points.PointCloud([[0, 0, 0], [1, 0, 0], [9, 0, 0]]))
    >>> len(tree.hierarchy.node_cost), tree.take([0]).positions.round(1).astype(str).tolist()
    (5, [['3.3', '0.0', '0.0']])
    """
    if not isinstance(cloud, PointCloud | SplatCloud):
        what = f"a {type(cloud).__name__} is not a cloud"
        raise HraError(what, where="build", fix="pass a PointCloud, a SplatCloud, or load_points(path)")
    grown = build_tree(cloud.positions)
    parent, leaf = grown.tree.parent, grown.tree.leaf
    values = np.concatenate([cloud.positions, cloud.colors], axis=1)
    shown = _points if isinstance(cloud, PointCloud) else _splats
    found, attributes = shown(cloud, parent, leaf, values)
    for name in ("color_loss", "cover_loss", "shift"):
        raised(parent, leaf, attributes[name], 0)
    attributes |= {"position": found.mean[:, :3].copy(), "color": found.mean[:, 3:].clip(0, 1), "reach": found.reach}
    kept = {name: np.asarray(values, np.float32) for name, values in attributes.items()}
    return CloudTree.of(parent, kept, type(cloud))


def _points(cloud: Any, parent: np.ndarray, leaf: np.ndarray, values: np.ndarray) -> tuple[Moments, dict[str, Any]]:
    """Discs: as large as what they stand for; what is lost is colour, and what sticks out of a surface."""
    radii = cloud.radii
    if radii is None:
        radii = spacing(parent, leaf, counts_of(parent, leaf, values))
    found = areas_of(parent, leaf, values, radii)
    size = disc_sizes(parent, leaf, found, radii)
    losses = {"color_loss": found.color_loss, "cover_loss": overhangs(size, size[0]), "shift": spreads(found)}
    return found, {"size": size, **losses}


def _splats(cloud: Any, parent: np.ndarray, leaf: np.ndarray, values: np.ndarray) -> tuple[Moments, dict[str, Any]]:
    """Gaussians of the same mass, mean and covariance; what is lost is colour, and the share that was spread."""
    mass = np.maximum(cloud.opacities * _area(cloud.covariances), np.finfo(np.float32).tiny)
    found = moments_of(parent, leaf, mass, values, cloud.covariances)
    covariance = found.spread / found.mass[:, None]
    opacity = np.minimum(found.mass / np.maximum(_area(covariance), np.finfo(np.float32).tiny), 1)
    covariance[leaf], opacity[leaf] = cloud.covariances, cloud.opacities
    within = moments_of(parent, leaf, mass, np.zeros_like(values), cloud.covariances).spread
    total = found.spread[:, [0, 3, 5]].sum(axis=1)
    shift = np.maximum(total - within[:, [0, 3, 5]].sum(axis=1), 0)
    share = shift / np.maximum(total, np.finfo(np.float32).tiny)
    losses = {"color_loss": found.color_loss, "cover_loss": found.mass * share, "shift": shift}
    size = np.sqrt(total / found.mass / 3)
    return found, {"covariance": covariance, "opacity": opacity.astype(np.float32), "size": size, **losses}


def _area(covariance: np.ndarray) -> np.ndarray:
    """What a Gaussian covers on average over all directions [N]: 2 pi times the root of its mean projected minor."""
    xx, xy, xz, yy, yz, zz = covariance.T.astype(np.float64)
    minors = xx * yy - xy**2 + xx * zz - xz**2 + yy * zz - yz**2
    return (2 * np.pi * np.sqrt(np.maximum(minors, 0) / 3)).astype(np.float32)
