"""One token method on one image: what it gives back, covers and gains, and how long it takes."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from hra.allocating.allocation import Allocation
from hra.domains import tokens

# A corner of 20 x 20 patches, and tokens that leave every method a choice there.
_CORNER, _ENOUGH = 320, 273


@dataclass(frozen=True, eq=False)
class Judged:
    """The tokens of one method, and what was measured of them as plain data."""

    tokens: tokens.TokenSet
    row: dict[str, Any]


def judge(name: str, allocator: tokens.TokenAllocator[Any], judging: tokens.TokenContext, budget: int) -> Judged:
    """Run a method from the image to its tokens, and measure them.

    The row has the allocation's gap, residual gap and status (of the method's own objective), all of
    `hra.domains.tokens.TokenReport` (by ``judging``, so that methods compare), and milliseconds of processor time,
    which other work on the machine distorts least: ``total_ms`` from the image to the tokens, ``select_ms`` for
    choosing once more when all that follows from image and query is there.

    Parameters
    ----------
    judging : image, query, and the relevance by which every method is measured.

    Raises
    ------
    BudgetTooSmall : the method cannot do with so few tokens.
    """
    started = time.process_time()
    context = allocator.context(judging.pyramid.image, judging.query)
    allocation = allocator.allocate(context, budget)
    chosen = allocator.realize(allocation)
    total = time.process_time()
    allocator.allocate(context, budget)
    times = {"total_ms": 1000 * (total - started), "select_ms": 1000 * (time.process_time() - total)}
    report = asdict(tokens.measure(chosen, judging))
    return Judged(chosen, {"method": name, "budget": budget, **_proof(allocation), **times, **report})


def warm_up(allocator: tokens.TokenAllocator[Any], image: np.ndarray, query: str) -> None:
    """Have a method's compiled code loaded, on a corner of the image, so that it does not count as its time."""
    corner = np.ascontiguousarray(image[:_CORNER, :_CORNER])
    allocator.realize(allocator.allocate((corner, query), _ENOUGH))


def _proof(allocation: Allocation) -> dict[str, Any]:
    """How far the choice is from the best, where its gains add up; nothing is claimed elsewhere."""
    certain = allocation.status != "heuristic"
    return {
        "status": allocation.status,
        "gap": allocation.gap if certain else None,
        "residual_gap": allocation.residual_gap if certain else None,
    }
