"""Probabilities of candidates: small networks, trained on made pages, that know when none of them is the answer.

Each network scores every candidate by its features; a linear score of the page stands for "the answer is elsewhere". A
softmax over both gives probabilities that add up to 1 with that of elsewhere. Networks that began from other seeds
differ where made pages do not decide, so that their mean is less sure there. Weights: ``ranker.json``, which
``python examples/lab/scripts/train_ranker.py`` makes again from a seed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from hra.domains.tokens.text.candidates import FEATURES

_UNION, _KIND, _OPEN, _BOTH = (
    FEATURES.index(name) for name in ("union recall", "kind fits", "kind open", "row and column")
)
# Made pages misread fewer letters than scans, so that the network takes words for an amount too easily.
_MISFIT = 1.0
_MEANING = [number for number, name in enumerate(FEATURES) if name.endswith(" meaning")]
_CONCEPT = [number for number, name in enumerate(FEATURES) if name.endswith(" concept")]
PAGE_FEATURES = 7


def page_features(rows: np.ndarray) -> np.ndarray:
    """What the features of all candidates together say of whether one of them is the answer, float64 [7]."""
    best = rows.max(axis=0)
    fitting = rows[:, _UNION] * rows[:, _KIND]
    return np.array(
        [
            *(best[_UNION], best[_BOTH], best[_MEANING].max(), best[_CONCEPT].max(), best[_KIND], fitting.max()),
            np.log(len(rows)) / 5,
        ]
    )


@dataclass(frozen=True, eq=False)
class Network:
    """Weights of one network.

    Attributes
    ----------
    layers : weight [out, in] and bias [out] of each layer, with rectifiers between; the last gives one number.
    elsewhere : weights of the page's features and a constant, float64 [8].
    """

    layers: tuple[tuple[np.ndarray, np.ndarray], ...]
    elsewhere: np.ndarray

    def probabilities(self, rows: np.ndarray, scaled: np.ndarray) -> np.ndarray:
        """See `Ranker.probabilities`; ``scaled`` are the rows with the mean and spread of those that it learned on."""
        hidden = scaled
        for number, (weight, bias) in enumerate(self.layers):
            hidden = np.maximum(hidden, 0) if number else hidden
            hidden = hidden @ weight.T + bias
        none = page_features(rows) @ self.elsewhere[:-1] + self.elsewhere[-1]
        misfits = (rows[:, _KIND] == 0) & (rows[:, _OPEN] == 0)
        scores = np.append(hidden[:, 0] - _MISFIT * misfits, none)
        shares = np.exp(scores - scores.max())
        return shares[:-1] / shares.sum()


@dataclass(frozen=True, eq=False)
class Ranker:
    """The mean of networks.

    Attributes
    ----------
    mean, spread : of the features, float64 [F].
    networks : at least one.
    """

    mean: np.ndarray
    spread: np.ndarray
    networks: tuple[Network, ...]

    def probabilities(self, rows: np.ndarray) -> np.ndarray:
        """Probability of each candidate to be the answer, float64 [n]; what they lack of 1 is elsewhere.

        Parameters
        ----------
        rows : of `candidate_features`, float64 [n, F].
        """
        if not len(rows):
            return np.zeros(0)
        scaled = (rows - self.mean) / self.spread
        return np.mean([network.probabilities(rows, scaled) for network in self.networks], axis=0)


@cache
def ranker() -> Ranker:
    """The shipped one."""
    told = json.loads(files("hra.domains.tokens.text").joinpath("ranker.json").read_text(encoding="utf-8"))
    networks = tuple(
        Network(
            tuple((np.array(layer["weight"]), np.array(layer["bias"])) for layer in one["layers"]),
            np.array(one["elsewhere"]),
        )
        for one in told["networks"]
    )
    return Ranker(np.array(told["mean"]), np.array(told["spread"]), networks)
