"""All token methods on one image, and their contact sheet."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from hra.domains import tokens
from hra.domains.tokens.methods.reducers.named import reads_features
from hra.domains.tokens.methods.registry import method_names
from hra.errors import BudgetTooSmall, HierarchyError, MetricError, MissingExtra
from hra.traversals.base import Traversal

# A corner of 20 x 20 patches, and tokens that leave every method a choice there.
_CORNER, _ENOUGH = 320, 273


@dataclass(frozen=True, eq=False)
class MethodResult:
    """The tokens of one method, and what was measured of them as plain data."""

    tokens: tokens.TokenSet
    row: dict[str, Any]


def evaluate_method(
    name: str, allocator: tokens.TokenAllocator[Any], reference: tokens.TokenContext, budget: int
) -> MethodResult:
    """Run a method from the image to its tokens, and measure them.

    The row has the allocation's gap, residual gap and status (of the method's own objective), all of
    `hra.domains.tokens.TokenReport` (by ``reference``, so that methods compare), and milliseconds of processor time,
    which other work on the machine distorts least: ``total_ms`` from the image to the tokens, ``select_ms`` for
    choosing once more when all that follows from image and query is there.

    Parameters
    ----------
    reference : image, query, and the relevance by which every method is measured.

    Raises
    ------
    BudgetTooSmall : the method cannot do with so few tokens.
    """
    started = time.process_time()
    context = allocator.context(reference.pyramid.image, reference.query)
    allocation = allocator.allocate(context, budget)
    chosen = allocator.realize(allocation)
    total = time.process_time()
    allocator.allocate(context, budget)
    times = {"total_ms": 1000 * (total - started), "select_ms": 1000 * (time.process_time() - total)}
    report = asdict(tokens.measure(chosen, reference))
    return MethodResult(chosen, {"method": name, "budget": budget, **allocation.proof, **times, **report})


def warm_up(allocator: tokens.TokenAllocator[Any], image: np.ndarray, query: str) -> None:
    """Have a method's compiled code loaded, on a corner of the image, so that it does not count as its time."""
    corner = np.ascontiguousarray(image[:_CORNER, :_CORNER])
    allocator.realize(allocator.allocate((corner, query), _ENOUGH))


# What a sheet should fit into, and what frame and text of a panel take of it, in pixels.
_SCREEN, _FRAME, _TEXT = (1920, 1080), 8, 72
_MOST_COLUMNS, _LEAST_WIDTH = 6, 140


@dataclass(frozen=True, eq=False)
class Compared:
    """Methods that ran, by falling PSNR of what their tokens give back, and why the others could not.

    Attributes
    ----------
    by_features : those that choose by a model's features and attention, for which others stood here.
    """

    results: tuple[MethodResult, ...]
    skipped: dict[str, str]
    by_features: tuple[str, ...] = ()


def compare(
    image: np.ndarray,
    query: str,
    budget: int,
    names: Sequence[str] = (),
    progress: Callable[[str], None] = lambda name: None,
    traversal: Traversal | None = None,
) -> Compared:
    """Run methods on one image, all measured by `CueRelevance`.

    Parameters
    ----------
    names : as `hra.domains.tokens.preset` knows them; none takes all.
    progress : told the name of each method before it starts, and which of how many it is.
    traversal : in place of each method's own; those that it does not suit are skipped.

    Raises
    ------
    HraError : a name that no method has.
    """
    allocators = {name: tokens.preset(name) for name in names or method_names()}
    reference, results, skipped = tokens.GridTopK().context(image, query), [], {}
    for number, (name, allocator) in enumerate(allocators.items(), 1):
        progress(f"{name}, {number} of {len(allocators)}")
        if traversal is not None:
            allocator.traversal = traversal
        try:
            warm_up(allocator, image, query)
            results.append(evaluate_method(name, allocator, reference, budget))
        except (BudgetTooSmall, HierarchyError, MetricError, MissingExtra) as error:
            skipped[name] = error.what
    by_features = tuple(name for name, one in allocators.items() if name not in skipped and reads_features(one))
    return Compared(tuple(sorted(results, key=lambda one: -one.row["psnr_db"])), skipped, by_features)


def sheet_of(image: np.ndarray, compared: Compared) -> np.ndarray:
    """The image, then overlay and reconstruction of every method with its numbers, best first: uint8 [H, W, 3]."""
    height, width = image.shape[:2]
    original = tokens.Panel((image, np.ones_like(image)), ("the image", f"{width:,} x {height:,} pixels", ""))
    panels = [original] + [
        tokens.Panel((tokens.overlay(image, one.tokens), one.tokens.reconstruct()), _lines(one.row))
        for one in compared.results
    ]
    columns, width = _layout(len(panels), height / width)
    return tokens.contact_sheet(panels, columns, width)


def _layout(panels: int, ratio: float) -> tuple[int, int]:
    """Columns of panels, and pixels of a picture's width: as wide as a screen of 1920 x 1080 allows.

    Parameters
    ----------
    ratio : height of a picture by its width.
    """
    fitting = []
    for columns in range(1, _MOST_COLUMNS + 1):
        across = _SCREEN[0] // columns // 2 - _FRAME
        down = (_SCREEN[1] // -(-panels // columns) - _TEXT) / ratio
        fitting.append((int(min(across, down)), -columns))
    width, columns = max(fitting)
    # What does not fit at a readable size is scrolled.
    return (-columns, width) if width >= _LEAST_WIDTH else (_MOST_COLUMNS, _LEAST_WIDTH)


def _lines(row: dict) -> tuple[str, str, str]:
    gap = row["residual_gap"]
    proof = "no certificate" if gap is None else f"residual gap {gap:.2%}"
    return (
        f"{row['method']}: {row['psnr_db']:.2f} dB, gain {row['gain']:.3f}",
        f"{row['count']:,} tokens, shown {row['coverage']['area']:.0%}, level {row['coverage']['mean_detail']:.2f}",
        f"{proof}, {row['total_ms']:.0f} ms",
    )
