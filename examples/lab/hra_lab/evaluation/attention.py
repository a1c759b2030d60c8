"""Attention in less than quadratic time over the tokens of a pyramid: what it misses of full attention, and costs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from hra import samples
from hra.domains import tokens
from hra.files.images import load_image
from hra_lab.templates import template

_HEADS, _WIDTH = 4, 32
_REPEATS = 3
_SEED = 0

_PAGE = template(__package__, "attention.page.txt")
"""Placeholders are filled in by `page`."""


@dataclass(frozen=True)
class AttentionSizes:
    """How much of the evaluation to run: tokens of each cut."""

    counts: tuple[int, ...] = (273, 1041, 4000)


FULL = AttentionSizes()
# Shows that everything runs.
SMALL = AttentionSizes(counts=(64,))


def run(sizes: AttentionSizes, progress: Callable[[str], None]) -> dict[str, Any]:
    """``rows``: what each kind misses at each number of tokens, sharpness and order; operations and seconds.

    Raises
    ------
    MissingExtra : torch is not installed.
    """
    from hra.domains.tokens.learned import LowRankAttention, RandomFeatureAttention, WindowedAttention

    kinds: dict[str, tuple[Any, Callable[[int], int]]] = {
        "windows of 32": (WindowedAttention(32), lambda count: count * (32 + -(-count // 32))),
        "windows of 16, means of 4": (WindowedAttention(16, pooled=4), lambda count: count * (16 + -(-count // 4))),
        "rank 32": (LowRankAttention(32), lambda count: count * 32),
        "rank 128": (LowRankAttention(128), lambda count: count * 128),
        "128 random features": (RandomFeatureAttention(128), lambda count: 2 * count * 128),
    }
    rows = []
    for count in sizes.counts:
        for order in ("pyramid", "places"):
            progress(f"{count} tokens by {order}")
            rows += [
                row for sharpness in (1, 4) for row in _rows(_heads(count, order, sharpness), kinds, sharpness, order)
            ]
    return {"rows": rows}


def table(record: dict[str, Any]) -> str:
    """One line per kind, number of tokens, order and sharpness."""
    lines = ["| tokens | order | sharpness | attention | missed | operations | of full | ms |"]
    lines.append("| ---: | --- | ---: | --- | ---: | ---: | ---: | ---: |")
    for row in record["rows"]:
        cost = f"{row['operations'] / 1e6:.0f} M | {row['share']:.0%} | {1e3 * row['seconds']:.1f}"
        about = f"{row['tokens']:,} | {row['order']} | {row['sharpness']}"
        lines.append(f"| {about} | {row['kind']} | {row['missed']:.0%} | {cost} |")
    return "\n".join(lines)


def page(record: dict[str, Any]) -> dict[str, bytes]:
    """The page by its path in the output folder."""
    return {"attention.md": _PAGE.substitute(table=table(record)).encode()}


def _rows(heads: list[Any], kinds: dict[str, Any], sharpness: int, order: str) -> list[dict[str, Any]]:
    from torch.nn.functional import scaled_dot_product_attention

    count = heads[0].shape[-2]
    about = {"tokens": count, "order": order, "sharpness": sharpness}
    exact, seconds = _timed(partial(scaled_dot_product_attention, *heads))
    spread = (exact - exact.mean(-2, keepdim=True)).norm()
    full = _operations(count * count)
    rows = [{**about, "kind": "full", "missed": 0.0, "operations": full, "share": 1.0, "seconds": seconds}]
    for name, (kind, pairs) in kinds.items():
        found, seconds = _timed(partial(kind, *heads))
        cost = {"operations": _operations(pairs(count)), "share": pairs(count) / count**2, "seconds": seconds}
        rows.append({**about, "kind": name, "missed": float((found - exact).norm() / spread), **cost})
    return rows


def _operations(pairs: int) -> int:
    """Of the products of all heads: each pair takes a scalar product and a weighted value."""
    return 4 * _HEADS * _WIDTH * pairs


def _timed(make: Callable[[], Any]) -> tuple[Any, float]:
    seconds = []
    for _ in range(_REPEATS):
        started = time.process_time()
        made = make()
        seconds.append(time.process_time() - started)
    return made, min(seconds)  # pyright: ignore[reportPossiblyUnboundVariable]


def _heads(count: int, order: str, sharpness: float) -> list[Any]:
    """Query, key and value, [4, N, 32] each, of the tokens of a photo."""
    import torch

    image = load_image(samples.path("photo.jpg"))[:1024, :1024]
    allocator = tokens.PyramidSampling(tokens.UniformRelevance())
    chosen = allocator.realize(allocator.allocate((image, ""), count))
    values = chosen.values.astype(np.float32)
    values = (values - values.mean(0)) / values.std()
    if order == "places":
        values = values[np.argsort(z_order(chosen.boxes, 16), kind="stable")]
    generator = torch.Generator().manual_seed(_SEED)
    wide = values.shape[1]
    projections = torch.randn(3, _HEADS, wide, _WIDTH, generator=generator) / wide**0.5
    query, key, value = torch.from_numpy(values) @ projections
    return [sharpness * query, key, value]


def z_order(boxes: np.ndarray, cell: int = 1) -> np.ndarray:
    """Place of the first corner of each of ``boxes`` [N, 4] along a Z curve of cells of so many pixels, int64 [N]."""
    x, y = (boxes[:, axis].astype(np.int64) // cell for axis in (0, 1))
    return sum((((x >> bit) & 1) << (2 * bit)) | (((y >> bit) & 1) << (2 * bit + 1)) for bit in range(16))  # pyright: ignore
