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

from hra.domains.tokens.adaptive_stratified import AdaptiveStratified, EntropyGrid
from hra.domains.tokens.allocator import TokenAllocator
from hra.domains.tokens.builders import GridBuilder, PyramidBuilder
from hra.domains.tokens.channels.texture_array import TextureArray, texture_array
from hra.domains.tokens.confidence import EntropyConfidence
from hra.domains.tokens.contact_sheet import Panel, contact_sheet
from hra.domains.tokens.context import TokenContext
from hra.domains.tokens.difficulty_aware import DifficultyAware
from hra.domains.tokens.downsample import uniform_downsample
from hra.domains.tokens.downsample_preset import Downsample
from hra.domains.tokens.features import project
from hra.domains.tokens.fixation_finders import CentreFixation, PeakFixation, SpatialWordsFixation
from hra.domains.tokens.foveated_pyramid import FoveatedPyramid
from hra.domains.tokens.foveated_relevance import FoveatedRelevance
from hra.domains.tokens.frequency.aware import FrequencyAware
from hra.domains.tokens.frequency.band_tokens import BandTokens
from hra.domains.tokens.frequency.frames import LaplacianFrame, SteerableFrame
from hra.domains.tokens.frequency.residual_scales import ResidualScales
from hra.domains.tokens.gestalt.compressed import CompressedGestalt
from hra.domains.tokens.gestalt.resized import ResizedGestalt
from hra.domains.tokens.gestalt.saccades import GestaltSaccades
from hra.domains.tokens.gestalt.tokens import GestaltTokens
from hra.domains.tokens.grid_top_k import GridTopK
from hra.domains.tokens.legibility import Legibility
from hra.domains.tokens.measures.coverage import Coverage, coverage, coverage_by_region, empty_cells
from hra.domains.tokens.measures.report import TokenReport, explained, measure, redundancy
from hra.domains.tokens.measures.ssim import ssim
from hra.domains.tokens.metrics import RelevanceError, RelevanceGain
from hra.domains.tokens.multi_fixation import MultiFixation
from hra.domains.tokens.overlay import overlay
from hra.domains.tokens.patch_tokens import PatchTokens
from hra.domains.tokens.patches import PatchPyramid
from hra.domains.tokens.position_codes import position_code
from hra.domains.tokens.presets import PRESETS, preset
from hra.domains.tokens.pruning import prune, prune_patches, relevance_pyramid
from hra.domains.tokens.pyramid_sampling import PyramidSampling
from hra.domains.tokens.pyramid_top_k import PyramidTopK
from hra.domains.tokens.random_patches import Random
from hra.domains.tokens.regions import HybridAtlas, RegionTokens, SemanticAtlas, SemanticTree
from hra.domains.tokens.relevance import CueRelevance, Relevance, UniformRelevance
from hra.domains.tokens.sampled.log_polar import LogPolar
from hra.domains.tokens.sampled.tokens import SampledTokens
from hra.domains.tokens.sampled.vortex import Vortex
from hra.domains.tokens.scoring.attention import AttentionMapRelevance, CrossAttentionRelevance
from hra.domains.tokens.scoring.cosine import CosineRelevance
from hra.domains.tokens.scoring.imagenet import ImageNetRelevance
from hra.domains.tokens.scoring.pruned import PrunedRelevance
from hra.domains.tokens.stratified import Stratified
from hra.domains.tokens.token_batch import TokenBatch, batch_tokens
from hra.domains.tokens.token_builder import TokenBuilder
from hra.domains.tokens.token_dag import TokenDAG
from hra.domains.tokens.token_set import TokenSet
from hra.domains.tokens.two_pass import TwoPass
from hra.domains.tokens.uniform_grid import UniformGrid
from hra.image_quality import psnr

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
