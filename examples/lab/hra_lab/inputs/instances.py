"""Seeded problems: quadtrees with synthetic or real gains, alone or in batches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.caching import cached_property
from hra.model.hierarchy import Hierarchy
from hra.model.problem import Problem
from hra_lab.inputs import pictures, quadtrees

# What a split of a token quadtree adds: four children come, their parent goes.
_SPLIT_COST = 3.0


@dataclass(frozen=True, eq=False)
class SyntheticProblem:
    """A hierarchy with a positive gain [R] for every refinement."""

    hierarchy: Hierarchy
    gain: np.ndarray

    def fresh_gain(self, seed: int, noise: float) -> np.ndarray:
        """The gains with log-normal noise, so that no run has seen them before."""
        return self.gain * np.exp(noise * np.random.default_rng(seed).standard_normal(self.gain.size))

    def problem(self, gain: np.ndarray, share: float, peak: np.ndarray | None = None) -> Problem:
        """These gains [R], and ``share`` of the total cost, in whole units, to spend; full detail leaves no error."""
        return Problem(
            hierarchy=self.hierarchy,
            gain=gain,
            least_error=0.0,
            budget=float(np.floor(share * self.hierarchy.total_cost)),
            unit="error",
            additive=True,
            refinement_peak=lambda: gain if peak is None else peak,
        )


@dataclass(frozen=True, eq=False)
class Quadtree(SyntheticProblem):
    """The first R refinements of a complete quadtree over the unit square, in level order."""

    @cached_property
    def center(self) -> np.ndarray:
        """Centre of each refinement's cell, [R, 2]."""
        return quadtrees.cell_centers(self.gain.size)

    def seen_from(self, camera: np.ndarray, gain: np.ndarray) -> np.ndarray:
        """``gain`` [R] weighted by the inverse square of the distance from ``camera`` [2]."""
        return gain / (0.01 + np.square(self.center - camera).sum(axis=1))

    def peaks(self, gain: np.ndarray) -> np.ndarray:
        """Largest gain [R] at or below each refinement: an error that never grows from coarse to fine."""
        peak, parent = gain.copy(), self.hierarchy.parent
        offsets = self.hierarchy.level_offsets
        for low, high in zip(offsets[-2:0:-1], offsets[:1:-1], strict=True):
            np.maximum.at(peak, parent[low:high], peak[low:high])  # pyright: ignore[reportOptionalSubscript]
        return peak


def rough_quadtree(size: int) -> Quadtree:
    """Heavy-tailed gains that shrink slowly with depth, and costs 1 .. 10: about 30 % of the nodes are pooled."""
    rng = np.random.default_rng(1)
    gain = np.exp(1.5 * rng.standard_normal(size)) * 0.8 ** quadtrees.levels(size)
    return Quadtree(quadtrees.refinement_tree(rng.integers(1, 11, size).astype(float)), gain)


def smooth_quadtree(size: int) -> Quadtree:
    """Squared error that the splits of a real image's quadtree remove, at three tokens each."""
    gain = pictures.split_gains(pictures.square(quadtrees.side_of(size)))[:size]
    return Quadtree(quadtrees.refinement_tree(np.full(size, _SPLIT_COST)), _positive(gain))


def token_pyramids(size: int, count: int = 64) -> tuple[SyntheticProblem, ...]:
    """Quadtrees of ``size`` splits over ``count`` crops of real images, all over one hierarchy."""
    hierarchy = quadtrees.refinement_tree(np.full(size, _SPLIT_COST))
    crops = pictures.crops(count, quadtrees.side_of(size))
    return tuple(SyntheticProblem(hierarchy, _positive(pictures.split_gains(crop))) for crop in crops)


def _positive(gain: np.ndarray) -> np.ndarray:
    # Flat areas gain nothing, and noise could not make that fresh.
    return np.maximum(gain, 1e-12 * gain.max())
