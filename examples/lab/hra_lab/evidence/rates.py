"""How many tokens a step of an answer gets: a rate that is learned from the attention and belief of a first look.

A step is one question to a canvas. It is read from 10 tokens; a rate says whether that is enough, or with how many more
it is read again. Both readings count. X. Liang et al., "DyRate" (2025), learn such a rate for the steps of a language
model, of which none is at hand here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from hra_lab.evidence.batches import of_shard
from hra_lab.evidence.canvas import KINDS, PATCH, Canvas
from hra_lab.evidence.cells import Cell
from hra_lab.evidence.reader import Reader
from hra_lab.evidence.shards import make_shard

LADDER = (10, 17, 34, 68)
"""Tokens that a step can have; the first is what it looks at in any case."""
COST = np.array([LADDER[0], *(LADDER[0] + more for more in LADDER[1:])], float)
"""Tokens read in all, of a step that ends at each."""
_FEATURES, _HIDDEN, _STEPS, _RATE = 6, 16, 300, 2e-2
_BELIEF, _ATTENTION = 0, 3


@dataclass(frozen=True, eq=False)
class Steps:
    """Steps of N canvases.

    Attributes
    ----------
    told : float32 [N, 4, 6], of the first look: the belief in the likeliest answer; how spread belief and attention
        are; how much attention tokens get in all, and the first of them, and how large that one is.
    right : bool [N, 4, 4], whether the answer is right with so many tokens of `LADDER`.
    """

    told: np.ndarray
    right: np.ndarray

    @classmethod
    def of(cls, reader: Reader, made: Sequence[Canvas], relevance: str) -> Steps:
        """Tokens of a pyramid are made for the question of each step."""
        told, right = [], []
        for asked in range(len(KINDS)):
            answered = []
            for count in LADDER:
                shard = make_shard(Cell("pyramid", count, relevance), made, asked=asked)
                batch = of_shard(shard, np.arange(len(shard)))
                words = batch.words[:, asked : asked + 1]
                with torch.no_grad():
                    seen = reader.seen(batch.pixels, batch.boxes)
                    scores = reader.answers(seen, batch.boxes, words)[:, 0]
                    if count == LADDER[0]:
                        told.append(_told(scores, reader.paid(seen, batch.boxes, words)[:, 0], batch.boxes))
                answered.append((scores.argmax(1) == batch.answers[:, asked]).numpy())
            right.append(np.stack(answered, axis=1))
        return cls(np.stack(told, axis=1), np.stack(right, axis=1))

    @classmethod
    def together(cls, parts: Sequence[Steps]) -> Steps:
        """All canvases of several."""
        return cls(np.concatenate([one.told for one in parts]), np.concatenate([one.right for one in parts]))


def _told(scores: Tensor, paid: Tensor, boxes: Tensor) -> np.ndarray:
    belief, share = scores.softmax(1), paid.sum(1)
    among = paid / share[:, None].clamp_min(1e-9)
    first = among.argmax(1)
    side = (boxes[torch.arange(len(boxes)), first, 2] - boxes[torch.arange(len(boxes)), first, 0]).float()
    parts = (belief.amax(1), _spread(belief), _spread(among), share, among.amax(1), torch.log2(side / PATCH))
    return torch.stack(parts, dim=1).numpy()


def _spread(shares: Tensor) -> Tensor:
    return -(shares * shares.clamp_min(1e-9).log()).sum(1)


Choose = Callable[[np.ndarray], np.ndarray]
"""From what was told [..., 6] to places in `LADDER`, int64 [...]."""


def learn(steps: Steps, price: float, seed: int = 0) -> Choose:
    """A rate that makes mistakes and ``price`` times the tokens read, as parts of the most, least."""
    told = torch.from_numpy(steps.told.reshape(-1, _FEATURES))
    middle, scale = told.mean(0), told.std(0).clamp_min(1e-6)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = nn.Sequential(nn.Linear(_FEATURES, _HIDDEN), nn.GELU(), nn.Linear(_HIDDEN, len(LADDER)))
    cost = torch.from_numpy((~steps.right.reshape(-1, len(LADDER)) + price * COST / COST[-1]).astype(np.float32))
    optimiser = torch.optim.AdamW(network.parameters(), lr=_RATE, weight_decay=0.01)
    for _ in range(_STEPS):
        loss = (network((told - middle) / scale).softmax(1) * cost).sum(1).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    def choose(given: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            return network((torch.from_numpy(given) - middle) / scale).argmax(-1).numpy()

    return choose


def by_mark(steps: Steps, tokens: float, *, attention: bool = False) -> Choose:
    """34 tokens more where belief is low, or ``attention`` to tokens high: a mark in place of a network.

    The mark makes the steps of training read so many ``tokens`` on average. That tokens follow the attention they get
    is the rule of `hra.integrations.transformers.dyrate`.
    """
    again, sign, column = LADDER.index(34), -1 if attention else 1, _ATTENTION if attention else _BELIEF
    share = min(max((tokens - COST[0]) / (COST[again] - COST[0]), 0.0), 1.0)
    mark = np.quantile(sign * steps.told[..., column], share)
    return lambda given: np.where(sign * given[..., column] < mark, again, 0)


def score(steps: Steps, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Share of right answers and mean tokens read of each canvas, [N] each, for places [N, 4] in `LADDER`."""
    right = np.take_along_axis(steps.right, chosen[..., None], axis=2)[..., 0]
    return right.mean(1), COST[chosen].mean(1)


def fixed(steps: Steps, tokens: float) -> np.ndarray:
    """Share of right answers [N] of a rate by chance: two fixed numbers, mixed so that ``tokens`` are read on average.

    A fixed number takes one reading, so that nothing is counted twice.
    """
    above = min(max(int(np.searchsorted(LADDER, tokens)), 1), len(LADDER) - 1)
    low, high = LADDER[above - 1], LADDER[above]
    share = min(max((tokens - low) / (high - low), 0.0), 1.0)
    return ((1 - share) * steps.right[..., above - 1] + share * steps.right[..., above]).mean(1)
