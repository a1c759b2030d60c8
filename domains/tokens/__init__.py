"""Visual tokens: which patches of an image, at which level of detail, within a budget of tokens.

>>> import numpy as np
>>> from hra.domains import tokens
>>> image = np.random.default_rng(0).random((240, 320, 3), dtype=np.float32)
>>> allocator = tokens.PyramidSampling()
>>> allocation = allocator.allocate((image, "what is at the top left?"), budget=64)
>>> allocator.realize(allocation).values.shape
(64, 768)

Where things are: ``presets`` has one file for each method; what their tokens are made of is in ``patches``,
``regions``, ``gestalt``, ``sampled`` and ``frequency``; what is known of image and query in ``channels``, ``relevance``
and ``fixation``; torch modules in ``learned``; what is made of tokens in ``measures`` and ``pictures``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hra.lazy_exports import lazy_exports

# Exported lazily (PEP 562), as in hra itself: what is not used is not imported.
_EXPORTS = {
    "AdaptiveStratified": "hra.domains.tokens.presets.adaptive_stratified",
    "AttentionMapRelevance": "hra.domains.tokens.relevance.attention",
    "BandTokens": "hra.domains.tokens.frequency.band_tokens",
    "CentreFixation": "hra.domains.tokens.fixation.finders",
    "CompressedGestalt": "hra.domains.tokens.gestalt.compressed",
    "CosineRelevance": "hra.domains.tokens.relevance.cosine",
    "Coverage": "hra.domains.tokens.measures.coverage",
    "CrossAttentionRelevance": "hra.domains.tokens.relevance.attention",
    "CueRelevance": "hra.domains.tokens.relevance.cues",
    "DifficultyAware": "hra.domains.tokens.presets.difficulty_aware",
    "Downsample": "hra.domains.tokens.presets.downsample",
    "EntropyConfidence": "hra.domains.tokens.fixation.confidence",
    "EntropyGrid": "hra.domains.tokens.presets.adaptive_stratified",
    "EvenPyramid": "hra.domains.tokens.presets.even_pyramid",
    "FoveatedPyramid": "hra.domains.tokens.presets.foveated_pyramid",
    "FoveatedRelevance": "hra.domains.tokens.relevance.foveated",
    "FrequencyAware": "hra.domains.tokens.presets.frequency_aware",
    "GestaltSaccades": "hra.domains.tokens.presets.gestalt_saccades",
    "GestaltTokens": "hra.domains.tokens.gestalt.tokens",
    "GridBuilder": "hra.domains.tokens.patches.builders",
    "GridTopK": "hra.domains.tokens.presets.grid_top_k",
    "HybridAtlas": "hra.domains.tokens.presets.hybrid_atlas",
    "ImageNetRelevance": "hra.domains.tokens.relevance.imagenet",
    "LaplacianFrame": "hra.domains.tokens.frequency.frames",
    "Legibility": "hra.domains.tokens.patches.legibility",
    "LogPolar": "hra.domains.tokens.presets.log_polar",
    "MultiFixation": "hra.domains.tokens.presets.multi_fixation",
    "PRESETS": "hra.domains.tokens.presets.registry",
    "Panel": "hra.domains.tokens.pictures.contact_sheet",
    "PatchPyramid": "hra.domains.tokens.patches.pyramid",
    "PatchTokens": "hra.domains.tokens.patches.tokens",
    "PeakFixation": "hra.domains.tokens.fixation.finders",
    "PrunedRelevance": "hra.domains.tokens.relevance.pruned",
    "PyramidBuilder": "hra.domains.tokens.patches.builders",
    "PyramidSampling": "hra.domains.tokens.presets.pyramid_sampling",
    "PyramidTopK": "hra.domains.tokens.presets.pyramid_top_k",
    "Random": "hra.domains.tokens.presets.random_patches",
    "RegionTokens": "hra.domains.tokens.regions.region_tokens",
    "Relevance": "hra.domains.tokens.relevance.base",
    "RelevanceError": "hra.domains.tokens.patches.metrics",
    "RelevanceGain": "hra.domains.tokens.patches.metrics",
    "ResidualScales": "hra.domains.tokens.presets.residual_scales",
    "ResizedGestalt": "hra.domains.tokens.gestalt.resized",
    "SampledTokens": "hra.domains.tokens.sampled.tokens",
    "SemanticAtlas": "hra.domains.tokens.presets.semantic_atlas",
    "SemanticTree": "hra.domains.tokens.presets.semantic_tree",
    "SpatialWordsFixation": "hra.domains.tokens.fixation.finders",
    "SteerableFrame": "hra.domains.tokens.frequency.frames",
    "Stratified": "hra.domains.tokens.presets.stratified",
    "TextureArray": "hra.domains.tokens.channels.texture_array",
    "TokenAllocator": "hra.domains.tokens.allocator",
    "TokenBatch": "hra.domains.tokens.token_batch",
    "TokenBuilder": "hra.domains.tokens.token_builder",
    "TokenContext": "hra.domains.tokens.context",
    "TokenDAG": "hra.domains.tokens.presets.token_dag",
    "TokenReport": "hra.domains.tokens.measures.report",
    "TokenSet": "hra.domains.tokens.token_set",
    "TwoPass": "hra.domains.tokens.presets.two_pass",
    "UniformGrid": "hra.domains.tokens.presets.uniform_grid",
    "UniformRelevance": "hra.domains.tokens.relevance.uniform",
    "Vortex": "hra.domains.tokens.presets.vortex",
    "batch_tokens": "hra.domains.tokens.token_batch",
    "contact_sheet": "hra.domains.tokens.pictures.contact_sheet",
    "coverage": "hra.domains.tokens.measures.coverage",
    "coverage_by_region": "hra.domains.tokens.measures.coverage",
    "empty_cells": "hra.domains.tokens.measures.coverage",
    "explained": "hra.domains.tokens.measures.report",
    "measure": "hra.domains.tokens.measures.report",
    "overlay": "hra.domains.tokens.pictures.overlay",
    "position_code": "hra.domains.tokens.position_codes",
    "preset": "hra.domains.tokens.presets.registry",
    "project": "hra.domains.tokens.features",
    "prune": "hra.domains.tokens.relevance.pruning",
    "prune_patches": "hra.domains.tokens.relevance.pruning",
    "psnr": "hra.images.quality",
    "redundancy": "hra.domains.tokens.measures.report",
    "relevance_pyramid": "hra.domains.tokens.relevance.pruning",
    "ssim": "hra.images.quality",
    "texture_array": "hra.domains.tokens.channels.texture_array",
    "uniform_downsample": "hra.domains.tokens.patches.downsample",
}

__all__ = [
    "PRESETS",
    "AdaptiveStratified",
    "AttentionMapRelevance",
    "BandTokens",
    "CentreFixation",
    "CompressedGestalt",
    "CosineRelevance",
    "Coverage",
    "CrossAttentionRelevance",
    "CueRelevance",
    "DifficultyAware",
    "Downsample",
    "EntropyConfidence",
    "EntropyGrid",
    "EvenPyramid",
    "FoveatedPyramid",
    "FoveatedRelevance",
    "FrequencyAware",
    "GestaltSaccades",
    "GestaltTokens",
    "GridBuilder",
    "GridTopK",
    "HybridAtlas",
    "ImageNetRelevance",
    "LaplacianFrame",
    "Legibility",
    "LogPolar",
    "MultiFixation",
    "Panel",
    "PatchPyramid",
    "PatchTokens",
    "PeakFixation",
    "PrunedRelevance",
    "PyramidBuilder",
    "PyramidSampling",
    "PyramidTopK",
    "Random",
    "RegionTokens",
    "Relevance",
    "RelevanceError",
    "RelevanceGain",
    "ResidualScales",
    "ResizedGestalt",
    "SampledTokens",
    "SemanticAtlas",
    "SemanticTree",
    "SpatialWordsFixation",
    "SteerableFrame",
    "Stratified",
    "TextureArray",
    "TokenAllocator",
    "TokenBatch",
    "TokenBuilder",
    "TokenContext",
    "TokenDAG",
    "TokenReport",
    "TokenSet",
    "TwoPass",
    "UniformGrid",
    "UniformRelevance",
    "Vortex",
    "batch_tokens",
    "contact_sheet",
    "coverage",
    "coverage_by_region",
    "empty_cells",
    "explained",
    "measure",
    "overlay",
    "position_code",
    "preset",
    "project",
    "prune",
    "prune_patches",
    "psnr",
    "redundancy",
    "relevance_pyramid",
    "ssim",
    "texture_array",
    "uniform_downsample",
]

if TYPE_CHECKING:
    from hra.domains.tokens.allocator import TokenAllocator as TokenAllocator
    from hra.domains.tokens.channels.texture_array import TextureArray as TextureArray
    from hra.domains.tokens.channels.texture_array import texture_array as texture_array
    from hra.domains.tokens.context import TokenContext as TokenContext
    from hra.domains.tokens.features import project as project
    from hra.domains.tokens.fixation.confidence import EntropyConfidence as EntropyConfidence
    from hra.domains.tokens.fixation.finders import CentreFixation as CentreFixation
    from hra.domains.tokens.fixation.finders import PeakFixation as PeakFixation
    from hra.domains.tokens.fixation.finders import SpatialWordsFixation as SpatialWordsFixation
    from hra.domains.tokens.frequency.band_tokens import BandTokens as BandTokens
    from hra.domains.tokens.frequency.frames import LaplacianFrame as LaplacianFrame
    from hra.domains.tokens.frequency.frames import SteerableFrame as SteerableFrame
    from hra.domains.tokens.gestalt.compressed import CompressedGestalt as CompressedGestalt
    from hra.domains.tokens.gestalt.resized import ResizedGestalt as ResizedGestalt
    from hra.domains.tokens.gestalt.tokens import GestaltTokens as GestaltTokens
    from hra.domains.tokens.measures.coverage import Coverage as Coverage
    from hra.domains.tokens.measures.coverage import coverage as coverage
    from hra.domains.tokens.measures.coverage import coverage_by_region as coverage_by_region
    from hra.domains.tokens.measures.coverage import empty_cells as empty_cells
    from hra.domains.tokens.measures.report import TokenReport as TokenReport
    from hra.domains.tokens.measures.report import explained as explained
    from hra.domains.tokens.measures.report import measure as measure
    from hra.domains.tokens.measures.report import redundancy as redundancy
    from hra.domains.tokens.patches.builders import GridBuilder as GridBuilder
    from hra.domains.tokens.patches.builders import PyramidBuilder as PyramidBuilder
    from hra.domains.tokens.patches.downsample import uniform_downsample as uniform_downsample
    from hra.domains.tokens.patches.legibility import Legibility as Legibility
    from hra.domains.tokens.patches.metrics import RelevanceError as RelevanceError
    from hra.domains.tokens.patches.metrics import RelevanceGain as RelevanceGain
    from hra.domains.tokens.patches.pyramid import PatchPyramid as PatchPyramid
    from hra.domains.tokens.patches.tokens import PatchTokens as PatchTokens
    from hra.domains.tokens.pictures.contact_sheet import Panel as Panel
    from hra.domains.tokens.pictures.contact_sheet import contact_sheet as contact_sheet
    from hra.domains.tokens.pictures.overlay import overlay as overlay
    from hra.domains.tokens.position_codes import position_code as position_code
    from hra.domains.tokens.presets.adaptive_stratified import AdaptiveStratified as AdaptiveStratified
    from hra.domains.tokens.presets.adaptive_stratified import EntropyGrid as EntropyGrid
    from hra.domains.tokens.presets.difficulty_aware import DifficultyAware as DifficultyAware
    from hra.domains.tokens.presets.downsample import Downsample as Downsample
    from hra.domains.tokens.presets.even_pyramid import EvenPyramid as EvenPyramid
    from hra.domains.tokens.presets.foveated_pyramid import FoveatedPyramid as FoveatedPyramid
    from hra.domains.tokens.presets.frequency_aware import FrequencyAware as FrequencyAware
    from hra.domains.tokens.presets.gestalt_saccades import GestaltSaccades as GestaltSaccades
    from hra.domains.tokens.presets.grid_top_k import GridTopK as GridTopK
    from hra.domains.tokens.presets.hybrid_atlas import HybridAtlas as HybridAtlas
    from hra.domains.tokens.presets.log_polar import LogPolar as LogPolar
    from hra.domains.tokens.presets.multi_fixation import MultiFixation as MultiFixation
    from hra.domains.tokens.presets.pyramid_sampling import PyramidSampling as PyramidSampling
    from hra.domains.tokens.presets.pyramid_top_k import PyramidTopK as PyramidTopK
    from hra.domains.tokens.presets.random_patches import Random as Random
    from hra.domains.tokens.presets.registry import PRESETS as PRESETS
    from hra.domains.tokens.presets.registry import preset as preset
    from hra.domains.tokens.presets.residual_scales import ResidualScales as ResidualScales
    from hra.domains.tokens.presets.semantic_atlas import SemanticAtlas as SemanticAtlas
    from hra.domains.tokens.presets.semantic_tree import SemanticTree as SemanticTree
    from hra.domains.tokens.presets.stratified import Stratified as Stratified
    from hra.domains.tokens.presets.token_dag import TokenDAG as TokenDAG
    from hra.domains.tokens.presets.two_pass import TwoPass as TwoPass
    from hra.domains.tokens.presets.uniform_grid import UniformGrid as UniformGrid
    from hra.domains.tokens.presets.vortex import Vortex as Vortex
    from hra.domains.tokens.regions.region_tokens import RegionTokens as RegionTokens
    from hra.domains.tokens.relevance.attention import AttentionMapRelevance as AttentionMapRelevance
    from hra.domains.tokens.relevance.attention import CrossAttentionRelevance as CrossAttentionRelevance
    from hra.domains.tokens.relevance.base import Relevance as Relevance
    from hra.domains.tokens.relevance.cosine import CosineRelevance as CosineRelevance
    from hra.domains.tokens.relevance.cues import CueRelevance as CueRelevance
    from hra.domains.tokens.relevance.foveated import FoveatedRelevance as FoveatedRelevance
    from hra.domains.tokens.relevance.imagenet import ImageNetRelevance as ImageNetRelevance
    from hra.domains.tokens.relevance.pruned import PrunedRelevance as PrunedRelevance
    from hra.domains.tokens.relevance.pruning import prune as prune
    from hra.domains.tokens.relevance.pruning import prune_patches as prune_patches
    from hra.domains.tokens.relevance.pruning import relevance_pyramid as relevance_pyramid
    from hra.domains.tokens.relevance.uniform import UniformRelevance as UniformRelevance
    from hra.domains.tokens.sampled.tokens import SampledTokens as SampledTokens
    from hra.domains.tokens.token_batch import TokenBatch as TokenBatch
    from hra.domains.tokens.token_batch import batch_tokens as batch_tokens
    from hra.domains.tokens.token_builder import TokenBuilder as TokenBuilder
    from hra.domains.tokens.token_set import TokenSet as TokenSet
    from hra.images.quality import psnr as psnr
    from hra.images.quality import ssim as ssim

__getattr__, __dir__ = lazy_exports(__name__, _EXPORTS)
