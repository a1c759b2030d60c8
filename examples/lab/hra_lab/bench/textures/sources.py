"""Rows: a plan over a million tiles, and tiles read from image files."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hra.camera import Camera
from hra.domains.textures import (
    AnalyticFeedback,
    Feedback,
    PlaneScene,
    TextureAllocator,
    TileCache,
    TiledTexture,
    open_image,
    texel_residual,
    uniform_bias,
)
from hra.domains.textures.mips import level_shapes
from hra.domains.textures.tiles import tile_pages
from hra_lab.bench.harness import Case, Contender, Gaps
from hra_lab.bench.suite import Scale
from hra_lab.bench.textures.timed_row import timed_row

_TILE, _PEER = 128, "uniform bias"
_VIEWPORT = (1920, 1080)


@dataclass(frozen=True)
class PlanBenchmark:
    """Metric and solver for one view of a ground of very many tiles, none of which exists; the feedback is given."""

    name: str
    needs: tuple[str, ...] = ()

    def measure(self, scale: Scale, repeat: int, bandwidth: float) -> dict[str, Any]:
        """The row; ``gap`` is relative to the upper bound, residuals are in px2."""
        scene = _empty_ground(866 if scale == "full" else 20)
        allocator, source = TextureAllocator(scene.textures, AnalyticFeedback(scene)), AnalyticFeedback(scene)
        hierarchy, results = scene.textures.hierarchy, {"gap": 0.0}
        wanted = [source.observe(camera) for camera in _cameras(repeat + 1)]
        # A fifth of what the views want, so that the pool binds.
        pool = hierarchy.base_cost + 0.2 * min(allocator.allocate(seen, np.inf).cost for seen in wanted)

        def judge(seen: Feedback, outputs: Any) -> dict[str, Gaps]:
            allocation = outputs["hra"]
            results["gap"] = max(results["gap"], allocation.gap)
            results["residual"] = allocation.residual
            results["residual of uniform bias"] = texel_residual(outputs[_PEER], seen)
            return {}

        contenders = (
            Contender("hra", lambda seen: allocator.allocate(seen, pool)),
            Contender(_PEER, lambda seen: uniform_bias(scene.textures, seen, pool)),
        )
        case = Case(contenders, lambda number: wanted[number], judge, hierarchy.node_cost.size, 0)
        return timed_row(self.name, case, _PEER, repeat, results)


@dataclass(frozen=True)
class TileReadBenchmark:
    """Tiles of a tiled TIFF in random order, with an empty cache, beside OpenImageIO's own calls."""

    name: str
    needs: tuple[str, ...] = ("OpenImageIO:ImageCache",)

    def measure(self, scale: Scale, repeat: int, bandwidth: float) -> dict[str, Any]:
        """The row; n is the number of tiles."""
        side = 4096 if scale == "full" else 512
        texels = np.random.default_rng(0).integers(0, 256, (side, side, 3), np.uint8)
        with tempfile.TemporaryDirectory() as folder:
            path = _write_tiled(Path(folder) / "noise.tif", texels)
            order = np.random.default_rng(1).permutation((side // _TILE) ** 2)
            corners = np.stack(np.divmod(order, side // _TILE), axis=1) * _TILE
            ours, peer = _reader(path), _bare_reader(path)

            def judge(number: int, outputs: Any) -> dict[str, Gaps]:
                expected = np.stack([texels[y : y + _TILE, x : x + _TILE] for y, x in corners])
                if not all(np.array_equal(np.stack(tiles), expected) for tiles in outputs.values()):
                    raise ValueError("tiles differ from the image that was written")
                return {}

            contenders = Contender("hra", lambda _: ours(corners)), Contender("OpenImageIO", lambda _: peer(corners))
            case = Case(contenders, lambda number: number, judge, len(corners), 0)
            row = timed_row(self.name, case, "OpenImageIO", repeat, {})
        return row | {"results": {"tiles per s": len(corners) / row["ours_s"]}}


def _empty_ground(tiles: int) -> PlaneScene:
    """A square ground of ``tiles`` x ``tiles`` tiles at the finest level, whose texels take no memory."""
    side = tiles * _TILE
    mips = tuple(np.broadcast_to(np.uint8(0), (*shape, 3)) for shape in level_shapes(side, side))
    return PlaneScene.ground(TiledTexture(mips, tile_pages(side, side, _TILE)))


def _cameras(count: int) -> list[Camera]:
    return [Camera.perspective((0, 2, 30 - i), (0, 0, 0), viewport=_VIEWPORT) for i in range(count)]


def _reader(path: Path) -> Callable[[np.ndarray], list[np.ndarray]]:
    def read(corners: np.ndarray) -> list[np.ndarray]:
        level = open_image(path, cache=TileCache(2**24)).mips[0]
        return [level[y : y + _TILE, x : x + _TILE] for y, x in corners]

    return read


def _bare_reader(path: Path) -> Callable[[np.ndarray], list[Any]]:
    import OpenImageIO

    def read(corners: np.ndarray) -> list[Any]:
        cache = OpenImageIO.ImageCache(False)
        cache.attribute("max_memory_MB", 16.0)
        places = ((int(x), int(x) + _TILE, int(y), int(y) + _TILE) for y, x in corners)
        return [cache.get_pixels(str(path), 0, 0, *place, 0, 1, OpenImageIO.UINT8) for place in places]

    return read


def _write_tiled(path: Path, texels: np.ndarray) -> Path:
    import OpenImageIO

    spec = OpenImageIO.ImageSpec(texels.shape[1], texels.shape[0], texels.shape[2], OpenImageIO.UINT8)
    spec.tile_width = spec.tile_height = _TILE
    spec.attribute("compression", "zip")
    output: Any = OpenImageIO.ImageOutput.create(str(path))
    output.open(str(path), spec)
    output.write_image(texels)
    output.close()
    return path
