"""``hra mesh lods``: a chain of whole meshes for programs that know no clusters."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.table import Table

from hra.console import JsonOption, count, counting, folder_or, print_wide, readable, running, size, write_json
from hra.console.camera_options import VIEWPORT
from hra.errors import HraError

if TYPE_CHECKING:
    from hra.domains.meshes import DiscreteLOD, MeshAsset, SceneLOD

_COLUMNS = ("level", "file", "bytes", "triangles", "distance", "of the size", "appearance", "from distance")
_FIX = "--triangles 40k,10k,2.5k or --ratios .5,.25"


def lods(
    source: Annotated[Path, typer.Argument(help="A mesh file, or a built mesh (.hra).", metavar="MESH")],
    out: Annotated[
        Path, typer.Option("-o", "--out", callback=folder_or(".glb"), help="A folder, or one .glb with all levels.")
    ],
    triangles: Annotated[str, typer.Option(help="Triangles of each level: 40k,10k,2.5k.", metavar="N,N,..")] = "",
    ratios: Annotated[str, typer.Option(help="Shares of the source instead: .5,.25.", metavar="R,R,..")] = "",
    pixels: Annotated[float, typer.Option(help="Error of a level at the distance where it takes over.")] = 1.0,
    fov: Annotated[float, typer.Option(help="Vertical field of view, degrees.")] = 60.0,
    viewport: Annotated[str, typer.Option(help="Screen size.")] = VIEWPORT,
    json_file: JsonOption = None,
) -> None:
    """Write levels of detail as GLB: the best meshes from all sides, with errors and distances to switch at.

    A glTF scene stays one: nodes, names, skins, animations and materials are kept, and its meshes get fewer triangles;
    each mesh counts once, however often it is shown. A folder gets lod0.glb, the finest, lod1.glb and so on; a file all
    of them as nodes (MSFT_lod). Distances to switch at are of the eye from the mesh's centre, in its unit of length:
    from there on the level's distance from the source covers at most --pixels.
    """
    levels, lens = _levels(triangles, ratios), {"vertical_fov_degrees": fov, "viewport": size(viewport)}
    with counting(f"building {source.name}", "triangles") as progress:
        found = _levels_of(source, levels, progress)
    with running(f"writing {out.name}"):
        files = _write(found, out)
    record = _record(found, files, pixels, lens)
    write_json(json_file, record)
    _show(record, source)


def _levels(triangles: str, ratios: str) -> list[float]:
    """Numbers of triangles, or shares up to 1, fine to coarse."""
    if bool(triangles) == bool(ratios):
        what = "two kinds of levels were given" if triangles else "no levels were given"
        raise HraError(what, where="hra mesh lods", fix=f"add {_FIX}")
    levels = [count(part) for part in (triangles or ratios).split(",")]
    share = bool(ratios)
    if not all(0 < level < math.inf and (level <= 1) == share for level in levels):
        where = "--ratios" if share else "--triangles"
        raise HraError(f"{(triangles or ratios)[:60]!r} are not levels", where=where, fix=f"write {_FIX}")
    return sorted(levels, reverse=True)


def _levels_of(source: Path, levels: list[float], progress: Callable[[int, int], None]) -> DiscreteLOD | SceneLOD:
    from hra.domains import meshes

    if source.suffix.lower() in (".glb", ".gltf"):
        return meshes.scene_lod(source, levels, progress=progress)
    built: MeshAsset | Any = meshes.open_asset(source) if source.suffix.lower() == ".hra" else None
    return meshes.lod_chain(built or meshes.build(source, progress=progress), levels).with_normals()


def _write(found: DiscreteLOD | SceneLOD, out: Path) -> list[Path]:
    if out.suffix.lower() != ".glb":
        return found.export(out)
    found.export_one(out)
    return [out] * len(found.levels)


def _record(found: DiscreteLOD | SceneLOD, files: list[Path], pixels: float, lens: dict[str, Any]) -> dict[str, Any]:
    from hra.domains import meshes

    chain = found if isinstance(found, meshes.DiscreteLOD) else found.chain
    diameter, distances = 2 * chain.radius, chain.switch_distances(pixels, **lens).tolist()
    appearance = [None] * len(files) if chain.appearance is None else chain.appearance.tolist()
    levels = [
        {
            "file": str(path),
            "file_bytes": path.stat().st_size,
            "triangles": count,
            "error": error,
            "error_of_size": error / diameter if diameter else 0.0,
            "appearance": look,
            "switch_distance": distance,
        }
        for path, count, error, look, distance in zip(
            files, found.triangles, chain.errors.tolist(), appearance, distances, strict=True
        )
    ]
    return {"certified": chain.certified, "pixels": pixels, **lens, "levels": levels}


def _show(record: dict[str, Any], source: Path) -> None:
    table = Table(box=box.SIMPLE)
    for column in _COLUMNS:
        table.add_column(column, justify="left" if column == "file" else "right", no_wrap=True)
    for number, level in enumerate(record["levels"]):
        share, look = f"{100 * level['error_of_size']:.3g} %", level["appearance"]
        numbers = [readable(level[name]) for name in ("file_bytes", "triangles", "error")]
        last = ["" if look is None else readable(look), readable(level["switch_distance"])]
        table.add_row(str(number), Path(level["file"]).name, *numbers, share, *last)
    kind = "bounds of how far the surface is from the source" if record["certified"] else "estimates"
    typer.echo(f"{source.name}: distances are {kind}; the last column is where they cover {record['pixels']:g} px")
    if any(level["appearance"] is not None for level in record["levels"]):
        typer.echo("appearance: how far textures, normals and colours move, too; an estimate")
    print_wide(table, 110)
