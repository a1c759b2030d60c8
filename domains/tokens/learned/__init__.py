"""Learnable parts of token allocation in torch (extra ``hra[torch]``): a relevance scorer, samplers and their losses.

Trainable parts belong here, and gradients through the choice of tokens; torch is imported with the package. Parts
without weights are in the folder of their subject.

Nothing here is trained. The modules start from documented values, run, and pass gradients on.

>>> import torch
>>> from hra.domains.tokens import learned
>>> scores = torch.rand(4096, generator=torch.Generator().manual_seed(0))
>>> round(learned.soft_top_k(scores, count=273, temperature=0.1).sum().item(), 3)
273.0
"""

from __future__ import annotations

from hra.errors import MissingExtra

try:
    import torch  # noqa: F401
except ModuleNotFoundError as error:
    raise MissingExtra.of("torch", "torch") from error

from hra.domains.tokens.learned.attention import LowRankAttention, RandomFeatureAttention, WindowedAttention
from hra.domains.tokens.learned.coverage import coverage_loss, empty_cells, soft_top_k
from hra.domains.tokens.learned.estimators import Expected, GumbelCut, Reinforce, StraightThrough
from hra.domains.tokens.learned.log_polar_sampler import LogPolarSampler, dead_bin_penalty
from hra.domains.tokens.learned.multiband import MultiBandLoss
from hra.domains.tokens.learned.query_vector import query_vector
from hra.domains.tokens.learned.resampler import Resampler
from hra.domains.tokens.learned.sampler_relevance import SamplerRelevance
from hra.domains.tokens.learned.scorer import OUTCOMES, RelevanceScorer, outcome_loss
from hra.domains.tokens.learned.scorer_relevance import ScorerRelevance
from hra.domains.tokens.learned.soft_pyramid import SoftPyramid
from hra.domains.tokens.learned.split_network import SplitNetwork, split_cost
from hra.domains.tokens.learned.strata_network import StrataNetwork, expected_cost

__all__ = [
    "OUTCOMES",
    "Expected",
    "GumbelCut",
    "LogPolarSampler",
    "LowRankAttention",
    "MultiBandLoss",
    "RandomFeatureAttention",
    "Reinforce",
    "RelevanceScorer",
    "Resampler",
    "SamplerRelevance",
    "ScorerRelevance",
    "SoftPyramid",
    "SplitNetwork",
    "StraightThrough",
    "StrataNetwork",
    "WindowedAttention",
    "coverage_loss",
    "dead_bin_penalty",
    "empty_cells",
    "expected_cost",
    "outcome_loss",
    "query_vector",
    "soft_top_k",
    "split_cost",
]
