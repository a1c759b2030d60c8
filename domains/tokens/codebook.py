"""Codebooks: tokens as the numbers of their nearest learned vectors."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np

from hra.errors import ArrayError, needs
from hra.model.arrays import indices, numbers, to_numpy, whole_in
from hra.solvers.apportionment import largest_remainder
from hra.traversals.base import is_whole

_FLAT = 1024  # codes, of which more are learned as a tree
_ROUNDS = 20
_AT_ONCE = 2**24  # distances that are held


@dataclass(frozen=True, eq=False)
class Codebook:
    """Vectors that stand for all others: each token becomes the number of the nearest (vector quantisation).

    Y. Linde, A. Buzo and R. M. Gray, "An algorithm for vector quantizer design", 1980. One codebook serves one kind of
    token: patches of one level, or embeddings of one encoder; hierarchies take one for each level.

    Attributes
    ----------
    codes : float32 [C, D].

    Raises
    ------
    ArrayError : codes of a wrong shape, none of them, or not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> book = tokens.Codebook(np.array([[0.0, 0.0], [1.0, 1.0]], np.float32))
    >>> number = book.encode([[0.1, 0.2], [0.9, 0.7]])
    >>> number.tolist(), book.decode(number).tolist(), book.bytes_for(number.size)
    ([0, 1], [[0.0, 0.0], [1.0, 1.0]], 1)
    """

    codes: np.ndarray

    def __post_init__(self) -> None:
        codes = _rows("codes", self.codes)
        if not len(codes):
            raise ArrayError("a codebook without codes", where="codes", fix="pass [C, D] with one code or more")
        object.__setattr__(self, "codes", codes)

    @classmethod
    def fit(cls, values: Any, size: int, *, seed: int = 0) -> Codebook:
        """Learn ``size`` codes from tokens [N, D] by k-means (scikit-learn's ``KMeans``), fewer if fewer tokens differ.

        Tokens that are alike count as one with their number as its weight: otherwise a random start would take the
        empty patches of a page many times, and such codes stay dead. More than 1,024 codes are learned as a tree: first
        their square root, then in each part as many as its squared error asks for (A. Gersho and R. M. Gray, "Vector
        quantization and signal compression", 1992, section 12.4).

        Parameters
        ----------
        size : of 1 to N codes.
        seed : of the start, from 0 to 2**32 - 1.

        Raises
        ------
        ArrayError : tokens of a wrong shape or not finite, more codes than tokens, or a seed out of range.
        MissingExtra : scikit-learn is not installed.
        """
        tokens = _rows("values", values)
        if not is_whole(size) or not 1 <= size <= len(tokens):
            fix = f"use 1 to {len(tokens)} codes, or more tokens"
            raise ArrayError(f"{size!r} codes from {len(tokens)} tokens", where="size", fix=fix)
        if not is_whole(seed) or not 0 <= seed < 2**32:
            raise ArrayError(f"a seed of {seed!r}", where="seed", fix="use a whole number from 0 to 2**32 - 1")
        return cls(_learned(*np.unique(tokens, axis=0, return_counts=True), int(size), int(seed)))

    def encode(self, values: Any) -> np.ndarray:
        """The number of the nearest code of each token [N, D], int64 [N]."""
        return self.nearest(values, 1)[0][:, 0]

    def decode(self, number: Any) -> np.ndarray:
        """The codes of these numbers [N], float32 [N, D].

        Raises
        ------
        ArrayError : a number without a code.
        """
        return self.codes[indices("number", number, 0, len(self.codes))]

    def nearest(self, values: Any, count: int) -> tuple[np.ndarray, np.ndarray]:
        """The ``count`` nearest codes of each token [N, D], the nearest first: an exact search, in float64.

        Returns
        -------
        int64 [N, count] and their squared distances, float32 [N, count].

        Raises
        ------
        ArrayError : tokens of another width, or more neighbours than codes.
        """
        tokens = _rows("values", values)
        if tokens.shape[1] != self.codes.shape[1] or not is_whole(count) or not 1 <= count <= len(self.codes):
            codes = f"{len(self.codes)} codes of width {self.codes.shape[1]}"
            what = f"{count!r} of {codes} for tokens of {tokens.shape[1]}"
            raise ArrayError(what, where="Codebook", fix="pass tokens of the kind that it was made from")
        step = max(_AT_ONCE // len(self.codes), 1)
        parts = [self._nearest(tokens[first : first + step], count) for first in range(0, max(len(tokens), 1), step)]
        return np.concatenate([part for part, _ in parts]), np.concatenate([part for _, part in parts])

    def adapted(self, values: Any) -> Codebook:
        """The same number of codes, some of them replaced by examples [N, D] that no code is near to.

        An example takes the place of one of the two codes that are nearest to each other, and so are missed least,
        if it is farther from every code than these two are from each other. The numbers of all other codes stay.
        """
        examples, codes, gone = _rows("values", values), self.codes.copy(), set[int]()
        if len(codes) < 2:
            return self
        twins, apart = (part[:, 1] for part in self.nearest(codes, 2))
        redundant = iter(np.argsort(apart, kind="stable").tolist())
        for example, far in zip(examples, self.nearest(examples, 1)[1][:, 0], strict=True):
            least = next((code for code in redundant if int(twins[code]) not in gone), None)
            if least is not None and far > apart[least]:
                codes[least] = example
                gone.add(least)
        return Codebook(codes)

    def mixed(self, other: Codebook) -> Codebook:
        """The codes of both, this one's numbers unchanged and the other's behind them.

        Raises
        ------
        ArrayError : codes of another width.
        """
        if other.codes.shape[1] != self.codes.shape[1]:
            widths = f"widths {self.codes.shape[1]} and {other.codes.shape[1]}"
            raise ArrayError(widths, where="other", fix="mix codebooks of one kind of token")
        return Codebook(np.concatenate([self.codes, other.codes]))

    def bytes_for(self, count: int) -> int:
        """Bytes of the numbers of this many tokens, each as many bits as the size needs; without the codebook.

        Raises
        ------
        HraError : ``count`` is not a whole number >= 0.
        """
        return -(-whole_in("count", count) * max((len(self.codes) - 1).bit_length(), 1) // 8)

    def _nearest(self, tokens: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
        distance = _squared(tokens, self.codes)
        order = np.argsort(distance, axis=1, kind="stable")[:, :count] if count > 1 else distance.argmin(1)[:, None]
        return order.astype(np.int64), np.take_along_axis(distance, order, axis=1).astype(np.float32)


def _learned(tokens: np.ndarray, weight: np.ndarray, size: int, seed: int) -> np.ndarray:
    """Codes float32 [at most size, D] of different tokens [N, D], each of which stands for ``weight`` [N] alike."""
    if size >= len(tokens):
        return tokens
    if size <= _FLAT:
        return _means(tokens, weight, size, seed)[0]
    _, part, error = _means(tokens, weight, isqrt(size), seed)
    held = np.bincount(part)
    shares = largest_remainder(np.bincount(part, error) + 1e-9, size, held, minimum=1)
    parts = [
        _learned(tokens[part == i], weight[part == i], int(share), seed) for i, share in enumerate(shares) if held[i]
    ]
    return np.concatenate(parts)


def _means(tokens: np.ndarray, weight: np.ndarray, size: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Means of k-means, the mean that each token belongs to, and what it misses: weight times squared distance."""
    with needs("scikit-learn", "learn"):
        from sklearn.cluster import KMeans
    how: dict[str, Any] = {"init": "random", "n_init": 1, "max_iter": _ROUNDS}
    found = KMeans(size, random_state=seed, **how).fit(tokens, sample_weight=weight)
    part = np.asarray(found.labels_, np.int64)
    codes = np.asarray(found.cluster_centers_, np.float32)
    return codes, part, weight * ((tokens - codes[part]) ** 2).sum(axis=1)


def _squared(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Squared distances, float64 [N, C]; never below 0."""
    # In float32 what all tokens have in common would drown what tells codes apart.
    rows, columns = rows.astype(np.float64), columns.astype(np.float64)
    squares = rows @ columns.T
    squares *= -2
    squares += (rows**2).sum(1)[:, None]
    squares += (columns**2).sum(1)
    return np.maximum(squares, 0, out=squares)


def _rows(name: str, values: Any) -> np.ndarray:
    given = to_numpy(values)
    if given.ndim != 2:
        raise ArrayError(f"{name} of shape {given.shape}", where=name, fix="pass [N, D]")
    return numbers(name, given.ravel()).reshape(given.shape).astype(np.float32)
