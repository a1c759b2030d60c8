"""Policies by the names that the command line uses."""

from __future__ import annotations

from hra.errors import HraError
from hra.residency.replay.age import AgeEviction
from hra.residency.replay.belady import Belady
from hra.residency.replay.godot import GodotRule
from hra.residency.replay.look_ahead import LookAhead
from hra.residency.replay.lru import LRU
from hra.residency.replay.policy import Policy
from hra.residency.replay.refusing import Refusing
from hra.residency.replay.streaming import Streaming
from hra.residency.replay.trace import Trace
from hra.residency.replay.uniform_bias import UniformBias


def policies(names: str, trace: Trace, upload_bytes: int | None = None, prefetch: int = 0) -> list[Policy]:
    """The policies of a comma-separated list; ``all`` are all that can run on ``trace``.

    Parameters
    ----------
    upload_bytes, prefetch : of the streaming policies.

    Raises
    ------
    HraError : an unknown name.
    """
    known: dict[str, list[Policy]] = {
        "lru": [LRU()],
        "belady": [Belady()],
        "godot": [GodotRule()],
        "bias": [UniformBias()],
        "refuse": [Refusing()],
        "age": [AgeEviction()],
        "look-ahead": [LookAhead(frames) for frames in (0, 30, 300, None)],
        "streaming": [Streaming(frames, upload_bytes, prefetch) for frames in (0, 30, 300)],
    }
    if names == "all":
        return [
            policy for name, group in known.items() if name != "bias" or trace.parents is not None for policy in group
        ]
    unknown = [name for name in names.split(",") if name not in known]
    if unknown:
        raise HraError(f"the policy {unknown[0]!r} is unknown", where="--policy", fix=f"use all or {', '.join(known)}")
    return [policy for name in names.split(",") for policy in known[name]]
