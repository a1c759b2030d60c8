"""``hra mesh export``: a built mesh as other programs read it, with its levels of detail."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from hra.console import JsonOption, counting, folder_or, running, show, write_json
from hra.errors import HraError
from hra.files.atomic_write import write_atomically

_FILES = ".glb", ".usdc", ".usda", ".usdz"


class Format(StrEnum):
    """What is written."""

    TILES = "3dtiles"
    GLB = "glb"
    GLB_LOD = "glb-lod"
    USD = "usd"


def export(
    asset: Annotated[Path, typer.Argument(help="A mesh file, or a built mesh (.hra).", metavar="ASSET")],
    out: Annotated[
        Path,
        typer.Option("-o", "--out", callback=folder_or(*_FILES), help="A folder for 3dtiles, else a file."),
    ],
    format: Annotated[Format, typer.Option(help="3D Tiles 1.1, GLB without or with levels (MSFT_lod), or USD.")],
    tile_triangles: Annotated[int, typer.Option(help="Triangles of a tile in 3dtiles.")] = 8192,
    json_file: JsonOption = None,
) -> None:
    """Write a mesh as 3D Tiles, GLB or USD, with errors that are bounds.

    3dtiles: tiles for CesiumJS and three.js, each a GLB compressed by meshoptimizer; every cut of the tree is free of
    cracks. glb: the finest mesh, compressed. glb-lod: all levels as nodes of one file. usd: all levels as variants.
    """
    with running(f"exporting {asset.name}"):
        record = _WRITERS[format](asset, out, tile_triangles)
    write_json(json_file, record)
    show(f"{asset.name} -> {out}", record.items())


def _write_tiles(source: Path, out: Path, tile_triangles: int) -> dict[str, Any]:
    from hra.domains import meshes

    with counting(f"tiling {source.name}", "triangles") as progress:
        tree = meshes.build_tiles(source, tile_triangles, progress=progress)
    files = tree.save(out)
    errors = tree.errors
    return {
        "tiles": len(errors),
        "levels": int(tree.mesh.hierarchy.attribute("level").max()) + 1,
        "triangles": tree.mesh.triangle_count,
        "root_triangles": tree.mesh.root_triangle_count,
        "root_error": float(errors.max()),
        "finest_error": float(errors.min()),
        "bytes": sum(file.stat().st_size for file in files),
    }


def _write_glb(source: Path, out: Path, tile_triangles: int) -> dict[str, Any]:
    from hra.domains import meshes
    from hra.domains.meshes.tiles.whole import whole_mesh

    _check_suffix(out, ".glb")
    mesh = whole_mesh(source)[0].with_normals()
    content = meshes.compressed_glb(mesh)
    write_atomically(out, content)
    return {"triangles": len(mesh.triangles), "bytes": len(content)}


def _write_levels(source: Path, out: Path, tile_triangles: int) -> dict[str, Any]:
    from hra.domains.meshes.tiles.whole import quarter_levels

    _check_suffix(out, ".glb")
    chain = quarter_levels(source)
    chain.export_one(out)
    return _level_facts(chain, out)


def _write_usd(source: Path, out: Path, tile_triangles: int) -> dict[str, Any]:
    from hra.domains.meshes.tiles.usd import FORMATS, write_usd
    from hra.domains.meshes.tiles.whole import quarter_levels

    _check_suffix(out, *FORMATS)
    chain = quarter_levels(source)
    write_usd(chain, out)
    return _level_facts(chain, out)


_WRITERS = {
    Format.TILES: _write_tiles,
    Format.GLB: _write_glb,
    Format.GLB_LOD: _write_levels,
    Format.USD: _write_usd,
}


def _level_facts(chain: Any, out: Path) -> dict[str, Any]:
    return {
        "levels": len(chain.levels),
        "triangles": [len(mesh.triangles) for mesh in chain.levels],
        "errors": chain.errors.tolist(),
        "certified": chain.certified,
        "bytes": out.stat().st_size,
    }


def _check_suffix(out: Path, *suffixes: str) -> None:
    if out.suffix.lower() not in suffixes:
        raise HraError(f"{out.name[:100]!r} has another suffix", where="--out", fix=f"use {', '.join(suffixes)}")
