"""The settings of a build."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """What decides the result; see `hra.domains.meshes.build`."""

    cluster_size: int
    group_size: int
    certified: bool
