"""Every preset by its name: what the command line and comparisons choose from."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from hra.domains.tokens.adaptive_stratified import AdaptiveStratified
from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.difficulty_aware import DifficultyAware
from hra.domains.tokens.downsample_preset import Downsample
from hra.domains.tokens.foveated_pyramid import FoveatedPyramid
from hra.domains.tokens.frequency.aware import FrequencyAware
from hra.domains.tokens.frequency.residual_scales import ResidualScales
from hra.domains.tokens.gestalt.saccades import GestaltSaccades
from hra.domains.tokens.grid_top_k import GridTopK
from hra.domains.tokens.multi_fixation import MultiFixation
from hra.domains.tokens.pyramid_sampling import PyramidSampling
from hra.domains.tokens.pyramid_top_k import PyramidTopK
from hra.domains.tokens.random_patches import Random
from hra.domains.tokens.regions import HybridAtlas, SemanticAtlas, SemanticTree
from hra.domains.tokens.sampled.log_polar import LogPolar
from hra.domains.tokens.sampled.vortex import Vortex
from hra.domains.tokens.stratified import Stratified
from hra.domains.tokens.token_dag import TokenDAG
from hra.domains.tokens.two_pass import TwoPass
from hra.domains.tokens.uniform_grid import UniformGrid
from hra.errors import HraError

PRESETS: Mapping[str, type[Any]] = MappingProxyType(
    {
        "grid": GridTopK,
        "downsample": Downsample,
        "uniform-grid": UniformGrid,
        "random": Random,
        "pyramid": PyramidSampling,
        "foveated": FoveatedPyramid,
        "multi-fixation": MultiFixation,
        "difficulty-aware": DifficultyAware,
        "pyramid-top-k": PyramidTopK,
        "token-dag": TokenDAG,
        "stratified": Stratified,
        "adaptive-stratified": AdaptiveStratified,
        "gestalt-saccades": GestaltSaccades,
        "two-pass": TwoPass,
        "log-polar": LogPolar,
        "vortex": Vortex,
        "frequency-aware": FrequencyAware,
        "residual-scales": ResidualScales,
        "semantic-atlas": SemanticAtlas,
        "semantic-tree": SemanticTree,
        "hybrid-atlas": HybridAtlas,
    }
)
"""Name to class: baselines first, then pyramids, strata, fixed bases, samples, bands and regions."""


def preset(name: str) -> TokenAllocator[Any]:
    """The preset called ``name``, as it comes.

    Raises
    ------
    HraError : there is none of that name.
    """
    if name not in PRESETS:
        raise HraError(f"there is no method called {name!r}", where="method", fix=f"use one of {', '.join(PRESETS)}")
    return PRESETS[name]()
