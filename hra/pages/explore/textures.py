"""A textured ground at every pool of bytes: the pages that one camera wants most, seen by that camera."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hra.camera import Camera
from hra.domains import textures
from hra.pages.explore.packed import jpeg, packed
from hra.pages.explore.track import STEPS, Number, budgets_between, slider, tracks


def texture_view(image: Any, budget: int) -> dict[str, Any]:
    """What a page needs to show an image as ground at every pool from its mip tail to what the camera can use.

    Parameters
    ----------
    image : uint8 [H, W, 3] or a path, see `hra.domains.textures.PlaneScene.ground`.
    budget : bytes where the slider begins, one of its steps.
    """
    scene, camera = ground(image)
    allocator = textures.TextureAllocator(scene.textures, textures.AnalyticFeedback(scene))
    useful = allocator.allocate(camera, np.inf).cost
    budgets = budgets_between(scene.textures.hierarchy.base_cost, useful, STEPS, (budget,))
    problem = allocator.problem(camera, np.inf)
    made = tracks(problem, budgets)
    drawn, number = drawn_ground(scene, camera, [cut for track in made for cut in track.cuts])
    return {
        **drawn,
        **slider(budgets, budget, "bytes", f"error in {problem.unit}"),
        "tracks": [track.record(number) for track in made],
    }


def ground(image: Any) -> tuple[textures.PlaneScene, Camera]:
    """An image as ground, and a camera in the middle of a flight over it, for which bytes are spent."""
    scene = textures.PlaneScene.ground(image)
    return scene, textures.flyover(scene.planes[0], frames=3, viewport=(960, 540))[1]


def drawn_ground(
    scene: textures.PlaneScene, camera: Camera, cuts: Sequence[np.ndarray]
) -> tuple[dict[str, Any], Number]:
    """What the browser draws ``cuts`` from, and the page's numbers of tiles, which are the hierarchy's."""
    hierarchy, plane = scene.textures.hierarchy, scene.planes[0]
    places = np.stack([hierarchy.attribute(name) for name in ("level", "x", "y")], axis=1)
    mips = [np.asarray(mip) for mip in plane.texture.mips[: int(places[:, 0].max()) + 1]]
    shown, cell = places[np.unique(np.concatenate(cuts))], plane.texture.pages.cell
    record = {
        "kind": "texture",
        "name": "texture",
        "patch": cell,
        "places": packed(places.astype(np.uint16)),
        "levels": [jpeg(_only(mip, shown[shown[:, 0] == level, 1:], cell)) for level, mip in enumerate(mips)],
        "corner": np.asarray(plane.origin, float).tolist(),
        "sides": [np.asarray(side, float).tolist() for side in (plane.u_axis, plane.v_axis)],
        "matrix": (camera.projection @ camera.view).T.ravel().tolist(),
        "viewport": list(camera.viewport),
    }
    return record, np.asarray


def _only(mip: np.ndarray, tiles: np.ndarray, cell: int) -> np.ndarray:
    """The level with some tiles (x, y) [K, 2] alone and their neighbours, which filters read; the rest is grey."""
    kept = np.zeros((-(-mip.shape[0] // cell) + 2, -(-mip.shape[1] // cell) + 2), bool)
    for x, y in tiles:
        kept[y : y + 3, x : x + 3] = True
    whole = np.kron(kept[1:-1, 1:-1], np.ones((cell, cell), bool))[: mip.shape[0], : mip.shape[1]]
    return np.where(whole[..., None], mip, np.full(1, mip.mean(), mip.dtype))
