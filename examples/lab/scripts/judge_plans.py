"""Within caches of several sizes: the plan, the replayed rules and the program itself, on anybody's tilesets.

Run ``python examples/lab/scripts/judge_plans.py TILESET.json ... --npm FOLDER``. It needs what ``judge_tiles.py``
needs, but no browser. 3d-tiles-renderer runs in Node over the loopback; memory is the bytes of all contents.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

import numpy as np
from judge_tiles import Served, frame_of, install, select

import hra
from hra.domains import tiles
from hra.domains.tiles.rules.replay import drawn_error

FRAMES, UPDATES, PIXELS = 24, 30, 8.0
SHARES = (0.15, 0.3, 0.6)


def row(name: str, error: np.ndarray, best: list[float], reloads: int, refused: int, most: int, cache: int) -> str:
    """A line of the table; ``best`` is the plan's error with the bytes that the viewer held in each frame."""
    worse = int((np.array(best) > error + 1e-9).sum())
    numbers = (
        f"{error.mean():.3g} | {np.mean(best):.3g} | {worse} | {reloads:,} | {refused:,} | {100 * most / cache:.0f} %"
    )
    return f"| {name} | {numbers} |"


def judge(path: Path, npm: Path) -> None:
    """The table of one tileset."""
    tileset = tiles.read_tileset(path)
    middle = tileset.bounds.mean(axis=0)
    reach = float(np.linalg.norm(tileset.bounds[1] - middle))
    bounds = np.stack([middle - reach / 2, middle + reach / 2])
    turns = np.arange(FRAMES) * 360 / FRAMES
    path_of = [
        hra.Camera.orbit(bounds, azimuth=turn, elevation=15, distance=1.2 * reach, up=(0, 0, 1)) for turn in turns
    ]
    frames = [frame_of(tileset, camera) for camera in path_of]
    numbers = {name: tile for tile, name in enumerate(tileset.names)}
    below = npm / "served"
    shutil.rmtree(below, ignore_errors=True)
    shutil.copytree(path.parent, below)
    base = int(tileset.content_bytes[0])

    def best(held: list[int]) -> list[float]:
        return [tiles.plan(tileset, at, max(size, base)).target for at, size in zip(path_of, held, strict=True)]

    print(f"\n{path.parent.name}: {tileset}\n")
    print("| rule, share of all bytes | error | plan, its bytes | worse | again | refused | most held |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with Served(npm) as served:
        for share in SHARES:
            cache = int(share * tileset.content_bytes.sum())

            plans = [tiles.plan(tileset, camera, cache) for camera in path_of]
            error = np.array([plan.target for plan in plans])
            most = max(plan.held_bytes for plan in plans)
            print(row(f"plan, {share:.0%}", error, error.tolist(), 0, 0, most, cache))
            for name, rule in (
                ("3DTilesRendererJS replayed", tiles.ThreeTilesRule(cache, PIXELS)),
                ("CesiumJS replayed", tiles.CesiumRule(cache, target=PIXELS)),
            ):
                found = tiles.replay(tileset, path_of, rule, UPDATES)
                held = best(found.held_bytes.tolist())
                print(row(name, found.error, held, found.reloads, found.refusals, found.most_bytes, cache))
            real = select(npm, f"{served.url}/served/{path.name}", frames, cache, PIXELS, UPDATES)
            drawn = []
            for camera, names in zip(path_of, real["loaded"], strict=True):
                held = np.zeros(len(tileset), np.bool_)
                held[[numbers[name] for name in names]] = True
                drawn.append(drawn_error(tileset, tileset.seen(camera), held))
            held = best(real["held"])
            print(
                row(
                    "3d-tiles-renderer in Node",
                    np.array(drawn),
                    held,
                    real["reloads"],
                    real["refused"],
                    max(real["most"]),
                    cache,
                )
            )


def main() -> None:
    """A table for each tileset."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tilesets", nargs="+", type=Path)
    parser.add_argument("--npm", type=Path, required=True, help="where npm packages go, outside of the repository")
    chosen = parser.parse_args()
    npm = chosen.npm.resolve()
    install(npm)
    for path in chosen.tilesets:
        judge(path.resolve(), npm)


if __name__ == "__main__":
    main()
