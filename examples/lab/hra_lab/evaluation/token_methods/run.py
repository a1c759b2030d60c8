"""The evaluation of token methods: every preset on every image, beside grid top-K, down-sampling and the oracle."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.domains import tokens
from hra.domains.tokens.quality.compare import evaluate_method, warm_up
from hra.errors import BudgetTooSmall, MissingExtra
from hra.traversals.exact import Exact
from hra_lab.evaluation.token_methods.images import SEED, Picture, pictures

BASELINE, FIRST, ORACLE = "downsample", "grid", "oracle"
_PATCHES, _BUDGET, _WITH_BASE = 4096, 273, 529
# These spend 256 tokens on a base before they choose, and are shown beside a few others that spend as many.
_BASED = ("gestalt-saccades", "two-pass")
_BESIDE = (BASELINE, FIRST, ORACLE, "pyramid", "even-pyramid", "foveated")


@dataclass(frozen=True)
class MethodSizes:
    """How much of the evaluation to run.

    Attributes
    ----------
    crops : of each shipped sample, at most; each is a square of ``side`` pixels.
    """

    crops: int = 6
    side: int = 1024


FULL = MethodSizes()
# Shows that everything runs.
SMALL = MethodSizes(crops=1, side=320)


def budget_for(patches: int, budget: int = _BUDGET) -> int:
    """The same share of ``patches`` as ``budget`` is of 4,096, and one token at least."""
    return max(1, round(patches * budget / _PATCHES))


def methods() -> dict[str, tokens.TokenAllocator[Any]]:
    """Every preset by name, and the oracle: the proven best cut of the pyramid for the error that PSNR measures."""
    presets = {name: tokens.preset(name) for name in tokens.PRESETS}
    even = tokens.UniformRelevance()
    oracle = tokens.TokenAllocator(
        tokens.PyramidBuilder(), tokens.RelevanceError(), Exact(spend_all=True), relevance=even
    )
    return {**presets, ORACLE: oracle}


def run(
    sizes: MethodSizes, progress: Callable[[str], None], seed: int = SEED, own: Iterable[Picture] | None = None
) -> dict[str, Any]:
    """All numbers as plain data: ``rows``, one per image and method, ``images``, and what was ``skipped`` and why.

    Parameters
    ----------
    progress : is told what is being worked on.
    seed : of the places of the crops.
    own : pictures in place of those that packages carry.
    """
    allocators, rows, images, skipped, warm = methods(), [], [], [], set[str]()
    for picture in pictures(sizes.crops, sizes.side, seed) if own is None else own:
        reference = tokens.PyramidSampling().context(picture.image, picture.query)
        images.append(_image(picture, reference))
        for group, budget, names in _tasks(picture, reference.relevance.size, list(allocators)):
            for name in names:
                progress(f"{picture.source}: {name}")
                about = {"source": picture.source, "group": group, "method": name}
                try:
                    if name not in warm:
                        warm_up(allocators[name], picture.image, picture.query)
                        warm.add(name)
                    rows.append({**about, **evaluate_method(name, allocators[name], reference, budget).row})
                except (BudgetTooSmall, MissingExtra) as error:
                    skipped.append({**about, "reason": error.what})
    return {"images": images, "rows": rows, "skipped": skipped}


def _tasks(picture: Picture, patches: int, names: list[str]) -> Iterator[tuple[str, int, list[str]]]:
    """Groups that a picture belongs to, with budget and methods: a mean is of one number of tokens, if of large images.

    Bases have 256 tokens whatever the image, so that small ones would be all base.
    """
    group = f"small {picture.kind}" if picture.small else picture.kind
    yield group, budget_for(patches), [name for name in names if name not in _BASED]
    if not picture.small:
        chosen = [name for name in names if name in _BASED + _BESIDE]
        yield f"{picture.kind}, with a base", budget_for(patches, _WITH_BASE), chosen


def _image(picture: Picture, context: tokens.TokenContext) -> dict[str, Any]:
    height, width = picture.image.shape[:2]
    patches = context.relevance.size
    size = {"width": width, "height": height, "patches": patches, "budget": budget_for(patches)}
    return {"source": picture.source, "kind": picture.kind, "query": picture.query, **size, **_spread(context)}


def _spread(context: tokens.TokenContext) -> dict[str, float]:
    """How unevenly error lies: the share of level 2's squared error that the worst tenth of the patches hold.

    An allocation gains over even detail only by this: error that lies everywhere cannot be bought in a few places.
    """
    errors = np.sort(context.pyramid.errors_by_level[min(2, len(context.pyramid.levels) - 1)].ravel())[::-1]
    worst = errors[: max(1, errors.size // 10)].sum()
    return {"worst_tenth": float(worst / errors.sum()) if errors.any() else 0.1}
