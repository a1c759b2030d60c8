"""Training of a reader on views of canvases: seeded, resumable, the same on every run."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from hra.lab.evidence.checkpoints import load_state, save_state
from hra.lab.evidence.crops import learn_crops
from hra.lab.evidence.reader import Reader, Size
from hra.lab.evidence.stock import Stock
from hra.lab.evidence.views import View, view


@dataclass(frozen=True)
class Plan:
    """How a reader is trained.

    Attributes
    ----------
    size : of the reader.
    crops : gradients of its stem on crops, before all others (`hra.lab.evidence.crops`).
    steps : gradients, each of views of one of ``counts`` tokens, so many that there are ``tokens`` of them in all.
    rate : learning rate at its highest, after ``warm_up`` steps; it falls to 0 as a cosine.
    """

    size: Size
    steps: int
    crops: int = 600
    counts: tuple[int, ...] = (17, 34, 34, 68)
    tokens: int = 952
    rate: float = 1.5e-3
    warm_up: int = 150
    seed: int = 0

    def rate_at(self, step: int) -> float:
        """Learning rate of a step."""
        return self.rate * min((step + 1) / self.warm_up, 0.5 * (1 + math.cos(math.pi * step / self.steps)))

    def view_at(self, step: int, stock: Stock) -> View:
        """What is seen in a step."""
        random = np.random.default_rng((self.seed, step))
        count = int(random.choice(self.counts))
        return view(stock, random.integers(0, len(stock.ground), self.tokens // count), count, random)


def train(
    plan: Plan,
    stock: Stock,
    progress: Callable[[str], None],
    *,
    device: str = "cpu",
    checkpoint: Path | None = None,
    save_every: int = 500,
) -> Reader:
    """A reader that has seen ``plan.steps`` batches of views; from ``checkpoint`` on where there is one.

    The state of every random choice is a function of seed and step, so that a run that was interrupted ends with the
    same weights as one that was not.
    """
    torch.manual_seed(plan.seed)
    reader = Reader(plan.size).to(device)
    optimiser = torch.optim.AdamW(reader.parameters(), lr=plan.rate, weight_decay=0.05, betas=(0.9, 0.98))
    if checkpoint is not None and checkpoint.exists():
        start = load_state(checkpoint, reader, optimiser)
    else:
        progress(f"{plan.crops} steps of crops")
        learn_crops(reader, stock, plan.crops, plan.seed)
        start = 0
    recent: list[float] = []
    for step in range(start, plan.steps):
        loss = loss_of(reader, plan.view_at(step, stock).to(device))
        for group in optimiser.param_groups:
            group["lr"] = plan.rate_at(step)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
        optimiser.step()
        recent.append(float(loss.detach()))
        if (step + 1) % 100 == 0:
            progress(f"step {step + 1} of {plan.steps}, loss {np.mean(recent[-100:]):.3f}")
        if checkpoint is not None and (step + 1 == plan.steps or (step + 1) % save_every == 0):
            save_state(checkpoint, reader, optimiser, step + 1)
    return reader.eval()


def loss_of(reader: Reader, seen: View) -> Tensor:
    """Mean cross entropy over the questions, and of what each token shows: a gradient for each token."""
    answers, tokens = reader.see(seen.pixels, seen.boxes, seen.words)
    loss = cross_entropy(answers.flatten(0, 1), seen.answers.flatten())
    for part, scores in enumerate(tokens):
        known = seen.shown[..., part] >= 0
        if bool(known.any()):
            loss = loss + cross_entropy(scores[known], seen.shown[..., part][known])
    return loss
