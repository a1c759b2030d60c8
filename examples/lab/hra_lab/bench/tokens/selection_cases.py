"""Choosing tokens of one or many images, beside published reducers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from hra_lab.bench.devices import Device
from hra_lab.bench.harness import Case, Contender, Gaps
from hra_lab.bench.kernels import peers_torch
from hra_lab.bench.kernels.checks import require
from hra_lab.bench.kernels.peers import gather, require_host
from hra_lab.bench.tokens import reducers
from hra_lab.bench.tokens.inputs import Scored, scored_images

_PATCH = 16
BUDGET = 273


def budget_of(side: int) -> int:
    """273 tokens, or a quarter of the patches of a small image."""
    return min(BUDGET, (side // _PATCH) ** 2 // 4)


def selection(side: int, device: Device, *, make: Callable[[], Any], images: int = 1, rivals: Iterable[str]) -> Case:
    """Cuts of ``images`` images of ``side`` pixels by the allocator that ``make`` makes.

    Relevance and features (what the image alone decides) are given to everyone; errors weighted by relevance, hierarchy
    and choice are in the clock. Levels are those of the allocator: 1024 x 1024 pixels have 5,461 patches, or 5,440 in 4
    levels.

    Parameters
    ----------
    rivals : names of `REDUCERS`.
    """
    require_host(device)
    budget, allocator = budget_of(side), make()

    def cuts(batch: list[Scored]) -> list[np.ndarray]:
        return [choice.cut for choice in allocator.allocate_batch([one.context for one in batch], budget)]

    peers = {name: partial(REDUCERS[name], budget=budget, images=images) for name in rivals}
    others, absent = gather(device, peers)
    inputs = scored_images(images, side, allocator.levels)
    relevance = inputs(0)[0].context.relevance
    moved = images * (relevance.nbytes + 8 * budget)
    judge = partial(_judge, count=budget)
    return Case((Contender("hra", cuts), *others), inputs, judge, images * relevance.size, moved, absent)


def _judge(batch: list[Scored], outputs: Mapping[str, list[np.ndarray]], count: int) -> dict[str, Gaps]:
    """Every contender chooses exactly ``count`` tokens, each at most once."""
    for name, chosen in outputs.items():
        exact = all(len(one) == count and (one.ndim > 1 or len(np.unique(one)) == count) for one in chosen)
        require(name, exact, f"not {count} different tokens per image")
    return {}


def _top_k(device: Device, *, budget: int, images: int) -> Iterator[Contender]:
    """All images in one call."""
    torch = peers_torch.load(device)
    run = partial(reducers.top_k, count=budget)

    def prepare(batch: list[Scored]) -> Any:
        return torch.as_tensor(np.stack([one.relevance for one in batch]))

    yield from peers_torch.contenders(device, "torch.topk", run, prepare, lambda chosen: list(chosen.numpy()))


def _one_by_one(name: str, reduce: Callable[[Any, Any, int], Any]) -> Callable[..., Iterator[Contender]]:
    """A reducer of one image's features and relevance; of a batch it is timed on the first image."""

    def peer(device: Device, *, budget: int, images: int) -> Iterator[Contender]:
        torch = peers_torch.load(device)

        def prepare(batch: list[Scored]) -> Any:
            return torch.as_tensor(batch[0].patches), torch.as_tensor(batch[0].relevance)

        def run(given: tuple[Any, Any]) -> Any:
            return reduce(given[0], given[1], budget)

        for contender in peers_torch.contenders(device, name, run, prepare, lambda chosen: [chosen.numpy()]):
            yield replace(contender, share=1 / images)

    return peer


REDUCERS: Mapping[str, Callable[..., Iterable[Contender]]] = {
    "torch.topk": _top_k,
    "ToMe": _one_by_one("ToMe", lambda features, relevance, count: reducers.tome(features, count)),
    "DivPrune": _one_by_one("DivPrune", lambda features, relevance, count: reducers.divprune(features, count)),
    "CDPruner": _one_by_one("CDPruner", reducers.cdpruner),
}
"""Peers by name; each is called with a device, the budget and the number of images."""
