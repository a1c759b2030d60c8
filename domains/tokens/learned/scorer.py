"""The contextual relevance scorer: information, salience and coupling, weighed by query and gestalt."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from hra.domains.tokens.channels.texture_array import CHANNELS, MODEL_CHANNELS
from hra.errors import ArrayError
from hra.model.arrays import whole_in

_PROPOSITIONAL = (6, 7, 8, 12)
_PERSPECTIVAL = (5, 10, 11)
_ECCENTRICITY = 11
# Standard deviation of each channel over the patches of an image, rounded from a photo, a page and a map; of motion, as
# for edges. Divided by it, the channels of a head count about alike at the start.
_SPREAD = {5: 0.3, 6: 0.03, 7: 0.03, 8: 0.25, 10: 0.03, 11: 0.13, 12: 0.05}
OUTCOMES = {"text": (0.7, 0.1, 0.2), "anomaly": (0.1, 0.7, 0.2), "object": (0.1, 0.2, 0.7)}
"""Weights of the heads that queries about small text, an anomaly and a named object should lead to."""


class RelevanceScorer(nn.Module):
    """Scores the cells of a texture array by three linear heads whose weights depend on query and gestalt.

    - propositional (information): channels 6, 7, 8, 12 (edges, high-pass, structure, structure strength);
    - perspectival (salience): channels 5, 10, 11 (saliency, motion, eccentricity);
    - participatory (coupling): channels 17 to 32 (model features) with the query.

    The weights are the softmax of a 2d-512-ReLU-3 network on [query, gestalt].

    The source leaves the coupling open; here it is the scalar product of the features with a linear map of the query. A
    linear map of both side by side could only add the same number to every cell. With ``features`` it is their cosine
    at full width, times the root of the width, so that it spreads as the other channels do: brought to 16 dimensions, a
    patch that resembles the query by a cosine of .35 was the best of 1,024 in 3 % of cases; at a width of 512 always.

    It starts untrained: heads are means of channels in units of their usual spread, eccentricity counting against, the
    coupling compares features with the embedding that the query begins with, and the three heads count alike. Training
    has to make small text lead to the weights .7/.1/.2, an anomaly to .1/.7/.2 and a named object to .1/.2/.7:
    `outcome_loss` is the distance from these.

    Parameters
    ----------
    width : d, of query and of gestalt.
    hidden : units of the hidden layer.
    features : D, of model features that are given beside the texture array; by default its channels 17 to 32 are taken.
    seed : of the hidden units.

    Raises
    ------
    ArrayError : a width without room for the embedding that the coupling compares with, or a seed that is no whole
        number of 0 or more.
    """

    def __init__(self, width: int = 1024, hidden: int = 512, *, features: int | None = None, seed: int = 0) -> None:
        super().__init__()
        coupled = len(MODEL_CHANNELS) if features is None else features
        if width < coupled or hidden < 1:
            least = f"width >= {coupled} and hidden >= 1"
            raise ArrayError(f"width {width}, hidden {hidden}", where="RelevanceScorer", fix=f"use {least}")
        self.width, self.features = width, features
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(whole_in("seed", seed, kind=ArrayError))
            self.propositional = nn.Linear(len(_PROPOSITIONAL), 1)
            self.perspectival = nn.Linear(len(_PERSPECTIVAL), 1)
            self.coupling = nn.Linear(width, coupled, bias=False)
            first, last = nn.Linear(2 * width, hidden), nn.Linear(hidden, 3)
        self.gate = nn.Sequential(first, nn.ReLU(), last)
        self._set_heads()
        nn.init.zeros_(last.weight)
        nn.init.zeros_(last.bias)

    def head_weights(self, query: Tensor, gestalt: Tensor) -> Tensor:
        """Weights of the three heads, [..., 3], for query and gestalt [..., d] each; they add up to 1."""
        return torch.softmax(self.gate(torch.cat([query, gestalt], dim=-1)), dim=-1)

    def heads(self, texture: Tensor, query: Tensor, features: Tensor | None = None) -> Tensor:
        """The three scores of every cell, [..., N, 3]; arguments as of `forward`."""
        if texture.shape[-1] != len(CHANNELS):
            what = f"the texture array has {texture.shape[-1]} channels, expected {len(CHANNELS)}"
            raise ArrayError(what, where="texture", fix="pass TextureArray.complete()")
        information = self.propositional(_channels(texture, _PROPOSITIONAL))
        salience = self.perspectival(_channels(texture, _PERSPECTIVAL))
        coupling = self._couple(texture, self.coupling(query), features)[..., None]
        return torch.cat([information, salience, coupling], dim=-1)

    def _couple(self, texture: Tensor, asked: Tensor, features: Tensor | None) -> Tensor:
        """How much what a model sees in every cell resembles the mapped query [..., D], [..., N]."""
        if features is None and self.features is None:
            return (_channels(texture, MODEL_CHANNELS) @ asked[..., None]).squeeze(-1)
        if features is None or self.features is None or features.shape != (*texture.shape[:-1], self.features):
            found = "none" if features is None else f"features {tuple(features.shape)}"
            fix = "pass [..., N, D] with the D that the scorer was made for, or leave both out"
            raise ArrayError(f"{found} for a scorer of features={self.features}", where="features", fix=fix)
        cosine = nn.functional.cosine_similarity(features, asked[..., None, :], dim=-1)
        return self.features**0.5 * cosine

    def forward(self, texture: Tensor, query: Tensor, gestalt: Tensor, features: Tensor | None = None) -> Tensor:
        """The relevance of every cell.

        Parameters
        ----------
        texture : [..., N, 40], all channels of a texture array, by their numbers.
        query : [..., d].
        gestalt : [..., d], the image as a whole, such as the mean of its base tokens.
        features : [..., N, D] of a model, for a scorer that was made for them.

        Returns
        -------
        [..., N], of any sign.

        Raises
        ------
        ArrayError : another number of channels, or features of another width.
        """
        weights = self.head_weights(query, gestalt)
        return (self.heads(texture, query, features) @ weights[..., None]).squeeze(-1)

    @torch.no_grad()
    def _set_heads(self) -> None:
        for head, numbers in ((self.propositional, _PROPOSITIONAL), (self.perspectival, _PERSPECTIVAL)):
            head.weight.copy_(1 / torch.tensor([[_SPREAD[number] for number in numbers]]) / len(numbers))
            head.bias.zero_()
        self.perspectival.weight[:, _PERSPECTIVAL.index(_ECCENTRICITY)] *= -1
        self.coupling.weight.zero_()
        self.coupling.weight[:, : len(self.coupling.weight)] = torch.eye(len(self.coupling.weight))


def outcome_loss(weights: Tensor, kinds: Sequence[str]) -> Tensor:
    """How far head weights are from what queries of these kinds should lead to: the mean Kullback-Leibler divergence.

    Parameters
    ----------
    weights : [B, 3], of `RelevanceScorer.head_weights`.
    kinds : B of "text", "anomaly" and "object".

    Returns
    -------
    scalar >= 0, with a gradient.

    Raises
    ------
    ArrayError : an unknown kind, or another number of them.
    """
    if len(kinds) != len(weights) or not set(kinds) <= set(OUTCOMES):
        fix = f"pass one of {', '.join(OUTCOMES)} per query"
        raise ArrayError(f"{len(kinds)} kinds for {len(weights)} queries", where="kinds", fix=fix)
    wanted = weights.new_tensor([OUTCOMES[kind] for kind in kinds])
    # A head that no query leads to weighs 0, whose logarithm has no gradient.
    least = torch.finfo(weights.dtype).tiny
    return nn.functional.kl_div(weights.clamp_min(least).log(), wanted, reduction="batchmean")


def _channels(texture: Tensor, numbers: Sequence[int]) -> Tensor:
    return texture[..., list(numbers)]
