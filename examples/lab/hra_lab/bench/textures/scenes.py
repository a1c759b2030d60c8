"""Scenes of shipped images for the textures suite."""

from __future__ import annotations

from hra import samples
from hra.domains.textures import PlaneScene, load_texels


def earth_scene(step: int = 1) -> PlaneScene:
    """The Earth map as a ground 100 units wide, every ``step``-th texel of it."""
    return PlaneScene.ground(load_texels(samples.path("earth.jpg"))[::step, ::step])
