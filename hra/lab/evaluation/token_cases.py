"""Token pyramids over image crops: trees whose children are added one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from hra.domains import tokens
from hra.lab.evaluation.cases import Case
from hra.lab.evaluation.sizes import Sizes
from hra.lab.inputs.crops import crops
from hra.traversals.hull import Hull


def token_cases(sizes: Sizes) -> Iterator[Case]:
    """Every crop at every budget; the error is the mean squared error of the image, all patches being as relevant."""
    allocator = tokens.TokenAllocator(
        tokens.PyramidBuilder(), tokens.RelevanceError(), Hull(), relevance=tokens.UniformRelevance()
    )
    for name, image in crops(sizes.crops, sizes.side):
        context = allocator.context(image, "")
        problem = allocator.error_metric(allocator.hierarchy_for(context), context, np.inf)
        for budget in sizes.tokens:
            yield Case("tokens", f"{budget:,} tokens", name, replace(problem, budget=float(budget)))
