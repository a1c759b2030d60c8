"""The contextual relevance scorer: information, salience and coupling, weighed by query and gestalt."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from hra.domains.tokens.channels.texture_array import CHANNELS, MODEL_CHANNELS
from hra.domains.tokens.learned.cue_query import CUES, EMBEDDING
from hra.errors import ArrayError

_PROPOSITIONAL = (6, 7, 8, 12)
_PERSPECTIVAL = (5, 10, 11)
_ECCENTRICITY = 11
# Standard deviation of each channel over the patches of an image, rounded from a photo, a page and a map; of motion, as
# for edges. Divided by it, the channels of a head count about alike at the start.
_SPREAD = {5: 0.3, 6: 0.03, 7: 0.03, 8: 0.25, 10: 0.03, 11: 0.13, 12: 0.05}
# Weights of the heads that each cue should lead to: small text, an anomaly, a named object.
_OUTCOMES = {"text": (0.7, 0.1, 0.2), "anomaly": (0.1, 0.7, 0.2), "object": (0.1, 0.2, 0.7)}


class RelevanceScorer(nn.Module):
    """Scores the cells of a texture array by three linear heads whose weights depend on query and gestalt.

    - propositional (information): channels 6, 7, 8, 12 (edges, high-pass, structure, structure strength);
    - perspectival (salience): channels 5, 10, 11 (saliency, motion, eccentricity);
    - participatory (coupling): channels 17 to 32 (model features) with the query.

    The weights are the softmax of a 2d-512-ReLU-3 network on [query, gestalt].

    Left open, and chosen: the coupling is the scalar product of the model features with a linear map of the query. A
    linear map of both side by side could only add the same number to every cell.

    It starts untrained from fixed values. The heads are means of channels in units of their usual spread, eccentricity
    counting against; the coupling compares with the embedding that `cue_query` puts into the query. The network gives
    text, anomaly and named object of such a query the weights .7/.1/.2, .1/.7/.2 and .1/.2/.7, and equal ones without a
    cue. All other hidden units are drawn from ``seed`` and not yet listened to. With other query embeddings the start
    means nothing: train it.

    Parameters
    ----------
    width : d, of query and of gestalt.
    hidden : units of the hidden layer.
    seed : of the hidden units.

    Raises
    ------
    ArrayError : a width without room for cues and embedding.
    """

    def __init__(self, width: int = 1024, hidden: int = 512, *, seed: int = 0) -> None:
        super().__init__()
        if width < EMBEDDING.stop or hidden < len(CUES):
            least = f"width >= {EMBEDDING.stop} and hidden >= {len(CUES)}"
            raise ArrayError(f"width {width}, hidden {hidden}", where="RelevanceScorer", fix=f"use {least}")
        self.width = width
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.propositional = nn.Linear(len(_PROPOSITIONAL), 1)
            self.perspectival = nn.Linear(len(_PERSPECTIVAL), 1)
            self.coupling = nn.Linear(width, len(MODEL_CHANNELS), bias=False)
            first, last = nn.Linear(2 * width, hidden), nn.Linear(hidden, 3)
        self.gate = nn.Sequential(first, nn.ReLU(), last)
        self._set_heads()
        _pass_cues(first, last)

    def head_weights(self, query: Tensor, gestalt: Tensor) -> Tensor:
        """Weights of the three heads, [..., 3], for query and gestalt [..., d] each; they add up to 1."""
        return torch.softmax(self.gate(torch.cat([query, gestalt], dim=-1)), dim=-1)

    def heads(self, texture: Tensor, query: Tensor) -> Tensor:
        """The three scores of every cell, [..., N, 3]; arguments as of `forward`."""
        if texture.shape[-1] != len(CHANNELS):
            what = f"the texture array has {texture.shape[-1]} channels, expected {len(CHANNELS)}"
            raise ArrayError(what, where="texture", fix="pass TextureArray.complete()")
        information = self.propositional(_channels(texture, _PROPOSITIONAL))
        salience = self.perspectival(_channels(texture, _PERSPECTIVAL))
        coupling = _channels(texture, MODEL_CHANNELS) @ self.coupling(query)[..., None]
        return torch.cat([information, salience, coupling], dim=-1)

    def forward(self, texture: Tensor, query: Tensor, gestalt: Tensor) -> Tensor:
        """The relevance of every cell.

        Parameters
        ----------
        texture : [..., N, 40], all channels of a texture array, by their numbers.
        query : [..., d].
        gestalt : [..., d], the image as a whole, such as the mean of its base tokens.

        Returns
        -------
        [..., N], of any sign.

        Raises
        ------
        ArrayError : another number of channels.
        """
        weights = self.head_weights(query, gestalt)
        return (self.heads(texture, query) @ weights[..., None]).squeeze(-1)

    @torch.no_grad()
    def _set_heads(self) -> None:
        for head, numbers in ((self.propositional, _PROPOSITIONAL), (self.perspectival, _PERSPECTIVAL)):
            head.weight.copy_(1 / torch.tensor([[_SPREAD[number] for number in numbers]]) / len(numbers))
            head.bias.zero_()
        self.perspectival.weight[:, _PERSPECTIVAL.index(_ECCENTRICITY)] *= -1
        self.coupling.weight.zero_()
        self.coupling.weight[:, EMBEDDING] = torch.eye(len(MODEL_CHANNELS))


@torch.no_grad()
def _pass_cues(first: nn.Linear, last: nn.Linear) -> None:
    """One hidden unit per cue passes it on; its outgoing weights are the logarithms of the wanted outcome."""
    first.weight[: len(CUES)] = torch.eye(len(CUES), first.in_features)
    first.bias[: len(CUES)] = 0
    last.weight.zero_()
    last.weight[:, : len(CUES)] = torch.tensor([_OUTCOMES[cue] for cue in CUES]).log().T
    last.bias.zero_()


def _channels(texture: Tensor, numbers: Sequence[int]) -> Tensor:
    return texture[..., list(numbers)]
