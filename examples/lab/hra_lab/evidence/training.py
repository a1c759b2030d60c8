"""Training of a reader: seeded, resumable, the same on every run.

Tokens one by one: what a reader's stem learns before the reader is asked anything.

What a run of training goes on from, as safetensors: nothing that is read back can run code.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from hra.errors import FileError
from hra.files.atomic_write import write_atomically
from hra_lab.evidence.batches import Batch, batch_at
from hra_lab.evidence.reader import Reader, Size
from hra_lab.evidence.shards import Shard
from hra_lab.evidence.stem import Stem
from hra_lab.evidence.stock import Stock
from hra_lab.evidence.views import UNASKED, view
from hra_lab.evidence.weights import checksum

_CANVASES, _EACH = 16, 48
_RATE, _WARM_UP = 2e-3, 100
# So many of the tokens that show nothing are left out: most do.
_LEFT_OUT = 0.7
_MOMENTS = ("step", "exp_avg", "exp_avg_sq")


def save_state(file: Path, reader: nn.Module, optimiser: torch.optim.Optimizer, step: int) -> None:
    """Weights and the optimiser's moments, with a checksum over both."""
    from safetensors.torch import save

    state = {f"reader.{name}": value.contiguous() for name, value in reader.state_dict().items()}
    for number, moments in optimiser.state_dict()["state"].items():
        state |= {f"optimiser.{number}.{name}": torch.as_tensor(value) for name, value in moments.items()}
    # One entry: those of several stand in any order, and equal states would be other bytes.
    write_atomically(file, save(state, metadata={"step": f"{step}:{checksum(str(step), state)}"}))


def load_state(file: Path, reader: nn.Module, optimiser: torch.optim.Optimizer) -> int:
    """Put back what `save_state` wrote; return the step. What is refused changes neither.

    Raises
    ------
    FileError : the file is damaged, or of a reader of another size.
    """
    try:
        step, state = _stored(file)
        _check(state, reader, optimiser)
    except Exception as error:  # safetensors has a class of its own, and its decoder others
        fix = "remove it to train from the start, or give the checkpoint of this plan"
        raise FileError(f"this is no checkpoint of this run: {str(error)[:200]}", where=str(file), fix=fix) from error
    reader.load_state_dict({name[7:]: value for name, value in state.items() if name.startswith("reader.")})
    moments: dict[int, dict[str, Tensor]] = {}
    for name, value in state.items():
        if name.startswith("optimiser."):
            _, number, kind = name.split(".")
            moments.setdefault(int(number), {})[kind] = value
    optimiser.load_state_dict({"state": moments, "param_groups": optimiser.state_dict()["param_groups"]})
    return step


def _stored(file: Path) -> tuple[int, dict[str, Tensor]]:
    from safetensors import safe_open

    with safe_open(file, "pt") as stored:
        facts = stored.metadata() or {}
        state = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118 (not a mapping)
    step, _, known = facts.get("step", "").partition(":")
    if not step.isdecimal() or len(step) > 18:
        raise ValueError("it says no step")
    # Files from before there was a checksum have none.
    if known not in ("", checksum(str(int(step)), state)):
        raise ValueError("its content does not match the checksum")
    return int(step), state


def _check(state: Mapping[str, Tensor], reader: nn.Module, optimiser: torch.optim.Optimizer) -> None:
    """All weights and no others, of the right shapes; moments of all parameters or, before the first step, of none."""
    wanted = {f"reader.{name}": value for name, value in reader.state_dict().items()}
    if any(name.startswith("optimiser.") for name in state):
        parameters = [one for group in optimiser.param_groups for one in group["params"]]
        for number, one in enumerate(parameters):
            shaped = (torch.zeros(()), one, one)
            wanted |= {f"optimiser.{number}.{kind}": like for kind, like in zip(_MOMENTS, shaped, strict=True)}
    if odd := sorted(wanted.keys() ^ state.keys()):
        raise ValueError(f"{odd[0]!r} is {'missing' if odd[0] in wanted else 'not known'}")
    for name, like in wanted.items():
        if state[name].shape != like.shape or state[name].dtype != like.dtype:
            raise ValueError(f"{name!r} is {state[name].dtype} {list(state[name].shape)}")


def learn_tokens(stem: Stem, stock: Stock, steps: int, seed: int) -> None:
    """Train ``stem`` to tell what tokens of all levels show, for ``steps`` batches of 16 canvases."""
    optimiser = torch.optim.AdamW(stem.parameters(), lr=_RATE, weight_decay=0.02)
    for step in range(steps):
        random = np.random.default_rng((seed, step, 1))
        pixels, shown = _batch(stock, random)
        for group in optimiser.param_groups:
            group["lr"] = _RATE * min((step + 1) / _WARM_UP, 0.5 * (1 + math.cos(math.pi * step / steps)))
        device = next(stem.parameters()).device
        loss = loss_of_tokens(stem, pixels.to(device), shown.to(device))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()


def _batch(stock: Stock, random: np.random.Generator) -> tuple[Tensor, Tensor]:
    seen = view(stock, random.integers(0, len(stock.ground), _CANVASES), _EACH, random)
    pixels, shown = seen.pixels.flatten(0, 1), seen.shown.flatten(0, 1)
    kept = (shown[:, 0] != 0) | torch.from_numpy(random.random(len(shown)) > _LEFT_OUT)
    return pixels[kept], shown[kept]


def loss_of_tokens(stem: Stem, pixels: Tensor, shown: Tensor) -> Tensor:
    """Mean cross entropy of each part of the labels [M, 3] that is known."""
    loss = pixels.new_zeros(())
    for part, scores in enumerate(stem.see(pixels)[1]):
        known = shown[:, part] >= 0
        if bool(known.any()):
            loss = loss + cross_entropy(scores[known], shown[known, part])
    return loss


@dataclass(frozen=True)
class Plan:
    """How a reader is trained.

    Attributes
    ----------
    size : of the reader.
    alone : gradients of its stem on tokens one by one, before all others (`hra_lab.evidence.training`).
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
