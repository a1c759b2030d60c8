"""What stands for the cells that are not kept: weights of an encoder's features for each token."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from hra.domains.tokens.context.context import TokenContext
from hra.errors import MetricError
from hra.solvers.apportionment import largest_remainder
from hra.solvers.picking.density_peaks import squared_distances


@dataclass(frozen=True, eq=False)
class Merges:
    """Token ``token[i]`` contains ``weight[i]`` times the feature of cell ``cell[i]``; ordered by token.

    Attributes
    ----------
    token, cell : int64 [n].
    weight : float64 [n].
    """

    token: np.ndarray
    cell: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(cls, *parts: tuple[np.ndarray, np.ndarray, np.ndarray]) -> Merges:
        """Put (token, cell, weight) together."""
        token, cell, weight = (np.concatenate(each) for each in zip(*parts, strict=True))
        order = np.argsort(token, kind="stable")
        return cls(token[order], cell[order], weight[order].astype(np.float64))


class Merging(ABC):
    """Says what tokens are made of. Strategies are small frozen dataclasses."""

    @abstractmethod
    def merge(self, context: TokenContext, cut: np.ndarray) -> Merges:
        """Make tokens of the kept cells ``cut`` int64 [K], ascending, of the finest patches."""


@dataclass(frozen=True)
class Dropped(Merging):
    """Every kept cell stands for itself, all others are gone."""

    def merge(self, context: TokenContext, cut: np.ndarray) -> Merges:
        """See `Merging.merge`."""
        return Merges(np.arange(len(cut)), cut, np.ones(len(cut)))


@dataclass(frozen=True)
class Nearest(Merging):
    """Every other cell joins the kept one that is most similar to it, and a token is the mean of its cells."""

    def merge(self, context: TokenContext, cut: np.ndarray) -> Merges:
        """See `Merging.merge`."""
        vectors = unit_rows(context.features.reshape(-1, context.features.shape[2]))
        rest = np.setdiff1d(np.arange(len(vectors)), cut)
        if not len(cut):
            return Dropped().merge(context, cut)
        owner = most_similar(vectors[rest], vectors[cut])
        size = 1.0 + np.bincount(owner, minlength=len(cut))
        own = np.arange(len(cut))
        return Merges.of((own, cut, 1 / size), (owner, rest, 1 / size[owner]))


@dataclass(frozen=True)
class Clustered(Merging):
    """Every other cell joins the kept one at the least Euclidean distance, and a token is the mean of its cells."""

    def merge(self, context: TokenContext, cut: np.ndarray) -> Merges:
        """See `Merging.merge`."""
        vectors = context.features.reshape(-1, context.features.shape[2])
        if not len(cut):
            return Dropped().merge(context, cut)
        owner = nearest_of(vectors, cut)
        return Merges.of((owner, np.arange(len(vectors)), 1 / np.bincount(owner)[owner]))


@dataclass(frozen=True)
class Contextual(Merging):
    """The most relevant kept cells stay alone; the others add the mean of all the rest that they attract.

    Similarity is that of the keys of the encoder's attention where a model gives them, else of the features.

    Parameters
    ----------
    shares : of tokens that stay alone, and of those that attract.
    """

    shares: tuple[float, float] = (54.0, 10.0)

    def merge(self, context: TokenContext, cut: np.ndarray) -> Merges:
        """See `Merging.merge`."""
        alone = int(largest_remainder(np.array(self.shares), len(cut), minimum=0)[0])
        relevance, vectors = context.relevance.ravel(), unit_rows(keys_of(context))
        order = np.argsort(-relevance[cut], kind="stable")
        targets = np.sort(order[alone:])
        rest = np.setdiff1d(np.arange(len(vectors)), cut)
        if not len(targets):
            return Dropped().merge(context, cut)
        owner = targets[most_similar(vectors[rest], vectors[cut[targets]])]
        size = np.bincount(owner, minlength=len(cut))
        return Merges.of((np.arange(len(cut)), cut, np.ones(len(cut))), (owner, rest, 1 / size[owner]))


@dataclass(frozen=True)
class KeyNeighbours(Merging):
    """Every kept cell adds its most similar others, kept or not, weighted by their relevance: attention as it is, or
    shares of a relevance that adds up to more than 1.

    Parameters
    ----------
    count : of them.
    """

    count: int = 32

    def merge(self, context: TokenContext, cut: np.ndarray) -> Merges:
        """See `Merging.merge`."""
        relevance, vectors = context.relevance.ravel(), unit_rows(keys_of(context))
        relevance = relevance / max(relevance.sum(), 1.0)
        similarity = vectors[cut] @ vectors.T
        similarity[np.arange(len(cut)), cut] = -np.inf
        count = min(self.count, len(vectors) - 1)
        near = np.argpartition(-similarity, count - 1, axis=1)[:, :count] if count else np.empty((len(cut), 0), int)
        owner = np.repeat(np.arange(len(cut)), count)
        own = np.arange(len(cut)), cut, np.ones(len(cut))
        return Merges.of(own, (owner, near.ravel(), relevance[near.ravel()]))


def keys_of(context: TokenContext) -> np.ndarray:
    """Keys of the encoder's attention where they are known, else its features, float32 [N, D].

    Raises
    ------
    MetricError : keys of another number of cells.
    """
    if context.signals.get("keys") is None:
        return context.features.reshape(-1, context.features.shape[2])
    keys = np.asarray(context.signals["keys"], np.float32)
    rows, columns = context.grid
    if keys.ndim not in (2, 3) or keys.shape[:-1] not in ((rows, columns), (rows * columns,)):
        what = f"keys of shape {keys.shape} for {rows} x {columns} cells"
        raise MetricError(what, where="signals['keys']", fix="pass [N, D] or [h, w, D], a key of each cell")
    return keys.reshape(rows * columns, -1)


def unit_rows(vectors: np.ndarray) -> np.ndarray:
    """Vectors of length 1, float32 [N, D]; zeros stay zeros."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.finfo(np.float32).tiny)


def nearest_of(vectors: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """The number of the centre (rows ``centres`` of ``vectors`` [N, D]) that is nearest to each row, its own to a
    centre: int64 [N].
    """
    owner = squared_distances(vectors, vectors[centres]).argmin(axis=1)
    owner[centres] = np.arange(len(centres))
    return owner


def most_similar(vectors: np.ndarray, among: np.ndarray) -> np.ndarray:
    """The row of ``among`` that is most similar to each of ``vectors``, int64."""
    return (vectors @ among.T).argmax(axis=1) if len(vectors) else np.empty(0, np.int64)
