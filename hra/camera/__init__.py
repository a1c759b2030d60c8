"""Cameras: what a mesh or texture metric needs to know about the view."""

from __future__ import annotations

from hra.camera.camera import Camera

__all__ = ["Camera"]
