"""A textured ground at every pool of bytes: the pages that one camera wants most, seen by that camera."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.camera import Camera
from hra.domains import textures
from hra.lab.explore.packed import packed
from hra.lab.explore.pictures import jpeg
from hra.lab.explore.track import Track, allocate_all, budgets_between
from hra.traversals.base import Traversal
from hra.traversals.best_first import BestFirst
from hra.traversals.hull import Hull
from hra.traversals.threshold import Threshold

_STEPS = 64
_TRAVERSALS: dict[str, Traversal] = {
    "hra: least error within the pool": Hull(),
    "one error for all pages": Threshold(),
    "load the best ratio first": BestFirst(),
    "load the largest error first": BestFirst(by="error"),
}


def texture_view(image: Any, camera: Camera | None, budget: int) -> dict[str, Any]:
    """What a page needs to show an image as ground at every pool from its mip tail to what the camera can use.

    Parameters
    ----------
    image : uint8 [H, W, 3] or a path, see `hra.domains.textures.PlaneScene.ground`.
    camera : for which bytes are spent; by default one in the middle of a flight over the ground.
    budget : bytes where the slider begins, one of its steps.
    """
    scene = textures.PlaneScene.ground(image)
    if camera is None:
        camera = textures.flyover(scene.planes[0], frames=3, viewport=(960, 540))[1]
    allocator = textures.TextureAllocator(scene.textures, textures.AnalyticFeedback(scene))
    hierarchy, useful = scene.textures.hierarchy, allocator.allocate(camera, np.inf).cost
    budgets = budgets_between(hierarchy.base_cost, useful, _STEPS, (budget,))
    tracks = [
        Track.of(name, allocate_all(_with(allocator, traversal), camera, budgets))
        for name, traversal in _TRAVERSALS.items()
    ]
    places = np.stack([hierarchy.attribute(name) for name in ("level", "x", "y")], axis=1)
    plane = scene.planes[0]
    return {
        "kind": "texture",
        "name": "texture",
        "unit": "bytes",
        "error": f"error in {allocator.metric.unit.replace('px2', 'px²')}",
        "start": int(np.searchsorted(budgets, np.clip(budget, budgets[0], budgets[-1]))),
        "patch": 128,
        "places": packed(places.astype(np.uint16)),
        "levels": [jpeg(np.asarray(mip)) for mip in plane.texture.mips[: int(places[:, 0].max()) + 1]],
        "corner": np.asarray(plane.origin, float).tolist(),
        "sides": [np.asarray(side, float).tolist() for side in (plane.u_axis, plane.v_axis)],
        "matrix": (camera.projection @ camera.view).T.ravel().tolist(),
        "viewport": list(camera.viewport),
        "tracks": [track.record() for track in tracks],
    }


def _with(allocator: textures.TextureAllocator, traversal: Traversal) -> textures.TextureAllocator:
    return textures.TextureAllocator(allocator.textures, allocator.source, allocator.metric, traversal)
