"""A textured ground at every pool of bytes: the pages that one camera wants most, seen by that camera."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.camera import Camera
from hra.domains import textures
from hra.lab.explore.packed import packed
from hra.lab.explore.pictures import jpeg
from hra.lab.explore.track import STEPS, budgets_between, slider, tracks


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
    budgets = budgets_between(hierarchy.base_cost, useful, STEPS, (budget,))
    problem = allocator.problem(camera, np.inf)
    places = np.stack([hierarchy.attribute(name) for name in ("level", "x", "y")], axis=1)
    plane = scene.planes[0]
    return {
        "kind": "texture",
        "name": "texture",
        **slider(budgets, budget, "bytes", f"error in {problem.unit}"),
        "patch": plane.texture.pages.cell,
        "places": packed(places.astype(np.uint16)),
        "levels": [jpeg(np.asarray(mip)) for mip in plane.texture.mips[: int(places[:, 0].max()) + 1]],
        "corner": np.asarray(plane.origin, float).tolist(),
        "sides": [np.asarray(side, float).tolist() for side in (plane.u_axis, plane.v_axis)],
        "matrix": (camera.projection @ camera.view).T.ravel().tolist(),
        "viewport": list(camera.viewport),
        "tracks": [track.record() for track in tracks(problem, budgets)],
    }
