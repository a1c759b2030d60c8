"""Demonstration of tokens: 273 of them for a photo and for a document page, and the images rebuilt from them.

Windows in which two ways to show an image differ most are enlarged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from hra import samples
from hra.allocating.allocation import Allocation
from hra.domains import tokens
from hra.files.images import load_image, psnr
from hra.pages.demo.pictures import images

BUDGET = 273
QUESTIONS = {
    "photo": ("photo.jpg", "What is the flower on the left?"),
    "page": ("page.png", "What does the figure show?"),
}
# Windows are this share of the image's shorter side, and begin at multiples of a quarter of theirs.
_SHARE = 0.22


def crops(image: np.ndarray, ours: np.ndarray, other: np.ndarray, names: tuple[str, str]) -> Figure:
    """The two windows in which ``ours`` is ahead most, and the one in which ``other`` is, if there is one.

    Parameters
    ----------
    image, ours, other : [H, W, 3] in 0 .. 1; names : of the two.
    """
    ahead, side = _lead(image, ours, other)
    places = _best(ahead, 2) + [place for place in _best(-ahead, 1) if ahead[place] < 0]
    panels = []
    for row, column in places:
        window = np.s_[row * side // 4 : row * side // 4 + side, column * side // 4 : column * side // 4 + side]
        panels.append(("the image, enlarged", image[window]))
        panels += [
            (f"{name}: {psnr(shown[window], image[window]):.1f} dB here", shown[window])
            for name, shown in zip(names, (ours, other), strict=True)
        ]
    return images(panels, columns=3, width=3.2)


def _lead(image: np.ndarray, ours: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, int]:
    """How much less squared error ``ours`` has in every window, and the windows' width in pixels."""
    side = max(int(_SHARE * min(image.shape[:2])) // 4 * 4, 4)
    lead = (np.square(other - image) - np.square(ours - image)).sum(axis=2)
    total = np.pad(lead.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    summed = total[side:, side:] - total[:-side, side:] - total[side:, :-side] + total[:-side, :-side]
    return summed[:: side // 4, :: side // 4], side


def _best(value: np.ndarray, count: int) -> list[tuple[int, int]]:
    """Places of the largest values whose windows do not overlap."""
    left, places = value.copy(), []
    while len(places) < count and np.isfinite(left).any():
        row, column = (int(i) for i in np.unravel_index(np.argmax(left), left.shape))
        places.append((row, column))
        left[max(row - 3, 0) : row + 4, max(column - 3, 0) : column + 4] = -np.inf
    return places


@dataclass(frozen=True, eq=False)
class Comparison:
    """One image and query, allocated by the pyramid and by grid top-K."""

    context: tokens.TokenContext
    query: str
    hull: Allocation
    hull_tokens: tokens.TokenSet
    grid_tokens: tokens.TokenSet

    @property
    def image(self) -> np.ndarray:
        """The image, float32 [H, W, 3] in 0 .. 1."""
        return self.context.pyramid.image


def run() -> tuple[dict[str, Any], dict[str, Figure]]:
    """The figures of the report's token section (the photo; all images under "images") and its pictures by name."""
    compared = {name: _compare(load_image(samples.path(file)), query) for name, (file, query) in QUESTIONS.items()}
    records = {name: _record(comparison) for name, comparison in compared.items()}
    pictures = {f"tokens_{name}_crops": _crops(comparison) for name, comparison in compared.items()}
    pictures |= {f"tokens_{name}": _panels(comparison) for name, comparison in compared.items()}
    return {**records["photo"], "images": records}, pictures


def _compare(image: np.ndarray, query: str) -> Comparison:
    pyramid, grid = tokens.PyramidSampling(), tokens.GridTopK()
    context = pyramid.context(image, query)
    hull = pyramid.allocate(context, BUDGET)
    grid_tokens = grid.realize(grid.allocate(context, BUDGET))
    hull_tokens = pyramid.realize(hull)
    return Comparison(context, query, hull, hull_tokens, grid_tokens)


def _record(comparison: Comparison) -> dict[str, Any]:
    """Gains are measured: relevance-weighted error that the tokens remove from a canvas of mean colour."""
    image, context = comparison.image, comparison.context
    uniform = tokens.uniform_downsample(image, BUDGET)
    hull, grid = comparison.hull_tokens.reconstruct(), comparison.grid_tokens.reconstruct()
    canvas = np.broadcast_to(image.mean(axis=(0, 1)), image.shape)
    grid_on_canvas = np.where(comparison.grid_tokens.token_map()[..., None] >= 0, grid, canvas)
    blank = _weighted_error(context, canvas)
    return {
        "query": comparison.query,
        "budget": BUDGET,
        "count": len(comparison.hull_tokens),
        "gap": comparison.hull.gap,
        "residual_gap": comparison.hull.residual_gap,
        "grid_gain": blank - _weighted_error(context, grid_on_canvas),
        "hull_gain": blank - _weighted_error(context, hull),
        "grid_psnr_db": psnr(grid, image),
        "hull_psnr_db": psnr(hull, image),
        "uniform_psnr_db": psnr(uniform, image),
        "oracle_psnr_db": psnr(_oracle(image), image),
        "select_s": comparison.hull.seconds,
    }


def _oracle(image: np.ndarray) -> np.ndarray:
    """The image from the 273 tokens that are best for plain squared error."""
    allocator = tokens.PyramidSampling(relevance=tokens.UniformRelevance())
    return allocator.realize(allocator.allocate((image, ""), BUDGET)).reconstruct()


def _crops(comparison: Comparison) -> Figure:
    """Where 273 tokens of a pyramid show more than 273 of down-sampling, and where less; no question asked."""
    image = comparison.image
    return crops(image, _oracle(image), tokens.uniform_downsample(image, BUDGET), ("273 tokens", "down-sampled"))


def _weighted_error(context: tokens.TokenContext, shown: np.ndarray) -> float:
    """Relevance-weighted mean squared error of ``shown`` [H, W, 3]."""
    height, width = context.pyramid.image.shape[:2]
    weight = context.pixel_weight.repeat(context.pyramid.patch, 0).repeat(context.pyramid.patch, 1)
    squared = ((context.pyramid.image - shown) ** 2).sum(axis=2)
    return float((weight[:height, :width] * squared).sum())


def _panels(comparison: Comparison) -> Figure:
    """Tokens on the image, and what the pyramid, the grid and uniform down-sampling give back."""
    image = comparison.image
    return images(
        [
            ("273 tokens, coloured by level", tokens.overlay(image, comparison.hull_tokens)),
            ("pyramid + hull: from its 273 tokens", comparison.hull_tokens.reconstruct()),
            ("grid top-K: from its 273 tokens", comparison.grid_tokens.reconstruct()),
            ("uniform: down-sampled to 273 tokens", tokens.uniform_downsample(image, BUDGET)),
        ],
        columns=2,
    )
