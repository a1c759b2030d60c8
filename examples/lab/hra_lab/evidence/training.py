"""Training of a reader: seeded, resumable, the same on every run."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from hra_lab.evidence.alone import learn_tokens
from hra_lab.evidence.batches import Batch, batch_at
from hra_lab.evidence.checkpoints import load_state, save_state
from hra_lab.evidence.reader import Reader, Size
from hra_lab.evidence.shards import Shard
from hra_lab.evidence.stock import Stock
from hra_lab.evidence.views import UNASKED


@dataclass(frozen=True)
class Plan:
    """How a reader is trained.

    Attributes
    ----------
    size : of the reader.
    alone : gradients of its stem on tokens one by one, before all others (`hra_lab.evidence.alone`).
    steps : gradients of all else, each of so many canvases that there are ``tokens`` tokens.
    rate : learning rate at its highest, after ``warm_up`` steps; it falls to 0 as a cosine.
    """

    size: Size
    alone: int
    steps: int
    tokens: int = 800
    rate: float = 2e-3
    warm_up: int = 60
    seed: int = 0

    def rate_at(self, step: int) -> float:
        """Learning rate of a step."""
        return self.rate * min((step + 1) / self.warm_up, 0.5 * (1 + math.cos(math.pi * step / self.steps)))


def train(
    plan: Plan,
    stock: Stock,
    shards: Sequence[Shard],
    progress: Callable[[str], None],
    *,
    device: str = "cpu",
    checkpoint: Path | None = None,
    save_every: int = 200,
) -> Reader:
    """A reader that has seen ``plan.steps`` batches; from ``checkpoint`` on where there is one.

    Every random choice is a function of seed and step, so that a run that was interrupted ends with the same weights as
    one that was not, to rounding.

    Raises
    ------
    FileError : ``checkpoint`` is damaged, or of a reader of another size.
    """
    torch.manual_seed(plan.seed)
    reader = Reader(plan.size).to(device)
    optimiser = torch.optim.AdamW(reader.answering(), lr=plan.rate, weight_decay=0.05, betas=(0.9, 0.98))
    start = 0
    if checkpoint is not None and checkpoint.exists():
        start = load_state(checkpoint, reader, optimiser)
    else:
        progress(f"{plan.alone} steps of tokens one by one")
        learn_tokens(reader.stem, stock, plan.alone, plan.seed)
    recent: list[float] = []
    for step in range(start, plan.steps):
        batch = batch_at(stock, shards, plan.tokens, np.random.default_rng((plan.seed, step, 2)))
        for group in optimiser.param_groups:
            group["lr"] = plan.rate_at(step)
        loss = loss_of(reader, Batch(*(part.to(device) for part in batch)))
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
        optimiser.step()
        recent.append(float(loss.detach()))
        if (step + 1) % 50 == 0:
            progress(f"step {step + 1} of {plan.steps}, loss {np.mean(recent[-50:]):.3f}")
        if checkpoint is not None and (step + 1 == plan.steps or (step + 1) % save_every == 0):
            save_state(checkpoint, reader, optimiser, step + 1)
    return reader.eval()


def loss_of(reader: Reader, batch: Batch) -> Tensor:
    """Mean cross entropy over the questions; those with a negative answer are not asked."""
    scores = reader(batch.pixels, batch.boxes, batch.words)
    return cross_entropy(scores.flatten(0, 1), batch.answers.flatten(), ignore_index=UNASKED)
