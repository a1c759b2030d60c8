"""Residency over time: pools of bytes that are filled frame by frame, traces of demands, and judges of policies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hra.lazy_exports import lazy_exports

# Exported lazily (PEP 562), as in hra itself: what is not used is not imported.
_EXPORTS = {
    "LRU": "hra.residency.lru",
    "Belady": "hra.residency.belady",
    "Explanation": "hra.residency.explanation",
    "FrameChanges": "hra.residency.pool",
    "GodotRule": "hra.residency.godot",
    "GroundTexture": "hra.residency.ground",
    "Log": "hra.residency.policy",
    "LookAhead": "hra.residency.look_ahead",
    "Policy": "hra.residency.policy",
    "Poses": "hra.residency.poses",
    "Refusing": "hra.residency.refusing",
    "ResidentPool": "hra.residency.pool",
    "Streaming": "hra.residency.streaming",
    "Trace": "hra.residency.trace",
    "UniformBias": "hra.residency.uniform_bias",
    "Verdict": "hra.residency.verdict",
    "closed": "hra.residency.closure",
    "judge": "hra.residency.verdict",
    "load_poses": "hra.residency.poses",
    "load_trace": "hra.residency.trace_file",
    "save_trace": "hra.residency.trace_file",
}

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
    "load_poses",
    "load_trace",
    "save_trace",
]

if TYPE_CHECKING:
    from hra.residency.belady import Belady as Belady
    from hra.residency.closure import closed as closed
    from hra.residency.explanation import Explanation as Explanation
    from hra.residency.godot import GodotRule as GodotRule
    from hra.residency.ground import GroundTexture as GroundTexture
    from hra.residency.look_ahead import LookAhead as LookAhead
    from hra.residency.lru import LRU as LRU
    from hra.residency.policy import Log as Log
    from hra.residency.policy import Policy as Policy
    from hra.residency.pool import FrameChanges as FrameChanges
    from hra.residency.pool import ResidentPool as ResidentPool
    from hra.residency.poses import Poses as Poses
    from hra.residency.poses import load_poses as load_poses
    from hra.residency.refusing import Refusing as Refusing
    from hra.residency.streaming import Streaming as Streaming
    from hra.residency.trace import Trace as Trace
    from hra.residency.trace_file import load_trace as load_trace
    from hra.residency.trace_file import save_trace as save_trace
    from hra.residency.uniform_bias import UniformBias as UniformBias
    from hra.residency.verdict import Verdict as Verdict
    from hra.residency.verdict import judge as judge

__getattr__, __dir__ = lazy_exports(__name__, _EXPORTS)
