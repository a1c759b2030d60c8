"""Every reducer on features of a real image, as plain data.

The same reducers as their papers describe them, in plain torch.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra import samples
from hra.domains import tokens
from hra.domains.tokens.methods.reducers.bipartite_regions import MergeTreeBuilder
from hra.files.images import load_image
from hra_lab.bench.features import missing
from hra_lab.bench.kernels.peers_torch import load
from hra_lab.bench.tokens import reducers


def _divprune(features: np.ndarray, attention: np.ndarray, count: int) -> Callable[[], Any]:
    vectors = load().as_tensor(features)
    return lambda: reducers.divprune(vectors, count)


def _cdpruner(features: np.ndarray, attention: np.ndarray, count: int) -> Callable[[], Any]:
    torch = load()
    vectors, relevance = torch.as_tensor(features), torch.as_tensor(attention.astype(np.float32))
    return lambda: reducers.cdpruner(vectors, relevance, count)


def _tome(features: np.ndarray, attention: np.ndarray, count: int) -> Callable[[], Any]:
    vectors = load().as_tensor(features)
    return lambda: reducers.tome(vectors, count)


def _prunevid(features: np.ndarray, attention: np.ndarray, count: int) -> Callable[[], Any]:
    vectors = load().as_tensor(features)
    return lambda: reducers.prunevid(vectors, count)


PLAIN: Mapping[str, Callable[[np.ndarray, np.ndarray, int], Callable[[], Any]]] = {
    "divprune": _divprune,
    "cdpruner": _cdpruner,
    "prunevid": _prunevid,
    "tome": _tome,
}
"""By name; each is called with features [N, D], a relevance [N] and a count, and returns what is timed."""


@dataclass(frozen=True)
class ReducerSizes:
    """Cells of the grid along a side, length of a feature, tokens that are kept, and rounds of timing."""

    side: int
    width: int
    budgets: tuple[int, ...]
    rounds: int


FULL = ReducerSizes(32, 1024, (64, 128, 192, 273), 5)
SMALL = ReducerSizes(8, 16, (5, 17), 1)


def run(sizes: ReducerSizes, progress: Callable[[str], None]) -> dict[str, Any]:
    """One row per reducer.

    Parameters
    ----------
    progress : is told what is being worked on.
    """
    if not missing("torch:nn"):
        load().set_num_threads(1)
    features, attention = _features(sizes), _attention(sizes)
    rows = []
    for name in tokens.REDUCERS:
        progress(name)
        rows.append(_row(name, sizes, features, attention))
    return {"side": sizes.side, "width": sizes.width, "budgets": sizes.budgets, "rows": rows}


def _row(name: str, sizes: ReducerSizes, features: np.ndarray, attention: np.ndarray) -> dict[str, Any]:
    allocator = tokens.REDUCERS[name]()
    needs = getattr(allocator, "reads", "" if isinstance(allocator.builder, MergeTreeBuilder) else "pixels")
    scorer = (lambda context: attention) if needs else None
    picture = _picture(sizes)
    signals = {"shallow": attention.T.ravel()}

    def reduced(budget: int) -> Any:
        # Made anew: a context remembers what was computed for it.
        if needs == "pixels":
            given = allocator.context(picture, "")
        else:
            given = tokens.TokenContext.of_features(features, relevance=scorer, signals=signals)
        return allocator.realize(allocator.allocate(given, budget)).pool(features)

    counts = [len(reduced(budget)) for budget in sizes.budgets]
    plain = None
    if name in PLAIN and not missing("torch:nn"):
        plain = PLAIN[name](features.reshape(-1, sizes.width), attention.ravel(), sizes.budgets[-1])
    hra_s, plain_s = _seconds([lambda: reduced(sizes.budgets[-1]), *([plain] if plain else [])], sizes.rounds)
    exact = counts == list(sizes.budgets)
    return {"name": name, "exact": exact, "needs": needs, "cpu_s": hra_s, "plain_cpu_s": plain_s}


def _seconds(calls: list[Callable[[], Any]], rounds: int) -> tuple[float, float | None]:
    """Median processor seconds of the calls in turns, the second None where there is but one."""
    times = [[_once(call) for call in calls] for _ in range(rounds + 1)][1:]
    medians = [statistics.median(column) for column in zip(*times, strict=True)]
    return medians[0], medians[1] if len(medians) > 1 else None


def _once(call: Callable[[], Any]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def _features(sizes: ReducerSizes) -> np.ndarray:
    """Features of a photo's patches: a fixed projection of their pixels, as long as those of an encoder."""
    patches = (
        _picture(sizes).reshape(sizes.side, 16, sizes.side, 16, 3).swapaxes(1, 2).reshape(sizes.side, sizes.side, -1)
    )
    matrix = np.random.default_rng(0).normal(size=(patches.shape[2], sizes.width)) / np.sqrt(sizes.width)
    return np.tanh((patches - patches.mean((0, 1))) @ matrix).astype(np.float32)


def _picture(sizes: ReducerSizes) -> np.ndarray:
    return load_image(samples.path("photo.jpg"))[: sizes.side * 16, : sizes.side * 16]


def _attention(sizes: ReducerSizes) -> np.ndarray:
    """A map of few large and many small values, as attention is."""
    values = np.exp(2 * np.random.default_rng(1).normal(size=(sizes.side, sizes.side)))
    return values / values.sum()
