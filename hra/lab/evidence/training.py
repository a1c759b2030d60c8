"""Training of a reader on a mixture of cells: seeded, resumable, the same on every run."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from hra.lab.evidence.cells import Cell
from hra.lab.evidence.reader import Reader, Size
from hra.lab.evidence.shards import Shard


@dataclass(frozen=True)
class Plan:
    """How a reader is trained.

    Attributes
    ----------
    size : of the reader.
    steps, batch, questions : how many gradients, of how many canvases, with how many questions each.
    rate : learning rate at its highest, after ``warm_up`` steps; it falls to 0 as a cosine.
    """

    size: Size
    steps: int
    batch: int = 64
    questions: int = 8
    rate: float = 1e-3
    warm_up: int = 200
    seed: int = 0

    def rate_at(self, step: int) -> float:
        """Learning rate of a step."""
        return self.rate * min((step + 1) / self.warm_up, 0.5 * (1 + math.cos(math.pi * step / self.steps)))


def train(
    plan: Plan,
    mixture: Mapping[Cell, Shard],
    progress: Callable[[str], None],
    *,
    device: str = "cpu",
    checkpoint: Path | None = None,
    save_every: int = 500,
) -> Reader:
    """A reader that has seen ``plan.steps`` batches, each of one cell; from ``checkpoint`` on where there is one.

    The state of every random choice is a function of seed and step, so that a run that was interrupted ends with the
    same weights as one that was not.
    """
    torch.manual_seed(plan.seed)
    reader = Reader(plan.size).to(device)
    optimiser = torch.optim.AdamW(reader.parameters(), lr=plan.rate, weight_decay=0.05, betas=(0.9, 0.98))
    start = load_state(checkpoint, reader, optimiser) if checkpoint is not None and checkpoint.exists() else 0
    cells, recent = list(mixture), []
    for step in range(start, plan.steps):
        random = np.random.default_rng((plan.seed, step))
        shard = mixture[cells[random.integers(len(cells))]]
        rows = random.integers(0, len(shard), plan.batch)
        asked = random.integers(0, shard.words.shape[1], (plan.batch, plan.questions))
        loss = loss_of(reader, shard, rows, asked, device)
        for group in optimiser.param_groups:
            group["lr"] = plan.rate_at(step)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
        optimiser.step()
        recent.append(float(loss.detach()))
        if (step + 1) % 100 == 0:
            progress(f"step {step + 1} of {plan.steps}, loss {np.mean(recent[-100:]):.3f}")
        if checkpoint is not None and (step + 1) % save_every == 0:
            save_state(checkpoint, reader, optimiser, step + 1)
    return reader.eval()


def loss_of(reader: Reader, shard: Shard, rows: np.ndarray, asked: np.ndarray, device: str) -> Tensor:
    """Mean cross entropy of both heads over questions ``asked`` [B, Q] of the canvases ``rows`` [B], and of tokens.

    What each token shows is asked too, with the same weight: a gradient for each token, where a question gives one for
    a canvas.
    """
    first, second, tokens = reader.see(*inputs(shard, rows, device, asked))
    at = rows[:, None], asked
    answers, seconds = (
        torch.from_numpy(part[at].astype(np.int64)).to(device) for part in (shard.answers, shard.seconds)
    )
    has_second = seconds >= 0
    loss = cross_entropy(first.flatten(0, 1), answers.flatten())
    if bool(has_second.any()):
        share = has_second.float().mean()
        loss = loss + share * cross_entropy(second[has_second], seconds[has_second])
    return loss + _loss_of_tokens(tokens, torch.from_numpy(shard.shown[rows].astype(np.int64)).to(device))


def _loss_of_tokens(tokens: list[Tensor], shown: Tensor) -> Tensor:
    """Sum over the parts of the mean cross entropy of the tokens that have a label; 0 for parts that none has."""
    total = tokens[0].new_zeros(())
    for part, scores in enumerate(tokens):
        known = shown[..., part] >= 0
        if bool(known.any()):
            total = total + cross_entropy(scores[known], shown[..., part][known])
    return total


def inputs(
    shard: Shard, rows: np.ndarray, device: str, asked: np.ndarray | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Pixels, boxes and words of some canvases, as the reader takes them; of all questions unless some are named."""
    words = shard.words[rows] if asked is None else shard.words[rows[:, None], asked]
    pixels = torch.from_numpy(shard.pixels[rows]).to(device).float() / 255
    boxes = torch.from_numpy(shard.boxes[rows]).to(device)
    return pixels, boxes, torch.from_numpy(words.astype(np.int64)).to(device)


def save_state(file: Path, reader: Reader, optimiser: torch.optim.Optimizer, step: int) -> None:
    """Weights and the optimiser's moments as safetensors: nothing that is read back can run code."""
    from safetensors.torch import save

    from hra.safety.atomic_write import write_atomically

    state = {f"reader.{name}": value.contiguous() for name, value in reader.state_dict().items()}
    for number, moments in optimiser.state_dict()["state"].items():
        state |= {f"optimiser.{number}.{name}": torch.as_tensor(value) for name, value in moments.items()}
    write_atomically(file, save(state, metadata={"step": str(step)}))


def load_state(file: Path, reader: Reader, optimiser: torch.optim.Optimizer) -> int:
    """Put back what `save_state` wrote; return the step."""
    from safetensors import safe_open

    with safe_open(file, "pt") as stored:
        step = int(stored.metadata()["step"])
        state = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118 (not a mapping)
    reader.load_state_dict({name[7:]: value for name, value in state.items() if name.startswith("reader.")})
    moments: dict[int, dict[str, Tensor]] = {}
    for name, value in state.items():
        if name.startswith("optimiser."):
            _, number, kind = name.split(".")
            moments.setdefault(int(number), {})[kind] = value
    optimiser.load_state_dict({"state": moments, "param_groups": optimiser.state_dict()["param_groups"]})
    return step
