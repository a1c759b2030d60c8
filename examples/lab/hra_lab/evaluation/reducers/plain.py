"""The same reducers as their papers describe them, in plain torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

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
