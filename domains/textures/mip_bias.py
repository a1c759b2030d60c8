"""The usual remedy when textures do not fit: all of them one bias coarser than wanted."""

from __future__ import annotations

import numpy as np

from hra.compiling import njit
from hra.domains.textures.feedback.feedback import Feedback
from hra.domains.textures.metrics import checked_feedback
from hra.domains.textures.pages import page_parents
from hra.domains.textures.resident import ResidentTextures
from hra.domains.textures.texture_set import TextureSet
from hra.errors import BudgetTooSmall


def uniform_bias(textures: TextureSet, feedback: Feedback, budget: float) -> ResidentTextures:
    """The pages that the view wants when every level is raised by the smallest bias whose pages fit: a baseline.

    A page of level m is wanted if a pixel in its region wants a level w with floor(w + bias) <= m.

    Parameters
    ----------
    budget : bytes.

    Raises
    ------
    BudgetTooSmall : the budget does not hold the mip tails.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import textures
    >>> pages = textures.TextureSet([textures.TiledTexture.from_image(np.zeros((256, 256, 3), np.uint8))])
    >>> seen = textures.Feedback(np.array([1, 2]), np.ones(2), np.array([50, 1]), viewport_pixels=100)
    >>> textures.uniform_bias(pages, seen, budget=2**18).pages, textures.uniform_bias(pages, seen, budget=2**17).pages
    (array([0, 1, 2]), array([0]))
    """
    hierarchy = textures.hierarchy
    checked_feedback(hierarchy, feedback)
    parent, wanted = page_parents(hierarchy), np.full(hierarchy.node_cost.size, np.inf)
    _lower_to_finest(feedback.page, np.log2(feedback.footprint), parent, wanted)
    # The bias below which each page is wanted; mip tails always are.
    limit = np.where(parent < 0, np.inf, hierarchy.attribute("level") + 1.0 - wanted)
    order = np.argsort(-limit, kind="stable")
    spent = np.cumsum(hierarchy.node_cost[order])
    fitting = int(np.searchsorted(spent, budget, side="right"))
    if fitting < np.count_nonzero(parent < 0):
        tails = hierarchy.base_cost
        raise BudgetTooSmall(f"the mip tails take {tails:,.0f} bytes", where="budget", fix=f"use {tails:,.0f}")
    # Pages with one limit come and go together; those with a limit below 0 nobody wants without a bias.
    least = max(limit[order[fitting]], 0.0) if fitting < limit.size else 0.0
    return ResidentTextures(textures, limit > least)


@njit(cache=True)
def _lower_to_finest(page, level, parent, wanted):
    """Lower ``wanted`` to the finest level that a sample in every page's region wants."""
    for i in range(page.size):
        node = page[i]
        while node >= 0 and level[i] < wanted[node]:
            wanted[node] = level[i]
            node = parent[node]
