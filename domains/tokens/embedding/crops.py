"""Embeddings of tokens that are encoded one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hra.domains.tokens.embedding.batch_encoder import encode_each
from hra.domains.tokens.embedding.embeddings import pool_regions
from hra.domains.tokens.embedding.feature_grid import FeatureGrid
from hra.domains.tokens.embedding.overlaps import Regions


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
