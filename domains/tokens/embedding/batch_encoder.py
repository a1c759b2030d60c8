"""An encoder that takes many images at once, and embeddings of tokens that are encoded one by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.domains.tokens.embedding.embeddings import pool_regions
from hra.domains.tokens.embedding.feature_grid import FeatureGrid, Regions
from hra.errors import ArrayError, check_function
from hra.model.arrays import POSITIVE, whole_in


@dataclass(frozen=True)
class BatchEncoder:
    """An encoder of batches, for whatever takes an encoder; what is encoded crop by crop then shares its calls.

    Parameters
    ----------
    encode : images float32 [N, H, W, 3] -> features [N, h, w, D].
    size : images per call, at most.

    Raises
    ------
    ArrayError : not as many features as images. HraError : no function, or a size that is no whole number from 1 on.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> encoder = tokens.BatchEncoder(lambda images: images[:, ::16, ::16])
    >>> encoder(np.zeros((64, 32, 3), np.float32)).shape
    (4, 2, 3)
    """

    encode: Callable[[np.ndarray], Any]
    size: int = 64

    def __post_init__(self) -> None:
        check_function("encode", self.encode, "pass a function of images [N, H, W, 3] that gives [N, h, w, D]")
        object.__setattr__(self, "size", whole_in("size", self.size, POSITIVE))

    def __call__(self, image: np.ndarray) -> Any:
        """Features [h, w, D] of one image [H, W, 3]."""
        return self.encode_all(image[None])[0]

    def encode_all(self, images: np.ndarray) -> list[Any]:
        """Features [h, w, D] of each of the images [N, H, W, 3]."""
        parts = [images[first : first + self.size] for first in range(0, len(images), self.size)]
        return [features for part in parts for features in self._checked(part)]

    def _checked(self, images: np.ndarray) -> Any:
        features = self.encode(images)
        if len(features) != len(images):
            what = f"the encoder returned {len(features)} features for {len(images)} images"
            raise ArrayError(what, where="encode", fix="return [N, h, w, D] for images [N, H, W, 3]")
        return features


def encode_each(images: np.ndarray, encoder: Callable[[np.ndarray], Any]) -> list[Any]:
    """Features of each of the images [N, H, W, 3], by as few calls as the encoder allows."""
    return encoder.encode_all(images) if isinstance(encoder, BatchEncoder) else [encoder(image) for image in images]


def encode_crops(pictures: np.ndarray, encoder: Callable[[np.ndarray], Any]) -> Any:
    """The mean feature of every picture float32 [K, side, side, 3], [K, D]; [0, 0] without any."""
    side = pictures.shape[1]
    return stack_rows([_pool(features, (side, side), side) for features in encode_each(pictures, encoder)])


def encode_boxes(
    image: np.ndarray, encoder: Callable[[np.ndarray], Any], patch: int, boxes: np.ndarray | None = None
) -> Any:
    """The features of an image float32 [h, w, 3] below ``boxes`` [K, 4] in its pixels (by default one, the whole)."""
    return _pool(encoder(image), image.shape[:2], patch, boxes)


def _pool(features: Any, size: tuple[int, ...], patch: int, boxes: np.ndarray | None = None) -> Any:
    height, width = size
    whole = np.array([[0, 0, width, height]])
    regions = Regions.of(whole if boxes is None else np.clip(boxes, 0, whole[:, [2, 3, 2, 3]]))
    return pool_regions(FeatureGrid.of(features), regions, len(regions.boxes), (height, width), patch)


def stack_rows(parts: list[Any]) -> Any:
    """Arrays [k, D] of one kind below each other."""
    if not parts:
        return np.zeros((0, 0), np.float32)
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    from torch import as_tensor, cat

    return cat([as_tensor(part, dtype=parts[0].dtype, device=parts[0].device) for part in parts])
