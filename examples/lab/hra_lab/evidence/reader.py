"""The reader: a small transformer that answers questions from tokens and their boxes alone.

Image tokens see each other, a question sees the image and itself, as in a causal language model with the image in
front; so one pass serves several questions. Tokens have no number: their order tells nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from hra_lab.evidence.canvas import PATCH, SIDE
from hra_lab.evidence.questions import ANSWERS, LENGTH, WORDS
from hra_lab.evidence.stem import Stem

_OCTAVES = 5
Attend = Callable[[Tensor, Tensor, Tensor], Tensor]
"""Query, key and value [..., N, D] -> the mixed values."""


@dataclass(frozen=True)
class Size:
    """How large a reader is.

    Attributes
    ----------
    width : of its embeddings; layers, heads : of its transformer.
    """

    width: int
    layers: int
    heads: int = 4


SMALL = Size(96, 2)
"""0.34 million weights."""


class Reader(nn.Module):
    """Answers from tokens.

    ``reader(pixels [B, K, 768] in 0 .. 1, boxes [B, K, 4] in pixels, words [B, Q, 3])`` gives scores of `ANSWERS`
    [B, Q, A].
    """

    def __init__(self, size: Size) -> None:
        super().__init__()
        width = size.width
        self.size = size
        self.stem = Stem(width)
        self.place = nn.Sequential(nn.Linear(4 * (1 + 2 * _OCTAVES), width), nn.GELU(), nn.Linear(width, width))
        # A word has an embedding for each of its places, and their sum is the question.
        self.word = nn.Embedding(LENGTH * len(WORDS), width)
        self.blocks = nn.ModuleList(_Block(width, size.heads) for _ in range(size.layers))
        self.norm = nn.LayerNorm(width)
        self.answer = nn.Linear(width, len(ANSWERS))

    def answering(self) -> list[nn.Parameter]:
        """What answers teach: all but the features and heads of the stem."""
        alone = {id(weight) for part in (self.stem.features, self.stem.shown) for weight in part.parameters()}
        return [weight for weight in self.parameters() if id(weight) not in alone]

    def forward(self, pixels: Tensor, boxes: Tensor, words: Tensor) -> Tensor:
        """Scores of `ANSWERS`."""
        return self.answers(self.seen(pixels, boxes), boxes, words)

    def seen(self, pixels: Tensor, boxes: Tensor) -> Tensor:
        """What tokens are to the first layer, [B, K, width]."""
        return self.stem(pixels) + self.place(fourier(boxes))

    def answers(
        self, seen: Tensor, boxes: Tensor, words: Tensor, *, there: Tensor | None = None, attend: Attend | None = None
    ) -> Tensor:
        """Scores of `ANSWERS` from what `seen` gave.

        Parameters
        ----------
        there : [B, K] in 0 .. 1, how much of each token is there: none sees one of 0, and gradients pass through it.
        attend : by what image tokens see each other, in the order in which they stand; else each sees all.
        """
        x, mask, turn = self._entering(seen, boxes, words)
        for block in self.blocks:
            x = block(x, mask, turn, there, attend)
        return self.answer(self.norm(x[:, seen.shape[1] :]))

    def paid(self, seen: Tensor, boxes: Tensor, words: Tensor) -> Tensor:
        """What questions attend to tokens in the first layer, mean of the heads, [B, Q, K]; themselves get the rest."""
        x, mask, turn = self._entering(seen, boxes, words)
        q, k, _ = cast("_Block", self.blocks[0]).heads_of(x, turn)
        count = seen.shape[1]
        scores = q[:, :, count:] @ k.mT * q.shape[-1] ** -0.5
        return scores.masked_fill(~mask[count:], -torch.inf).softmax(-1).mean(1)[..., :count]

    def _entering(self, seen: Tensor, boxes: Tensor, words: Tensor) -> tuple[Tensor, Tensor, tuple[Tensor, Tensor]]:
        asked = self.word(words + len(WORDS) * torch.arange(LENGTH, device=words.device)).sum(-2)
        mask = _mask(seen.shape[1], words.shape[1], seen.device)
        return torch.cat([seen, asked], dim=1), mask, _turn(boxes, words.shape[1], self.size.width // self.size.heads)


class _Block(nn.Module):
    """Attention and a perceptron, each after a norm (R. Xiong et al., "On layer normalization", 2020)."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def heads_of(self, x: Tensor, turn: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor, Tensor]:
        """Query, key and value, [B, heads, N, width / heads] each."""
        q, k, v = self.qkv(self.norms[0](x)).unflatten(2, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        return _rotate(q, turn), _rotate(k, turn), v

    def forward(
        self,
        x: Tensor,
        mask: Tensor,
        turn: tuple[Tensor, Tensor],
        there: Tensor | None = None,
        attend: Attend | None = None,
    ) -> Tensor:
        """One layer, [B, N, width] to the same shape."""
        heads = self.heads_of(x, turn)
        if there is not None:
            seen = _of_those_there(*heads, mask, there)
        elif attend is not None:
            count = int(mask[0].sum())
            image = attend(*(part[:, :, :count] for part in heads))
            query, key, value = heads
            asked = scaled_dot_product_attention(query[:, :, count:], key, value, attn_mask=mask[count:])
            seen = torch.cat([image, asked], dim=2)
        else:
            seen = scaled_dot_product_attention(*heads, attn_mask=mask)
        x = x + self.out(seen.transpose(1, 2).flatten(2))
        return x + self.mlp(self.norms[1](x))


def _of_those_there(query: Tensor, key: Tensor, value: Tensor, mask: Tensor, there: Tensor) -> Tensor:
    """Attention whose weights are multiplied by what is ``there`` [B, K] of each image token."""
    scores = (query @ key.mT * query.shape[-1] ** -0.5).masked_fill(~mask, -torch.inf)
    asked = torch.nn.functional.pad(there, (0, key.shape[-2] - there.shape[1]), value=1.0)
    weights = (scores - scores.amax(-1, keepdim=True)).exp() * asked[:, None, None]
    return weights @ value / weights.sum(-1, keepdim=True).clamp_min(torch.finfo(weights.dtype).tiny)


def _turn(boxes: Tensor, asked: int, width: int) -> tuple[Tensor, Tensor]:
    """Cosines and sines [B, 1, K + Q, width / 2] of a rotary code of middles; questions stay as they are.

    Scores then depend on how far two tokens lie apart (J. Su et al., "RoFormer", 2021), half of the pairs across, half
    down: what a letter is that several tokens share follows from where they lie to each other.
    """
    middle = (boxes[..., :2] + boxes[..., 2:]).float() / 2
    waves = torch.pi / (PATCH * 2 ** torch.linspace(0, 4, width // 4, device=boxes.device))
    angle = (middle[..., None] * waves).flatten(-2)
    angle = torch.cat([angle, angle.new_zeros(len(angle), asked, width // 2)], dim=1)[:, None]
    return angle.cos(), angle.sin()


def _rotate(x: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
    cos, sin = turn
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1).to(x.dtype)


def fourier(boxes: Tensor) -> Tensor:
    """Middle and log of the sides of boxes [..., 4], with sines and cosines of octaves of each, [..., 4 (1 + 10)]."""
    boxes = boxes.float()
    middle = (boxes[..., :2] + boxes[..., 2:]) / SIDE - 1
    sides = torch.log2((boxes[..., 2:] - boxes[..., :2]).clamp(min=1) / PATCH) / 4
    place = torch.cat([middle, sides], dim=-1)
    angle = place[..., None] * (torch.pi * 2.0 ** torch.arange(_OCTAVES, device=boxes.device))
    return torch.cat([place, angle.sin().flatten(-2), angle.cos().flatten(-2)], dim=-1)


def _mask(count: int, asked: int, device: torch.device) -> Tensor:
    """True where a row may see a column: the image by all, a question by itself."""
    group = torch.cat([torch.zeros(count), 1 + torch.arange(asked)]).to(device)
    return (group[None, :] == 0) | (group[:, None] == group[None, :])
