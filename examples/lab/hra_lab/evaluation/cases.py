"""The problems of the evaluation: token pyramids over image crops, and the demo mesh seen from around."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from hra import samples
from hra.camera import Camera
from hra.domains import meshes, tokens
from hra.model.problem import Problem
from hra.traversals.hull import Hull
from hra_lab.evaluation.sizes import Sizes
from hra_lab.inputs.crops import crops


@dataclass(frozen=True, eq=False)
class Case:
    """A problem that every rule gets.

    Attributes
    ----------
    data : "tokens" or "mesh".
    budget : the budget in words; cases of equal words are summed up together.
    source : the crop or the view.
    """

    data: str
    budget: str
    source: str
    problem: Problem


def token_cases(sizes: Sizes) -> Iterator[Case]:
    """Every crop at every budget; the error is the mean squared error of the image, all patches being as relevant."""
    allocator = tokens.TokenAllocator(
        tokens.PyramidBuilder(), tokens.RelevanceError(), Hull(), relevance=tokens.UniformRelevance()
    )
    for name, image in crops(sizes.crops, sizes.side):
        context = allocator.context(image, "")
        problem = allocator.problem(context, np.inf)
        for budget in sizes.tokens:
            yield Case("tokens", f"{budget:,} tokens", name, replace(problem, budget=float(budget)))


def mesh_cases(sizes: Sizes) -> Iterator[Case]:
    """Every view at every budget; the error is in squared pixels (see `hra.domains.meshes.ScreenError`).

    Thresholds go by the same error as budgets, so that rules are compared and not errors.
    """
    clusters = meshes.build(samples.path("skull.ply"), certified=False)
    allocator = meshes.MeshAllocator(clusters, meshes.ScreenError("quadric"))
    for azimuth in np.arange(sizes.cameras) * (360 / sizes.cameras):
        camera = Camera.orbit(clusters.bounds, azimuth=float(azimuth), elevation=20, up=(0, 0, 1))
        problem = allocator.problem(camera, np.inf)
        for share in sizes.triangles:
            budget = np.floor(share * clusters.hierarchy.total_cost)
            words = f"{100 * share:.0f} % of triangles"
            yield Case("mesh", words, f"azimuth {azimuth:.0f}", replace(problem, budget=budget))
