"""Every preset by its name: what the command line and comparisons choose from.

>>> from hra.domains import tokens
>>> sorted(tokens.PRESETS)[:3]
['adaptive-stratified', 'difficulty-aware', 'downsample']
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from hra.console.choosing import choose
from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.methods.adaptive_stratified import AdaptiveStratified
from hra.domains.tokens.methods.difficulty_aware import DifficultyAware
from hra.domains.tokens.methods.downsample import Downsample
from hra.domains.tokens.methods.even_pyramid import EvenPyramid
from hra.domains.tokens.methods.foveated_pyramid import FoveatedPyramid
from hra.domains.tokens.methods.frequency_aware import FrequencyAware
from hra.domains.tokens.methods.gestalt_saccades import GestaltSaccades
from hra.domains.tokens.methods.grid_top_k import GridTopK
from hra.domains.tokens.methods.hybrid_atlas import HybridAtlas
from hra.domains.tokens.methods.log_polar import LogPolar
from hra.domains.tokens.methods.multi_fixation import MultiFixation
from hra.domains.tokens.methods.pyramid_sampling import PyramidSampling
from hra.domains.tokens.methods.pyramid_top_k import PyramidTopK
from hra.domains.tokens.methods.random_patches import Random
from hra.domains.tokens.methods.reducers.named import REDUCERS
from hra.domains.tokens.methods.residual_scales import ResidualScales
from hra.domains.tokens.methods.semantic_atlas import SemanticAtlas
from hra.domains.tokens.methods.semantic_tree import SemanticTree
from hra.domains.tokens.methods.stratified import Stratified
from hra.domains.tokens.methods.token_dag import TokenDAG
from hra.domains.tokens.methods.two_pass import TwoPass
from hra.domains.tokens.methods.uniform_grid import UniformGrid
from hra.domains.tokens.methods.vortex import Vortex
from hra.errors import HraError
from hra.plugins import available

PRESETS: Mapping[str, type[Any]] = MappingProxyType(
    {
        "grid": GridTopK,
        "downsample": Downsample,
        "uniform-grid": UniformGrid,
        "random": Random,
        "pyramid": PyramidSampling,
        "even-pyramid": EvenPyramid,
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

METHODS: Mapping[str, Callable[..., TokenAllocator[Any]]] = MappingProxyType({**PRESETS, **REDUCERS})
"""All that hra registers as ``hra.methods``."""


def method_names() -> list[str]:
    """The presets in their order, then what other packages register as ``hra.methods``."""
    return [*PRESETS, *sorted(set(available("hra.methods")) - set(PRESETS))]


def preset(name: str) -> TokenAllocator[Any]:
    """The method called ``name``, a preset or one that another package registers as ``hra.methods``, as it comes.

    Raises
    ------
    HraError : there is none of that name, several packages register it, or it cannot be loaded or made.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((128, 192, 3), dtype=np.float32)
    >>> allocator = tokens.preset("pyramid")
    >>> allocator.allocate((image, ""), budget=20).cost
    20.0
    """
    if isinstance(name, str) and name in available("hra.methods"):  # also ours, which another package may register, too
        return choose("hra.methods", name, TokenAllocator)
    if isinstance(name, str) and name in PRESETS:
        return PRESETS[name]()
    known = ", ".join(method_names())
    raise HraError(f"there is no method called {name!r}", where="method", fix=f"use one of {known}")
