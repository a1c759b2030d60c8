"""Visual tokens: which patches of an image, at which level of detail, within a budget of tokens.

>>> import numpy as np
>>> from hra.domains import tokens
>>> image = np.random.default_rng(0).random((240, 320, 3), dtype=np.float32)
>>> allocator = tokens.PyramidSampling()
>>> allocation = allocator.allocate((image, "what is at the top left?"), budget=64)
>>> allocator.realize(allocation).values.shape
(64, 768)
"""

from __future__ import annotations

from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.builders import GridBuilder, PyramidBuilder
from hra.domains.tokens.context import TokenContext
from hra.domains.tokens.downsample import uniform_downsample
from hra.domains.tokens.foveated_pyramid import FoveatedPyramid
from hra.domains.tokens.foveated_relevance import FoveatedRelevance
from hra.domains.tokens.grid_top_k import GridTopK
from hra.domains.tokens.metrics import RelevanceError, RelevanceGain
from hra.domains.tokens.overlay import overlay
from hra.domains.tokens.patch_tokens import PatchTokens
from hra.domains.tokens.patches import PatchPyramid
from hra.domains.tokens.pruning import prune, prune_patches, relevance_pyramid
from hra.domains.tokens.pyramid_sampling import PyramidSampling
from hra.domains.tokens.relevance import CueRelevance, Relevance, UniformRelevance
from hra.domains.tokens.token_builder import TokenBuilder
from hra.domains.tokens.token_set import TokenSet
from hra.image_quality import psnr

__all__ = [
    "CueRelevance",
    "FoveatedPyramid",
    "FoveatedRelevance",
    "GridBuilder",
    "GridTopK",
    "PatchPyramid",
    "PatchTokens",
    "PyramidBuilder",
    "PyramidSampling",
    "Relevance",
    "RelevanceError",
    "RelevanceGain",
    "TokenAllocator",
    "TokenBuilder",
    "TokenContext",
    "TokenSet",
    "UniformRelevance",
    "overlay",
    "prune",
    "prune_patches",
    "psnr",
    "relevance_pyramid",
    "uniform_downsample",
]
