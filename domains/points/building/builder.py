"""From a cloud to a tree: the shared octree, and what each of its nodes shows and loses."""

from __future__ import annotations

from typing import Any, Never

import numpy as np

from hra.domains.points.cloud.cloud_tree import CLASSES, FIELD, CloudTree
from hra.domains.points.cloud.clouds import PointCloud, SplatCloud, check_gaussians
from hra.domains.points.cloud.extent import Extent
from hra.domains.points.cloud.moments import (
    Moments,
    areas_of,
    check_finite,
    commonest,
    counts_of,
    disc_sizes,
    likenesses,
    moments_of,
    overhangs,
    raised,
    spacing,
    spreads,
)
from hra.errors import wrong_kind
from hra.kernels.trees import build_tree


def build(cloud: PointCloud | SplatCloud, *more: Never) -> CloudTree:
    """The tree over a cloud: every inner node is one point or splat that replaces all below it.

    Inner nodes are merged, not sampled: mean of position and colour by area (Gaussians also by covariance and opacity,
    so that mass is kept; harmonics by the same mass), because a mean of colours is what a smaller picture shows, and a
    sample is noise. Fields have no mean: an inner node has those of one point below it, the one nearest to its mean
    among those of its children, and the classification that most points below it have.

    Raises
    ------
    HraError : no cloud. ArrayError : lengths whose fourth powers are more than float32 holds, about 1e9; covariances
        with a variance below 0 in some direction.

    Examples
    --------
    >>> from hra.domains import points
    >>> tree = points.build(points.PointCloud([[0, 0, 0], [1, 0, 0], [9, 0, 0]]))
    >>> len(tree.hierarchy.node_cost), tree.take([0]).positions.round(1).astype(str).tolist()
    (5, [['3.3', '0.0', '0.0']])
    """
    if more or not isinstance(cloud, PointCloud | SplatCloud):
        fix = "pass PointCloud(positions, colors), a SplatCloud, or load_points(path)"
        raise wrong_kind("cloud", (cloud, *more) if more else cloud, (PointCloud, SplatCloud), fix)
    if isinstance(cloud, SplatCloud):
        check_gaussians(cloud.covariances)
    grown = build_tree(cloud.positions, bounds=Extent.of(cloud.positions).octree_box())
    parent, leaf = grown.tree.parent, grown.tree.leaf
    values = np.concatenate([cloud.positions, cloud.colors], axis=1)
    shown = _points if isinstance(cloud, PointCloud) else _splats
    with np.errstate(over="ignore", invalid="ignore"):  # refused below
        found, attributes = shown(cloud, parent, leaf, values)
    for name in ("color_loss", "cover_loss", "shift", "harmonic_loss"):
        if name in attributes:
            raised(parent, leaf, attributes[name], 0)
    _check_finite(cloud, found, attributes)
    colors = found.mean[:, 3:] if "harmonics" in attributes else found.mean[:, 3:].clip(0, 1)
    attributes |= {"position": found.mean[:, :3].copy(), "color": colors.copy(), "reach": found.reach}
    kept = {name: np.asarray(values, np.float32) for name, values in attributes.items()}
    if isinstance(cloud, SplatCloud):
        return CloudTree.of(parent, kept, SplatCloud, origin=cloud.origin)
    if cloud.fields:
        like = likenesses(parent, leaf, found.mean, cloud.positions)
        kept |= {FIELD + name: values[like] for name, values in cloud.fields.items()}
        classes = cloud.fields.get(CLASSES)
        if classes is not None and classes.ndim == 1:
            kept[FIELD + CLASSES] = commonest(parent, leaf, classes)
    return CloudTree.of(parent, kept, PointCloud, origin=cloud.origin, crs=cloud.crs)


def _check_finite(cloud: PointCloud | SplatCloud, found: Moments, attributes: dict[str, Any]) -> None:
    extent = float(np.ptp(cloud.positions.astype(np.float64), axis=0).max())
    if isinstance(cloud, SplatCloud):
        widest = float(np.sqrt(cloud.covariances[:, [0, 3, 5]].max()))
    else:
        widest = extent if cloud.radii is None else float(cloud.radii.max())
    arrays = [found.mean, found.reach, *attributes.values()]
    check_finite(arrays, float(found.mass[0]), extent, widest, len(cloud))


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
    if cloud.harmonics.shape[1]:
        losses |= _harmonics(cloud.harmonics, parent, leaf, mass)
    return found, {"covariance": covariance, "opacity": opacity.astype(np.float32), "size": size, **losses}


def _harmonics(harmonics: np.ndarray, parent: np.ndarray, leaf: np.ndarray, mass: np.ndarray) -> dict[str, Any]:
    """Means by mass, and what they lose: the squared difference of colours, averaged over all directions.

    Harmonics are orthonormal: over the sphere, squares of their sums integrate to sums of squared coefficients.
    """
    count = harmonics.shape[1]
    means, loss = np.zeros((len(parent), 3 * count), np.float32), np.zeros(len(parent), np.float32)
    flat, none = harmonics.reshape(len(harmonics), -1), np.zeros((len(harmonics), 6), np.float32)
    for first in range(0, 3 * count, 6):  # six numbers at a time, as moments are of position and colour
        part = np.zeros((len(flat), 6), np.float32)
        part[:, : min(6, 3 * count - first)] = flat[:, first : first + 6]
        found = moments_of(parent, leaf, mass, part, none)
        means[:, first : first + 6] = found.mean[:, : 3 * count - first]
        loss += found.color_loss + found.spread[:, [0, 3, 5]].sum(axis=1)
    return {"harmonics": means.reshape(-1, count, 3), "harmonic_loss": loss / np.float32(4 * np.pi)}


def _area(covariance: np.ndarray) -> np.ndarray:
    """What a Gaussian covers on average over all directions [N]: 2 pi times the root of its mean projected minor."""
    xx, xy, xz, yy, yz, zz = covariance.T.astype(np.float64)
    minors = xx * yy - xy**2 + xx * zz - xz**2 + yy * zz - yz**2
    return (2 * np.pi * np.sqrt(np.maximum(minors, 0) / 3)).astype(np.float32)
