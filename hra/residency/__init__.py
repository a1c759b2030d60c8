"""Residency over time: pools of bytes that are filled frame by frame, traces of demands, and judges of policies."""

from __future__ import annotations

from hra.residency.belady import Belady
from hra.residency.closure import closed
from hra.residency.drives import kitti_like, terrain_walk
from hra.residency.explanation import Explanation
from hra.residency.godot import GodotRule
from hra.residency.ground import GroundTexture
from hra.residency.judge import Verdict, judge
from hra.residency.look_ahead import LookAhead
from hra.residency.lru import LRU
from hra.residency.policy import Log, Policy
from hra.residency.pool import FrameChanges, ResidentPool
from hra.residency.poses import Poses, load_poses
from hra.residency.refusing import Refusing
from hra.residency.streaming import Streaming
from hra.residency.trace import Trace
from hra.residency.trace_file import load_trace, save_trace
from hra.residency.uniform_bias import UniformBias

__all__ = [
    "LRU",
    "Belady",
    "Explanation",
    "FrameChanges",
    "GodotRule",
    "GroundTexture",
    "Log",
    "LookAhead",
    "Policy",
    "Poses",
    "Refusing",
    "ResidentPool",
    "Streaming",
    "Trace",
    "UniformBias",
    "Verdict",
    "closed",
    "judge",
    "kitti_like",
    "load_poses",
    "load_trace",
    "save_trace",
    "terrain_walk",
]
