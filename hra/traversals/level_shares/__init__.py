"""Minimum shares of the cut for single levels."""

from __future__ import annotations

from hra.traversals.level_shares.traversal import LevelShares

__all__ = ["LevelShares"]
