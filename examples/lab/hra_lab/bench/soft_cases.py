"""The differentiable cut over a batch of token pyramids, forward and backward."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from hra_lab.bench.harness import Case, CaseAt, Contender, Gaps
from hra_lab.inputs import instances
from hra_lab.inputs.instances import SyntheticProblem

if TYPE_CHECKING:
    from torch import Tensor

_NOISE = 0.05
_BISECTION_STEPS = 60


def soft_batch(size: int, count: int = 64) -> CaseAt:
    """Probabilities of all refinements at a budget, and the gradient of a weighted sum of them by the gains.

    Gains are divided by the mean of each pyramid; the temperature is 1.
    """
    pyramids = instances.token_pyramids(size, count)
    hierarchy = pyramids[0].hierarchy

    def case(share: float) -> Case:
        budget = float(np.floor(share * hierarchy.total_cost))
        contenders = (
            Contender("hra", _soft_cut(hierarchy, budget), _leaf),
            Contender("bisection and autograd", _bisection(hierarchy.cost[0], budget), _leaf),
        )

        def judge(gains: np.ndarray, outputs: Mapping[str, np.ndarray]) -> dict[str, Gaps]:
            return {name: _miss(probability @ hierarchy.cost, budget) for name, probability in outputs.items()}

        # Gains are read; probabilities and gradients are written.
        return Case(contenders, lambda number: _gains(pyramids, number), judge, size, 3 * count * size * 8)

    return case


def _soft_cut(hierarchy: Any, budget: float) -> Callable[[Tensor], np.ndarray]:
    from hra.solvers.soft.forest import SoftForest
    from hra.traversals.soft_cut import SoftCut

    forest = SoftForest.of(hierarchy)

    def run(gain: Tensor) -> np.ndarray:
        with _one_torch_thread():
            return _backward(SoftCut(temperature=1.0).probabilities(forest, gain, budget))

    return run


def _bisection(cost: float, budget: float) -> Callable[[Tensor], np.ndarray]:
    """What one writes first: bisect the price with plain sweeps, then differentiate at the price that was found."""
    import torch

    def run(gain: Tensor) -> np.ndarray:
        with _one_torch_thread():
            low, high = torch.zeros(len(gain), 1), gain.detach().sum(1, keepdim=True)
            with torch.no_grad():
                for _ in range(_BISECTION_STEPS):
                    middle = (low + high) / 2
                    over = cost * _marginals(gain - middle * cost).sum(1, keepdim=True) > budget
                    low, high = torch.where(over, middle, low), torch.where(over, high, middle)
            return _backward(_marginals(gain - high * cost))

    return run


def _marginals(reward: Tensor) -> Tensor:
    """Probability [B, R] of each refinement of a complete quadtree, from rewards [B, R]."""
    import torch

    sizes = _level_sizes(reward.shape[1])
    odds = list(torch.split(reward, sizes, dim=1))
    for level in range(len(sizes) - 2, -1, -1):
        below = torch.nn.functional.softplus(odds[level + 1])
        odds[level] = odds[level] + below.unflatten(1, (sizes[level], 4)).sum(2)
    taken = [torch.sigmoid(odds[0])]
    for below in odds[1:]:
        taken.append(torch.sigmoid(below) * taken[-1].repeat_interleave(4, dim=1))
    return torch.cat(taken, dim=1)


def _level_sizes(size: int) -> list[int]:
    sizes = [1]
    while sum(sizes) < size:
        sizes.append(4 * sizes[-1])
    return sizes


def _leaf(gains: np.ndarray) -> Tensor:
    import torch

    return torch.tensor(gains, requires_grad=True)


def _backward(probability: Tensor) -> np.ndarray:
    """The probabilities, once the gradient of a loss that weights them unequally has been computed."""
    import torch

    (probability * torch.linspace(0, 1, probability.shape[1], dtype=probability.dtype)).sum().backward()
    return probability.detach().numpy()


def _gains(pyramids: tuple[SyntheticProblem, ...], number: int) -> np.ndarray:
    gains = np.stack([p.fresh_gain(len(pyramids) * number + i, _NOISE) for i, p in enumerate(pyramids)])
    return gains / gains.mean(axis=1, keepdims=True)


def _miss(cost: np.ndarray, budget: float) -> Gaps:
    """How far expected costs are from the budget, relative to it; the worst of the batch."""
    miss = float(np.abs(cost - budget).max() / budget)
    return Gaps(miss, miss)


@contextmanager
def _one_torch_thread() -> Iterator[None]:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
