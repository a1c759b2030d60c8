"""Ways to show an encoder fewer tokens, each with what it costs to encode: before the encoder and inside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from hra.domains import tokens
from hra.domains.tokens.learned import LowRankAttention, RandomFeatureAttention, WindowedAttention
from hra.domains.tokens.methods.downsample import GestaltError
from hra.domains.tokens.methods.gestalt.tokens import GestaltBuilder
from hra.traversals.hull import Hull
from hra_lab.evaluation.attention import z_order
from hra_lab.evaluation.encoder.reading import CELLS, Reading, reading_of
from hra_lab.evaluation.encoder.vit import Attend, VisionTransformer, grid_centres, patches

TOKENS = 64
_EVEN = tokens.UniformRelevance()


@dataclass(frozen=True, eq=False)
class Shown:
    """Tokens: pixels float32 [K, patch * patch * 3], and boxes (x0, y0, x1, y1) in cells of the full grid."""

    values: np.ndarray
    boxes: np.ndarray

    @property
    def centres(self) -> np.ndarray:
        """(x, y) in shares of the image, [K, 2]."""
        return (self.boxes[:, :2] + self.boxes[:, 2:]) / (2 * CELLS)

    @property
    def width(self) -> np.ndarray:
        """In cells, [K]."""
        return self.boxes[:, 2] - self.boxes[:, 0]

    def part(self, kept: np.ndarray) -> Shown:
        """The tokens ``kept``."""
        return Shown(self.values[kept], self.boxes[kept])


@dataclass(frozen=True, eq=False)
class Encoded:
    """What an encoder made of tokens, before its last norm [K, d]; how cells read it; and what that cost.

    Attributes
    ----------
    lengths : of the sequence in every layer of every group that was encoded by itself, class tokens included.
    embedded : patches that were projected.
    saved : floating-point operations that attention took less than between all pairs.
    told : after the last norm, of every cell [256, d], where that is not read at the places of tokens.
    """

    hidden: Tensor
    reading: Reading
    lengths: tuple[int, ...]
    embedded: int
    told: Tensor | None = None
    saved: float = 0.0


Way = Callable[[VisionTransformer, np.ndarray], Encoded]
"""(encoder, image [side, side, 3]) -> what it made of the few tokens."""
Choice = Callable[[np.ndarray, int], Shown]
"""(image, patch) -> tokens."""


def chosen(allocator: Callable[[int], tokens.TokenAllocator[Any]], budget: int, image: np.ndarray, patch: int) -> Shown:
    """The tokens of an allocator of hra, made for a side of patches."""
    made = allocator(patch)
    found = made.realize(made.allocate((image, ""), budget))
    return Shown(found.values, found.boxes / patch)


def downsampled(side: int, image: np.ndarray, patch: int) -> Shown:
    """Side x side tokens of the image made small."""
    return chosen(lambda size: tokens.Downsample(_EVEN, patch=size), side * side, image, patch)


def _uniform(image: np.ndarray, patch: int) -> Shown:
    return chosen(lambda size: tokens.UniformGrid(_EVEN, patch=size), TOKENS, image, patch)


def _random(image: np.ndarray, patch: int) -> Shown:
    return chosen(lambda size: tokens.Random(0, patch=size), TOKENS, image, patch)


def pyramid(image: np.ndarray, patch: int, budget: int = TOKENS, levels: int = 3) -> Shown:
    """The cut of three levels that leaves the least squared error."""
    return chosen(lambda size: tokens.PyramidSampling(_EVEN, patch=size, levels=levels), budget, image, patch)


def saccades(side: int, image: np.ndarray, patch: int, budget: int = TOKENS) -> Shown:
    """Side x side tokens of the whole image, and finest patches where these are most wrong."""
    gestalt = tokens.ResizedGestalt(side, side)
    parts = GestaltBuilder(gestalt), GestaltError(gestalt), Hull(spend_all=True)
    return chosen(lambda size: tokens.TokenAllocator(*parts, relevance=_EVEN, patch=size), budget, image, patch)


def _without_flat(image: np.ndarray, patch: int) -> Shown:
    """9 x 9 tokens of one size without 17 that their neighbours show best, no two of them side by side."""
    side = 9
    grid = downsampled(side, image, patch)
    values = np.pad(grid.values.reshape(side, side, -1), ((1, 1), (1, 1), (0, 0)), mode="edge")
    around = (values[:-2, 1:-1] + values[2:, 1:-1] + values[1:-1, :-2] + values[1:-1, 2:]) / 4
    error = np.square(values[1:-1, 1:-1] - around).sum(axis=-1)
    kept, free = np.ones((side, side), bool), np.ones((side + 2, side + 2), bool)
    for cell in np.argsort(error, axis=None, kind="stable"):
        row, column = divmod(int(cell), side)
        if kept.sum() > TOKENS and free[row + 1, column + 1]:
            kept[row, column] = False
            free[row : row + 3, column + 1] = free[row + 1, column : column + 3] = False
    return grid.part(np.flatnonzero(kept)[:TOKENS])


def finest(image: np.ndarray, patch: int) -> Shown:
    """All patches."""
    corners = grid_centres(CELLS) * CELLS - 0.5
    return Shown(patches(image, patch), np.concatenate([corners, corners + 1], axis=1))


Placed = Callable[[VisionTransformer, Shown], Tensor]
"""(encoder, tokens) -> their positions [K, d]."""


def by_centre(vit: VisionTransformer, shown: Shown) -> Tensor:
    """The table at the centre; for a whole grid of one scale what the encoder makes of its table."""
    return vit.positions(shown.centres)


def by_corner(vit: VisionTransformer, shown: Shown) -> Tensor:
    """The position of the finest cell at the first corner, as a token would have it that does not know its size."""
    return vit.positions((shown.boxes[:, :2] + 0.5) / CELLS)


def by_mean(vit: VisionTransformer, shown: Shown) -> Tensor:
    """The mean of the positions of all finest cells below the token."""
    centres = grid_centres(CELLS)
    at = centres[:, None] * CELLS
    below = ((at >= shown.boxes[:, :2]) & (at < shown.boxes[:, 2:])).all(axis=2).astype(np.float32)
    return torch.from_numpy(below / below.sum(axis=0)).T @ vit.positions(centres)


def together(
    choose: Choice, vit: VisionTransformer, image: np.ndarray, *, placed: Placed = by_centre, area: bool = False
) -> Encoded:
    """All tokens in one sequence.

    Parameters
    ----------
    area : whether each is attended to as often as it has cells, see ToMe (D. Bolya et al., ICLR 2023).
    """
    shown = choose(image, vit.patch)
    count = len(shown.values) + 1
    bias = None
    if area:
        bias = torch.zeros(count, count)
        bias[:, 1:] = torch.from_numpy(2 * np.log(shown.width)).float()
    started = torch.cat([vit.lead[None], vit.embed(shown.values) + placed(vit, shown)])
    hidden = vit.layers(started, bias=bias)[1:]
    return Encoded(hidden, reading_of(shown.boxes), (count,) * len(vit.blocks), count - 1)


def _sequence(vit: VisionTransformer, shown: Shown) -> Tensor:
    return vit.layers(torch.cat([vit.lead[None], vit.embed(shown.values) + by_centre(vit, shown)]))[1:]


def apart(choose: Choice, vit: VisionTransformer, image: np.ndarray) -> Encoded:
    """The tokens of every size in a sequence of their own, with a class token of its own."""
    shown = choose(image, vit.patch)
    hidden, lengths = torch.zeros(len(shown.values), vit.width), []
    sizes = np.where(shown.width <= 1, 0, np.rint(np.log2(shown.width)).clip(1)).astype(int)
    for size in np.unique(sizes):
        group = np.flatnonzero(sizes == size)
        hidden[group] = _sequence(vit, shown.part(group))
        lengths += [len(group) + 1] * len(vit.blocks)
    return Encoded(hidden, reading_of(shown.boxes), tuple(lengths), len(shown.values))


def whole_levels(vit: VisionTransformer, image: np.ndarray) -> Encoded:
    """Every level encoded whole, as the encoder knows it, and the cut of the pyramid taken of what came out."""
    cut = pyramid(image, vit.patch)
    hidden, lengths = torch.zeros(len(cut.values), vit.width), []
    embedded = 0
    for width in (1, 2, 4):
        side = CELLS // width
        level = finest(image, vit.patch) if width == 1 else downsampled(side, image, vit.patch)
        taken = np.flatnonzero(np.rint(cut.width) == width)
        column, row = np.floor(cut.centres[taken] * side).astype(int).T
        hidden[taken] = _sequence(vit, level)[row * side + column]
        lengths += [side * side + 1] * len(vit.blocks)
        embedded += side * side
    return Encoded(hidden, reading_of(cut.boxes), tuple(lengths), embedded)


def base_unmoved(side: int, vit: VisionTransformer, image: np.ndarray) -> Encoded:
    """Base and crops in one sequence in which the base sees only itself, so that it stays as the encoder knows it."""
    shown, base = saccades(side, image, vit.patch), side * side
    bias = torch.zeros(len(shown.values) + 1, len(shown.values) + 1)
    bias[: base + 1, base + 1 :] = -torch.inf
    started = torch.cat([vit.lead[None], vit.embed(shown.values) + by_centre(vit, shown)])
    lengths = (len(shown.values) + 1,) * len(vit.blocks)
    return Encoded(vit.layers(started, bias=bias)[1:], reading_of(shown.boxes), lengths, len(shown.values))


def inside(rule: str, after: int, kept: int, by_likeness: bool, vit: VisionTransformer, image: np.ndarray) -> Encoded:
    """All patches for the first layers, then ``kept`` of them by a rule.

    Parameters
    ----------
    rule : of `hra.domains.tokens.REDUCERS`, which read what stands behind layer ``after``, or "random".
    by_likeness : every cell takes the kept token that was most like it there, in place of the nearest one.
    """
    shown = finest(image, vit.patch)
    started = torch.cat([vit.lead[None], vit.embed(shown.values) + by_centre(vit, shown)])
    first = vit.layers(started, last=after)
    picked = _picked(rule, kept, vit, (started, first), after)
    hidden = vit.layers(torch.cat([first[:1], first[1:][picked]]), first=after)[1:]
    reading = reading_of(shown.boxes[picked])
    if by_likeness:
        unit = functional.normalize(first[1:], dim=1)
        weights = np.eye(kept, dtype=np.float32)[(unit @ unit[picked].T).argmax(dim=1).numpy()]
        reading = Reading(weights, weights)
    lengths = (len(first),) * after + (kept + 1,) * (len(vit.blocks) - after)
    return Encoded(hidden, reading, lengths, len(shown.values))


def _picked(rule: str, kept: int, vit: VisionTransformer, states: tuple[Tensor, Tensor], after: int) -> np.ndarray:
    """Numbers of the tokens that stay, ascending; ``states`` enter the first layer, and the one after ``after``."""
    started, first = states
    if rule == "random":
        return np.sort(np.random.default_rng(0).permutation(len(first) - 1)[:kept])
    features = first[1:].reshape(CELLS, CELLS, -1).numpy()
    deep = vit.paid(first, after).reshape(CELLS, CELLS).numpy()
    shallow = vit.paid(started, 0).numpy()
    context = tokens.TokenContext.of_features(features, relevance=lambda _: deep, signals={"shallow": shallow})
    allocator = tokens.REDUCERS[rule]()
    found = allocator.realize(allocator.allocate(context, kept))
    column, row = (found.boxes[:, :2] // found.patch).T
    return np.sort(row * CELLS + column)


_KEYS = 80


def _alone(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Windows of 16 that see nothing else."""
    count, wide = query.shape[-2], 16
    there = functional.pad(query.new_zeros(count), (0, -count % wide), value=-torch.inf).reshape(-1, 1, wide)
    parts = (functional.pad(part, (0, 0, 0, -count % wide)).unflatten(-2, (-1, wide)) for part in (query, key, value))
    return functional.scaled_dot_product_attention(*parts, attn_mask=there).flatten(-3, -2)[..., :count, :]


def _drawn(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """The same tokens drawn at random for all."""
    chosen = torch.from_numpy(np.random.default_rng(0).permutation(key.shape[-2])[:_KEYS])
    return functional.scaled_dot_product_attention(query, key[..., chosen, :], value[..., chosen, :])


_KINDS: Mapping[str, tuple[Attend, Callable[[int], int]]] = MappingProxyType(
    {
        "16 fine and means of 4": (WindowedAttention(16, pooled=4), lambda n: n * (16 + -(-n // 4))),
        "windows of 32 and their means": (WindowedAttention(32), lambda n: n * (32 + -(-n // 32))),
        "means of 4 alone, as down-sampling": (LowRankAttention(65), lambda n: n * 65),
        "windows of 16 alone": (_alone, lambda n: n * 16),
        f"{_KEYS} random tokens": (_drawn, lambda n: n * _KEYS),
        "128 random features": (RandomFeatureAttention(128), lambda n: 2 * n * 128),
    }
)
"""Attention by name, and how many pairs (or features for pairs) it takes among n tokens."""


def attending() -> list[Row]:
    """All patches in the order of their places along a Z curve, with attention between fewer pairs in every layer."""
    return [Row("attention", name, partial(_attended, name)) for name in _KINDS]


def _attended(name: str, vit: VisionTransformer, image: np.ndarray) -> Encoded:
    kind, pairs = _KINDS[name]
    shown = finest(image, vit.patch)
    shown = shown.part(np.argsort(z_order(shown.boxes), kind="stable"))
    count = len(shown.values) + 1
    started = torch.cat([vit.lead[None], vit.embed(shown.values) + by_centre(vit, shown)])
    hidden = vit.layers(started, attend=kind)[1:]
    saved = 4 * vit.width * (count * count - pairs(count)) * len(vit.blocks)
    return Encoded(hidden, reading_of(shown.boxes), (count,) * len(vit.blocks), count - 1, saved=saved)


@dataclass(frozen=True)
class Row:
    """A way by what it is asked under: "", "a" to "d", "one scale", "inside"."""

    group: str
    name: str
    way: Way


def rows(layers: int) -> tuple[Row, ...]:
    """What is compared, for an encoder of so many layers; the first is what others are told beside."""

    def before(choose: Choice, **how: Any) -> Way:
        return partial(together, choose, **how)

    found = [
        Row("", "down-sampling, 8 x 8", before(partial(downsampled, 8))),
        Row("", "uniform: every second patch each way", before(_uniform)),
        Row("", "random patches", before(_random)),
        Row("a", "pyramid, position at the centre (= interpolated table)", before(pyramid)),
        Row("a", "pyramid, mean of the positions below", before(pyramid, placed=by_mean)),
        Row("a", "pyramid, position of the first cell", before(pyramid, placed=by_corner)),
        Row("a", "pyramid, at the centre, attention by area", before(pyramid, area=True)),
        Row("a", "pyramid of four levels, at the centre", before(partial(pyramid, levels=4))),
        Row("b", "pyramid, each level's tokens by themselves", partial(apart, partial(pyramid, budget=TOKENS - 2))),
        Row("b", "pyramid, cut of levels encoded whole", whole_levels),
    ]
    for side in (7, 6, 5):
        name = f"base of {side} x {side} and {TOKENS - side * side} crops"
        found += [
            Row("c", f"{name}, together", before(partial(saccades, side))),
            Row("c", f"{name}, the base sees only itself", partial(base_unmoved, side)),
            Row("c", f"{name}, apart", partial(apart, partial(saccades, side, budget=TOKENS - 1))),
        ]
    found.append(Row("one scale", "9 x 9 without 17 flat ones", before(_without_flat)))
    # As many token-layers as down-sampling has, or less; and the published place, at the cost of 11 x 11 tokens.
    for after, kept in ((1, 46), (2, 26), (4, 64)):
        if after < layers:
            for rule in ("divprune", "vscan", "random"):
                for like in (False, True):
                    name = f"{rule}, {kept} after layer {after}, cells by {'likeness' if like else 'place'}"
                    found.append(Row("inside", name, partial(inside, rule, after, kept, like)))
    found += attending()
    found.append(Row("more", "down-sampling, 11 x 11", before(partial(downsampled, 11))))
    return tuple(found)
