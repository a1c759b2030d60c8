"""``hra tiles plan``: which tiles a viewer should hold, and what its own rule does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hra.console import JsonOption, byte_count, running, show, with_option_lists, write_json
from hra.console.camera_options import VIEWPORT, CameraOptions, ViewportOption
from hra.errors import CameraError

if TYPE_CHECKING:
    import numpy as np

    from hra.camera import Camera
    from hra.domains.tiles import Replay, TilePlan, Tileset


@with_option_lists
def plan(
    tileset: Annotated[Path, typer.Argument(help="A tileset.json on this disk, from any tool.", metavar="TILESET")],
    placed: CameraOptions,
    cache: Annotated[str, typer.Option(help="Bytes of contents that the viewer may hold: 430MB.", metavar="SIZE")],
    viewport: ViewportOption = VIEWPORT,
    pixels: Annotated[float, typer.Option(min=0.0, help="Error target of the viewers' own rules.")] = 16.0,
    frames: Annotated[int, typer.Option(min=1, max=10_000, help="Frames of a turn around the tileset.")] = 60,
    json_file: JsonOption = None,
) -> None:
    """Find the smallest error target whose tiles fit into a cache, beside the results of the viewers' own rules.

    The camera is placed as for meshes, in the tileset's frame. The rules of 3DTilesRendererJS
    and CesiumJS are replayed on a turn around the tileset's vertical: the output counts repeated fetches and refusals.
    Contents are not opened, only their sizes are read: a damaged content is not noticed.
    """
    from hra.domains import tiles

    with running(f"planning {tileset.name}"):
        tree, size = tiles.read_tileset(tileset), byte_count(cache)
        camera = placed.camera(_corners(tree.bounds), viewport, usual_up=tree.up.tolist())
        chosen = tiles.plan(tree, camera, size)
        path = _turn(tree, camera, frames)
        rules = {
            "3DTilesRendererJS": tiles.ThreeTilesRule(size, pixels),
            "CesiumJS": tiles.CesiumRule(size, target=pixels),
        }
        replays = {name: tiles.replay(tree, path, rule) for name, rule in rules.items()}
        own = [tiles.plan(tree, at, size).target for at in path]
        equal = {name: _at_equal_bytes(tree, path, found) for name, found in replays.items()}
    record = _record(chosen, replays, own, equal)
    write_json(json_file, record | {"held": [tree.names[tile] for tile in chosen.held.tolist()]})
    show(repr(tree), record.items())


def _corners(bounds: np.ndarray) -> np.ndarray:
    import numpy as np

    return np.array([[bounds[i, 0], bounds[j, 1], bounds[k, 2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)])


def _turn(tree: Tileset, camera: Camera, frames: int) -> list[Camera]:
    """The camera, turned around the vertical through the middle of the tileset.

    Raises
    ------
    CameraError : a turned matrix is none of a camera: its numbers are too large, or nearly singular.
    """
    import numpy as np

    middle, up, cameras = tree.bounds.mean(axis=0), tree.up, []
    view, level = np.asarray(camera.view, np.float64), np.eye(3) - np.outer(up, up)
    for angle in np.arange(frames) * 2 * np.pi / frames:
        turn = np.eye(4)
        turn[:3, :3] = np.outer(up, up) + np.cos(angle) * level + np.sin(angle) * np.cross(np.eye(3), up)
        turn[:3, 3] = middle - turn[:3, :3] @ middle
        try:
            cameras.append(type(camera).from_matrices(view @ turn, camera.projection, camera.viewport))
        except CameraError as error:
            fix = "use --frames 1, which turns nothing, or another unit of length"
            raise CameraError(f"the camera cannot be turned: {error.what}", where="--frames", fix=fix) from error
    return cameras


def _at_equal_bytes(tree: Tileset, path: list[Camera], found: Replay) -> list[float]:
    """The plan's target in each frame within the bytes that the viewer holds there."""
    from hra.domains import tiles

    return [tiles.plan(tree, at, held).target for at, held in zip(path, found.held_bytes.tolist(), strict=True)]


def _record(
    chosen: TilePlan, replays: dict[str, Replay], own: list[float], equal: dict[str, list[float]]
) -> dict[str, Any]:
    import numpy as np

    record = {
        "target_pixels": chosen.target,
        "viewer_setting_pixels": chosen.setting,
        "held_tiles": len(chosen.held),
        "drawn_tiles": len(chosen.drawn),
        "held_bytes": chosen.held_bytes,
        "bytes_of_any_smaller_target": chosen.finer_bytes,
        "turn, plan: mean error": float(np.mean(own)),
    }
    for name, found in replays.items():
        record |= {
            f"turn, {name}: mean error": float(found.error.mean()),
            f"turn, {name}: plan with its bytes": float(np.mean(equal[name])),
            f"turn, {name}: fetched again": found.reloads,
            f"turn, {name}: refused": found.refusals,
            f"turn, {name}: most bytes": found.most_bytes,
        }
    return record
