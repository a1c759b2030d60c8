"""REDUCE and EXPAND of Burt and Adelson by Numba, large levels with a thread per core. Levels are [B, H, W, C]."""

from __future__ import annotations

import numpy as np

from hra.kernels.pyramids.burt import numba_kernels
from hra.kernels.pyramids.burt.reference import copy, place
from hra.kernels.row_blocks import Block, for_each, split

__all__ = ["add_expanded", "copy", "place", "reduce_level"]


def reduce_level(source: np.ndarray, target: np.ndarray) -> None:
    """Write every second pixel of the blurred ``source`` to ``target``."""
    fine, coarse = _flat(source), _flat(target)

    def work(block: Block) -> None:
        images = slice(block.begin, block.end)
        numba_kernels.reduce_rows(fine[images], coarse[images], source.shape[3], block.first, block.last)

    for_each(split(target.shape[0], target.shape[1], 2 * source[:1, :1].nbytes), source.nbytes, work)


def add_expanded(coarse: np.ndarray, fine: np.ndarray, sign: float) -> None:
    """Add ``sign`` times the expanded ``coarse`` to ``fine``."""
    source, target, factor = _flat(coarse), _flat(fine), np.float32(sign)

    def work(block: Block) -> None:
        rows = target[block.begin : block.end]
        expanded = source[block.begin : block.end]
        numba_kernels.add_expanded_rows(expanded, rows, fine.shape[3], factor, block.first, block.last)

    for_each(split(fine.shape[0], fine.shape[1], fine[:1, :1].nbytes), fine.nbytes, work)


def _flat(level: np.ndarray) -> np.ndarray:
    return level.reshape(*level.shape[:2], -1)
