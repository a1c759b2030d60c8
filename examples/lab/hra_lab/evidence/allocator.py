"""An allocator that learns from a reader's answers: the relevance of patches from a glance and the question.

Soft in training, hard in use: the cut of a pyramid is drawn with Gumbel noise, the reader answers from the tokens that
are there, and its loss passes through the cut (`hra.domains.tokens.learned`). In use `PyramidSampling` takes the
relevance as any other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, gelu, kl_div

from hra.domains import tokens
from hra.domains.tokens.learned import GumbelCut, SoftPyramid
from hra.errors import HraError
from hra_lab.evidence.asking import words_of
from hra_lab.evidence.canvas import PATCH, SIDE, Canvas
from hra_lab.evidence.questions import LENGTH, WORDS
from hra_lab.evidence.reader import Reader
from hra_lab.evidence.weights import load_weights

WEIGHTS = Path(__file__).parent / "allocator.safetensors"
BUDGET = 10
_HIDDEN, _CELLS, _LEVELS = 24, SIDE // PATCH, 4
_BATCH, _RATE, _JOINT_RATE, _TEMPERATURE = 12, 2e-2, 2e-4, 1.0
_LEAST, _REACH = 1e-3, 3.0


class Glance(nn.Module):
    """From mean and spread of the colours of each patch and a question to the relevance of the patches."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.word = nn.Embedding(LENGTH * len(WORDS), _HIDDEN)
            self.see = nn.Conv2d(6, _HIDDEN, 1)
            self.tell = nn.Conv2d(_HIDDEN, _HIDDEN, 3, padding=1, padding_mode="replicate")

    def forward(self, cells: Tensor, words: Tensor) -> Tensor:
        """Logarithms of relevance [B, 256] for cells [B, 6, 16, 16] and words [B, 3]."""
        asked = self.word(words + len(WORDS) * torch.arange(LENGTH)).sum(-2)
        told = self.tell(gelu(self.see(2 * cells - 1)))
        alike = torch.einsum("bhyx,bh->byx", told, asked).flatten(1) / _HIDDEN
        # Never so sure that no gradient is left.
        return _REACH * torch.tanh(alike / _REACH)


def cells_of(image: np.ndarray) -> np.ndarray:
    """Mean and spread of each colour in each patch of an image [256, 256, 3] in 0 .. 1, float32 [6, 16, 16]."""
    parts = image.reshape(_CELLS, PATCH, _CELLS, PATCH, 3).astype(np.float32)
    return np.concatenate([parts.mean((1, 3)), parts.std((1, 3))], axis=2).transpose(2, 0, 1)


@dataclass(frozen=True)
class GlanceRelevance:
    """A trained `Glance` as a relevance, for canvases and their questions alone."""

    network: Glance

    def __call__(self, context: tokens.TokenContext) -> np.ndarray:
        """Relevance [16, 16], float32 in (0, 1].

        Raises
        ------
        HraError : an image of another size, or a question with other words.
        """
        if context.image.shape != (SIDE, SIDE, 3):
            raise HraError(f"an image of shape {context.image.shape}", where="image", fix=f"pass a canvas of {SIDE}")
        words = torch.from_numpy(words_of(context.query))[None]
        with torch.no_grad():
            told = self.network(torch.from_numpy(cells_of(context.image))[None], words)[0]
        shares = (told - told.max()).exp().clamp_min(_LEAST)
        return shares.numpy().reshape(_CELLS, _CELLS)


@cache
def trained() -> GlanceRelevance:
    """The relevance whose weights hra's laboratory carries."""
    network = Glance()
    load_weights(WEIGHTS, network)
    return GlanceRelevance(network.eval())


def learned(context: tokens.TokenContext) -> np.ndarray:
    """What `trained` says: for ``hra eval vqa --relevance hra_lab.evidence.allocator:learned``."""
    return trained()(context)


@dataclass(frozen=True, eq=False)
class Material:
    """N canvases as an allocator is trained on them.

    Attributes
    ----------
    cells : [N, 6, 16, 16]. pixels : uint8 [N, 340, 768] of every patch of the pyramid. drop : [N, 3, 256], see
        `SoftPyramid`. words : [N, 4, 3]. answers : [N, 4]. template : of each.
    """

    cells: Tensor
    pixels: Tensor
    drop: Tensor
    words: Tensor
    answers: Tensor
    template: np.ndarray

    @classmethod
    def of(cls, made: Mapping[str, Sequence[Canvas]]) -> Material:
        """The arrays of canvases by template."""
        canvases = [canvas for of in made.values() for canvas in of]
        images = [canvas.image.astype(np.float32) / 255 for canvas in canvases]
        pyramids = [tokens.PatchPyramid.build(image, patch=PATCH, levels=_LEVELS) for image in images]
        values = [np.round(255 * one.values(one.positions)).astype(np.uint8) for one in pyramids]
        return cls(
            torch.from_numpy(np.stack([cells_of(image) for image in images])),
            torch.from_numpy(np.stack(values)),
            torch.stack([SoftPyramid.of(one).drop for one in pyramids]),
            torch.tensor([[question.words for question in canvas.questions] for canvas in canvases]),
            torch.tensor([[question.answer for question in canvas.questions] for canvas in canvases]),
            np.concatenate([np.full(len(of), name) for name, of in made.items()]),
        )


class Tree:
    """What all pyramids of canvases share: boxes of their patches, splits, and which of these make a patch be there."""

    def __init__(self) -> None:
        pyramid = tokens.PatchPyramid.build(np.zeros((SIDE, SIDE, 3), np.float32), patch=PATCH, levels=_LEVELS)
        soft, total, finest = SoftPyramid.of(pyramid), int(pyramid.offsets[-1]), int(pyramid.offsets[1])
        level, x, y = pyramid.positions.T
        corner, side = np.stack([x, y], axis=1) * (PATCH << level)[:, None], (PATCH << level)[:, None]
        self.boxes = torch.from_numpy(np.concatenate([corner, corner + side], axis=1).astype(np.int16))
        self.forest, self.base, self.above = soft.forest, soft.base_cost, soft.above
        # Behind the splits stand one that is never made, of finest patches, and one that always is, above the coarsest.
        splits = total - finest
        own = np.where(np.arange(total) < finest, splits, total - 1 - np.arange(total))
        parent = np.where(pyramid.parents < 0, splits + 1, total - 1 - pyramid.parents)
        self.own, self.parent = torch.from_numpy(own), torch.from_numpy(parent)

    def there(self, splits: Tensor) -> Tensor:
        """How much of every patch is there, [B, 340], for splits [B, 84]."""
        zero, one = splits.new_zeros(len(splits), 1), splits.new_ones(len(splits), 1)
        every = torch.cat([splits, zero, one], dim=1)
        return every[:, self.parent] * (1 - every[:, self.own])

    def gains(self, told: Tensor, drop: Tensor) -> Tensor:
        """What each split gains, [B, 84], for logarithms of relevance [B, 256]."""
        shares = (told - told.amax(1, keepdim=True)).exp().clamp_min(_LEAST)
        gain = shares.new_zeros(len(told), len(self.forest))
        return gain.index_add(1, self.above.flatten(), (shares[:, None] * drop).flatten(1))


@dataclass(frozen=True)
class Lesson:
    """How an allocator is taught.

    Attributes
    ----------
    order : whether templates come one after the other, from easy to hard, in place of all mixed.
    adversary : whether the worst answered of the other questions to the same tokens counts as well.
    answers : whether answers count. cooperation : whether relevance is to be where the reader looks when it sees all
        finest tokens. Without answers there is no cut, and a step takes a tenth of the time: there are 5 times as many.
    joint : whether the reader learns too, in the second half, after the allocator alone.
    """

    answers: bool = True
    order: bool = False
    adversary: bool = False
    cooperation: bool = False
    joint: bool = False


LESSONS: Mapping[str, Lesson] = MappingProxyType(
    {
        "answers alone": Lesson(),
        "curriculum": Lesson(order=True),
        "adversary": Lesson(adversary=True),
        "cooperation": Lesson(cooperation=True),
        "cooperation without answers": Lesson(answers=False, cooperation=True),
        "stages: allocator, then both": Lesson(joint=True),
    }
)


def teach(
    lesson: Lesson, reader: Reader, material: Material, steps: int, progress: Callable[[str], None], seed: int = 0
) -> Glance:
    """A `Glance` whose 10 tokens let ``reader`` answer; of a joint lesson the reader learns in place."""
    network, tree = Glance(seed), Tree()
    cut = GumbelCut(_TEMPERATURE, torch.Generator().manual_seed(seed))
    optimiser = torch.optim.AdamW([{"params": network.parameters(), "lr": _RATE}], weight_decay=0.01)
    reader.requires_grad_(False)
    steps *= 1 if lesson.answers else 5
    # A frozen reader sees a patch the same way each time.
    known = None if lesson.joint else torch.cat([_seen(reader, part, tree) for part in material.pixels.split(50)])
    for step in range(steps):
        if lesson.joint and step == steps // 2:
            answering = [weight.requires_grad_() for weight in reader.answering()]
            optimiser.add_param_group({"params": answering, "lr": _JOINT_RATE})
        rows = _rows(lesson, material, step, steps, np.random.default_rng((seed, step, 3)))
        seen = _seen(reader, material.pixels[rows], tree) if known is None else known[rows]
        loss = _loss(lesson, network, reader, seen, material, tree, cut, rows)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        if (step + 1) % 50 == 0:
            progress(f"step {step + 1} of {steps}, loss {float(loss.detach()):.3f}")
    reader.requires_grad_(False)
    return network.eval().requires_grad_(False)


def _rows(lesson: Lesson, material: Material, step: int, steps: int, random: np.random.Generator) -> np.ndarray:
    names = list(dict.fromkeys(material.template))
    among = material.template == names[step * len(names) // steps] if lesson.order else slice(None)
    return random.choice(np.arange(len(material.template))[among], _BATCH)


def _seen(reader: Reader, pixels: Tensor, tree: Tree) -> Tensor:
    return reader.seen(pixels.float() / 255, tree.boxes.expand(len(pixels), -1, -1))


def _loss(
    lesson: Lesson,
    network: Glance,
    reader: Reader,
    seen: Tensor,
    material: Material,
    tree: Tree,
    cut: GumbelCut,
    rows: np.ndarray,
) -> Tensor:
    """Of the question that tokens are made for, which is one of the first three, and what the lesson adds."""
    at = torch.from_numpy(rows)
    asked = torch.from_numpy(rows % 3)
    words, answers = material.words[at], material.answers[at]
    own = words[torch.arange(len(at)), asked]
    told = network(material.cells[at], own)
    boxes = tree.boxes.expand(len(at), -1, -1)

    def task(splits: Tensor) -> Tensor:
        scores = reader.answers(seen, boxes, words, there=tree.there(splits.float()))
        each = cross_entropy(scores.flatten(0, 1), answers.flatten(), reduction="none").view(answers.shape)
        mine = each.gather(1, asked[:, None])[:, 0]
        return mine + each.amax(1) if lesson.adversary else mine

    loss = told.new_zeros(())
    if lesson.answers:
        loss = cut(tree.forest, tree.gains(told, material.drop[at]), float(BUDGET - tree.base), task).mean()
    if lesson.cooperation:
        with torch.no_grad():
            looked = reader.paid(seen[:, : _CELLS**2], boxes[:, : _CELLS**2], own[:, None])[:, 0]
        loss = loss + kl_div(told.log_softmax(1), looked / looked.sum(1, keepdim=True), reduction="batchmean")
    return loss
