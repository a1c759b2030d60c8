"""The reader: a small transformer that answers questions from tokens and their boxes alone.

Image tokens see each other, the words of a question see the image and each other, as in a causal language model with
the image in front; so one pass serves several questions. Tokens have no number: their order tells nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from hra.lab.evidence.canvas import PATCH, SIDE
from hra.lab.evidence.questions import ANSWERS, LENGTH, SECOND, WORDS
from hra.lab.evidence.shown import PARTS

_OCTAVES = 6


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


FULL = Size(128, 4)
QUICK = Size(96, 3)


class Reader(nn.Module):
    """Answers from tokens.

    ``reader(pixels [B, K, 192] in 0 .. 1, boxes [B, K, 4] in pixels, words [B, Q, 4])`` gives scores of `ANSWERS`
    [B, Q, A] and of `SECOND` [B, Q, S]. In training `see` adds, from the same pass, scores of what each token shows.
    """

    def __init__(self, size: Size) -> None:
        super().__init__()
        width = size.width
        self.size = size
        self.pixels = nn.Sequential(nn.Linear(3 * PATCH * PATCH, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.place = nn.Sequential(nn.Linear(4 * (1 + 2 * _OCTAVES), width), nn.GELU(), nn.Linear(width, width))
        self.word = nn.Embedding(len(WORDS), width)
        self.order = nn.Parameter(torch.randn(LENGTH, width) * 0.02)
        self.query = nn.Parameter(torch.randn(width) * 0.02)
        self.blocks = nn.ModuleList(_Block(width, size.heads) for _ in range(size.layers))
        self.norm = nn.LayerNorm(width)
        self.first = nn.Linear(width, len(ANSWERS))
        self.second = nn.Linear(width, len(SECOND))
        self.shown = nn.ModuleList(nn.Linear(width, count) for count in PARTS)

    def forward(self, pixels: Tensor, boxes: Tensor, words: Tensor) -> tuple[Tensor, Tensor]:
        """Scores of both heads."""
        first, second, _ = self.see(pixels, boxes, words)
        return first, second

    def see(self, pixels: Tensor, boxes: Tensor, words: Tensor) -> tuple[Tensor, Tensor, list[Tensor]]:
        """Scores of both heads, and for each token scores [B, K, P] of each of `PARTS`."""
        batch, count = pixels.shape[:2]
        asked = words.shape[1]
        image = self.pixels(pixels - 0.5) + self.place(fourier(boxes))
        question = torch.cat([self.word(words) + self.order, self.query.expand(batch, asked, 1, -1)], dim=2).flatten(
            1, 2
        )
        x = torch.cat([image, question], dim=1)
        mask = _mask(count, asked, LENGTH + 1, x.device)
        for block in self.blocks:
            x = block(x, mask)
        x = self.norm(x)
        answer = x[:, count:].unflatten(1, (asked, LENGTH + 1))[:, :, -1]
        return self.first(answer), self.second(answer), [head(x[:, :count]) for head in self.shown]


class _Block(nn.Module):
    """Attention and a perceptron, each after a norm (R. Xiong et al., "On layer normalization", 2020)."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """One layer, [B, N, width] to the same shape."""
        qkv = self.qkv(self.norms[0](x)).unflatten(2, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        seen = scaled_dot_product_attention(qkv[0], qkv[1], qkv[2], attn_mask=mask)
        x = x + self.out(seen.transpose(1, 2).flatten(2))
        return x + self.mlp(self.norms[1](x))


def fourier(boxes: Tensor) -> Tensor:
    """Middle and log of the sides of boxes [..., 4], with sines and cosines of octaves of each, [..., 4 (1 + 12)]."""
    boxes = boxes.float()
    middle = (boxes[..., :2] + boxes[..., 2:]) / SIDE - 1
    sides = torch.log2((boxes[..., 2:] - boxes[..., :2]).clamp(min=1) / PATCH) / 5
    place = torch.cat([middle, sides], dim=-1)
    angle = place[..., None] * (torch.pi * 2.0 ** torch.arange(_OCTAVES, device=boxes.device))
    return torch.cat([place, angle.sin().flatten(-2), angle.cos().flatten(-2)], dim=-1)


def _mask(count: int, asked: int, length: int, device: torch.device) -> Tensor:
    """True where a row may see a column: the image by all, a question by itself."""
    group = torch.cat([torch.zeros(count), 1 + torch.arange(asked).repeat_interleave(length)]).to(device)
    return (group[None, :] == 0) | (group[:, None] == group[None, :])
