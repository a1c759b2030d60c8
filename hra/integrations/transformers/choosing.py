"""From the features of one image to those that the language model gets, by any allocator of visual tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from hra.allocating.allocation import Allocation
from hra.domains.tokens import TokenAllocator, TokenContext, TokenSet
from hra.domains.tokens.embedding.pictures import load_if_path
from hra.domains.tokens.methods.reducers.named import reads_features
from hra.domains.tokens.patches.boxes import BoxTokens
from hra.domains.tokens.pyramid.downsample import resize
from hra.errors import ArrayError
from hra.files.images.arrays import as_image
from hra.integrations.reduction import Realisation
from hra.integrations.transformers.layouts import Grid


@dataclass(frozen=True, eq=False)
class Chosen:
    """What was kept of one image or tile.

    Attributes
    ----------
    slots : int64 [K], ascending: the cell of the grid whose place each token takes.
    levels : features [K, D] of the connector, then of each DeepStack level.
    allocation : with cost, bound and time.
    tokens : the token set, in the order of the features.
    """

    slots: np.ndarray
    levels: tuple[Tensor, ...]
    allocation: Allocation
    tokens: TokenSet


@dataclass(frozen=True, eq=False)
class Given:
    """What is known of one image, tile or video.

    Attributes
    ----------
    grids : (rows, columns) of the model's tokens; two where a small copy of an image and its tiles are one.
    levels : features [N, D] of the connector, then of each DeepStack level.
    query : the question about it.
    image : the picture, for allocators that see it; of a video its frames, as many for each step.
    relevance, signals : what a reducer reads, see `hra.domains.tokens.Reducer`.
    steps : of time.
    """

    grids: tuple[Grid, ...]
    levels: tuple[Tensor, ...]
    query: str = ""
    image: Any = None
    relevance: np.ndarray | None = None
    signals: Mapping[str, np.ndarray] = field(default_factory=dict)
    steps: int = 1

    @property
    def grid(self) -> Grid:
        """The grid of all cells; several grids make a single column."""
        return self.grids[0] if len(self.grids) == 1 else (sum(rows * columns for rows, columns in self.grids), 1)


@dataclass(frozen=True, eq=False)
class Choosing:
    """How tokens are chosen and what stands for them.

    Attributes
    ----------
    allocator : of `hra.domains.tokens`. Reducers read the model's features and attention, all others the pictures.
    realize : "select", the model's own tokens, for cuts of cells; "pool", the mean of those below each token;
        "encode", what the encoder makes of each level of the image, see `TokenSet.encode`.
    encoder : picture -> features [rows, columns, D] of all levels side by side, for "encode".
    """

    allocator: TokenAllocator[Any]
    realize: Realisation
    encoder: Callable[[np.ndarray], Tensor]

    def choose(self, given: Given, budget: float) -> list[Chosen]:
        """Allocate on an image that is stretched until one patch is one cell of the model's grid; one for each grid."""
        grid, levels = given.grid, given.levels
        context = self._context(given)
        allocation = self.allocator.allocate(context, budget)
        tokens = self.allocator.realize(allocation)
        slots = slots_of(tokens, grid)
        order = np.argsort(slots, kind="stable")
        side_by_side = self._features(
            tokens, levels[0] if len(levels) == 1 else torch.cat(levels, dim=1), grid, context.image
        )
        kept = side_by_side[torch.as_tensor(order, device=side_by_side.device)]
        parts = kept.to(levels[0].dtype).split([level.shape[1] for level in levels], dim=1)
        ends = np.cumsum([0, *(rows * columns for rows, columns in given.grids)])
        at = np.searchsorted(slots[order], ends)
        return [
            Chosen(slots[order][low:high] - first, tuple(part[low:high] for part in parts), allocation, tokens)
            for first, low, high in zip(ends, at, at[1:], strict=False)
        ]

    def _context(self, given: Given) -> TokenContext:
        if reads_features(self.allocator):
            features = given.levels[0].detach().float().cpu().numpy()
            grid = given.grid
            if given.steps > 1:
                features = features.reshape(given.steps, grid[0] // given.steps, grid[1], -1)
            scorer = None if given.relevance is None else lambda context: given.relevance
            return TokenContext.of_features(
                features, given.query, grid=grid if given.steps == 1 else None, relevance=scorer, signals=given.signals
            )
        rows, columns = given.grids[-1]
        size = (rows // given.steps * self.allocator.patch, columns * self.allocator.patch)
        if given.steps > 1 or isinstance(given.image, (list, tuple)):
            frames = np.stack([_fitted(each, size) for each in _frames(given.image, given.steps)])
            # A step of a model shows several frames of a video at once.
            shown = frames.reshape(given.steps, -1, *frames.shape[1:]).mean(axis=1)
            return self.allocator.context(list(shown), given.query)
        context = self.allocator.context(_fitted(given.image, size), given.query)
        return context if len(given.grids) == 1 else replace(context, small=given.grids[0])

    def _features(self, tokens: TokenSet, features: Tensor, grid: Grid, pixels: np.ndarray) -> Tensor:
        if self.realize == "encode":
            return tokens.encode(self.encoder, pixels)
        realised = tokens.select if self.realize == "select" else tokens.pool
        return realised(features, grid=grid)


def _fitted(image: Any, size: Grid) -> np.ndarray:
    """An image of (height, width) pixels."""
    pixels = as_image(load_if_path(image))
    return pixels if pixels.shape[:2] == size else np.clip(resize(pixels, size), 0, 1)


def _frames(video: Any, steps: int) -> Sequence[Any]:
    """The frames of a video, as many for each step: processors repeat the last frame to fill the last step.

    Raises
    ------
    ArrayError : too few or too many frames for that.
    """
    frames = video if isinstance(video, Sequence) and not isinstance(video, str) else ()
    missing = -len(frames) % steps
    if not frames or missing >= -(-len(frames) // steps):
        given = f"{len(video)} frames" if isinstance(video, (list, tuple)) else f"a {type(video).__name__}"
        what = f"{given} for a video of {steps} steps, each of which shows as many frames"
        raise ArrayError(what, where="images", fix="pass the list of the frames that the processor kept")
    return [*frames, *[frames[-1]] * missing]


def slots_of(tokens: TokenSet, grid: Grid) -> np.ndarray:
    """The cell at or before the middle of each token, int64 [K], row by row."""
    if isinstance(tokens, BoxTokens):
        return tokens.slots
    limits = np.array(grid[::-1]) - 1
    column, row = np.clip(np.floor(tokens.positions("centres", grid) + 1e-4), 0, limits).astype(np.int64).T
    return row * grid[1] + column
