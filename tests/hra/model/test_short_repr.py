"""Large objects print in a line."""

from __future__ import annotations

import numpy as np
import pytest

import hra
from hra.domains import textures, tokens
from hra.model.arrays import frozen

NAMES = (
    "PlaneScene", "TexturedPlane", "TextureSet", "TiledTexture", "PageTable", "AnalyticFeedback", "Feedback",
    "ResidentTextures", "Problem", "Solution", "Certificate", "Units", "TokenContext", "PatchPyramid",
)  # fmt: skip


@pytest.fixture(scope="module")
def samples() -> dict[str, object]:
    scene = textures.PlaneScene.ground(np.zeros((1024, 1024, 3), np.uint8))
    source = textures.AnalyticFeedback(scene)
    allocator = textures.TextureAllocator(scene.textures, source)
    camera = textures.flyover(scene.planes[0], frames=3, viewport=(320, 180))[1]
    allocation = allocator.allocate(camera, 400_000)
    context = tokens.PyramidSampling().context(np.zeros((128, 128, 3), np.float32), "what?")
    made = [scene, scene.planes[0], scene.textures, scene.planes[0].texture, scene.planes[0].texture.pages, source]
    made += [source.observe(camera), allocator.realize(allocation), allocation.problem, allocation.solution]
    made += [allocation.certificate, allocation.hierarchy.units, context, context.pyramid]
    return {type(one).__name__: one for one in made}


@pytest.mark.parametrize("name", NAMES)
def test_it_is_one_short_line_that_names_the_class(name, samples):
    assert tuple(samples) == NAMES
    text = repr(samples[name])
    assert text.startswith(name) and len(text) < 400 and "\n" not in text


def test_arrays_are_named_by_dtype_and_shape_and_small_ones_shown():
    solution = hra.Solution(frozen(np.zeros(100, bool)), 2.0)
    assert repr(solution).startswith("Solution(selected=bool [100], price=2.0")
    assert "array([ True])" in repr(hra.Solution(np.ones(1, bool), 0.0))
