"""Level sweeps over a forest: the Gibbs distribution of its cuts in closed form.

Every down-closed set S has probability proportional to ``exp(sum of reward over S)``. Rewards [R, B] are in units of
the temperature, one column per member of the batch: that way the refinements of a level are contiguous, and every sweep
is a few whole-level operations. The recursions are the sum-product algorithm on a tree (Pearl 1988).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid, softplus

from hra.solvers.soft.forest import SoftForest

# Beyond its threshold torch's softplus returns the value itself; at the default of 20 the ninth digit is wrong.
EXACT_SOFTPLUS = 40.0


def log_odds(forest: SoftForest, reward: Tensor) -> tuple[Tensor, Tensor]:
    """Log-odds [R, B] of taking each refinement once its predecessor is taken, and the log-partition [B]."""
    odds = reward.clone()
    for above, fine, parent in upwards(forest):
        # A subtree is left, which weighs 1, or taken, which weighs exp(odds): the logarithm of the sum is softplus,
        # and independent subtrees multiply.
        odds[above].index_add_(0, parent, softplus(odds[fine], threshold=EXACT_SOFTPLUS))
    return odds, softplus(odds[forest.roots], threshold=EXACT_SOFTPLUS).sum(0)


def marginals(forest: SoftForest, odds: Tensor) -> Tensor:
    """Probability [R, B] that each refinement is taken."""
    return descend(forest, torch.sigmoid(odds), Tensor.mul_)


def log_marginals(forest: SoftForest, odds: Tensor) -> Tensor:
    """Logarithm of `marginals`, which also ranks what is too improbable for a float."""
    return descend(forest, logsigmoid(odds), Tensor.add_)


def covariance_product(forest: SoftForest, odds: Tensor, probability: Tensor, direction: Tensor) -> Tensor:
    """Covariance of the selection [R, R], times ``direction`` [R, B]: how marginals change with rewards."""
    taken, left = torch.sigmoid(odds), torch.sigmoid(-odds)
    change = direction.clone()
    for above, fine, parent in upwards(forest):
        # Upwards: what the direction comes to beneath a refinement on average, given that it is taken. That is how its
        # log-odds change.
        change[above].index_add_(0, parent, taken[fine].mul_(change[fine]))
    # Downwards: a log-probability is the sum of log sigmoid(odds) along the path, of slope sigmoid(-odds) each.
    return descend(forest, change.mul_(left), Tensor.add_).mul_(probability)


def descend(forest: SoftForest, values: Tensor, combine: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """Combine every value [R, ...] with that of its predecessor, from coarse to fine, in place."""
    for above, fine, parent in zip(forest.levels, forest.levels[1:], forest.parents, strict=False):
        combine(values[fine], values[above].index_select(0, parent))
    return values


def upwards(forest: SoftForest) -> Iterator[tuple[slice, slice, Tensor]]:
    """Pairs of levels from fine to coarse: the level above, the finer one, and the positions of its parents above."""
    return zip(reversed(forest.levels[:-1]), reversed(forest.levels[1:]), reversed(forest.parents), strict=True)
