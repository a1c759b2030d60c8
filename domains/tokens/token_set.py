"""The result of a token allocation: the token array with everything a model needs beside it."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np


class TokenSet(ABC):
    """K tokens of one image, whatever they are: patches, regions, samples, bands.

    Attributes
    ----------
    values : float32 [K, D], what each token carries.
    relevance : float64 [K], mean relevance of the token's region.
    image_size : (height, width) of the image in pixels.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.PyramidSampling()
    >>> context = allocator.context(image, "what is at the top left?")
    >>> chosen = allocator.realize(allocator.allocate(context, budget=20))
    >>> isinstance(chosen, tokens.TokenSet), chosen.boxes.shape, chosen.reconstruct().shape
    (True, (20, 4), (128, 192, 3))
    """

    values: np.ndarray
    relevance: np.ndarray
    image_size: tuple[int, int]

    def __len__(self) -> int:
        """Number of tokens."""
        return len(self.values)

    @property
    def order(self) -> np.ndarray:
        """Token indices from the most to the least relevant, ties in the given order, int64 [K]."""
        return np.argsort(-self.relevance, kind="stable")

    @property
    @abstractmethod
    def boxes(self) -> np.ndarray:
        """Pixels (x0, y0, x1, y1), end excluded, that enclose each token's region, int32 [K, 4]."""

    @property
    @abstractmethod
    def detail(self) -> np.ndarray:
        """log2 of the image's pixels along one side of a token's pixel, float32 [K]; 0 is the finest."""

    @abstractmethod
    def token_map(self) -> np.ndarray:
        """The token that shows each pixel, the one of finest detail where several do, -1 for none: int32 [H, W]."""

    @abstractmethod
    def reconstruct(self) -> np.ndarray:
        """The image from these tokens alone, float32 [H, W, 3] in [0, 1]."""

    def shown_detail(self) -> np.ndarray:
        """The detail (see `detail`) at which each pixel is shown, inf where no token shows it: float32 [H, W]."""
        return np.append(self.detail, np.float32(np.inf))[self.token_map()]
