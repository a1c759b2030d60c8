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
    import numpy as np

    from hra.domains.meshes import DiscreteLOD, MeshAsset

_COLUMNS = ("level", "file", "bytes", "triangles", "error", "of the size", "from distance")
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

    A folder gets lod0.glb, the finest, lod1.glb and so on; a file all of them as nodes (MSFT_lod). Distances are of the
    eye from the mesh's centre, in its unit of length: from there on the level's error covers at most --pixels.
    """
    levels, lens = _levels(triangles, ratios), {"vertical_fov_degrees": fov, "viewport": size(viewport)}
    with counting(f"building {source.name}", "triangles") as progress:
        chain = _chain(source, levels, progress)
    distances = chain.switch_distances(pixels, **lens)
    with running(f"writing {out.name}"):
        files = _write(chain, out)
    record = _record(chain, files, distances, pixels, lens)
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


def _chain(source: Path, levels: list[float], progress: Callable[[int, int], None]) -> DiscreteLOD:
    from hra.domains import meshes

    built: MeshAsset | Any = meshes.open_asset(source) if source.suffix.lower() == ".hra" else None
    return meshes.lod_chain(built or meshes.build(source, progress=progress), levels).with_normals()


def _write(chain: DiscreteLOD, out: Path) -> list[Path]:
    if out.suffix.lower() != ".glb":
        return chain.export(out)
    chain.export_one(out)
    return [out] * len(chain.levels)


def _record(
    chain: DiscreteLOD, files: list[Path], distances: np.ndarray, pixels: float, lens: dict[str, Any]
) -> dict[str, Any]:
    levels = [
        {
            "file": str(path),
            "file_bytes": path.stat().st_size,
            "triangles": len(mesh.triangles),
            "error": error,
            "error_of_size": error / (2 * chain.radius) if chain.radius else 0.0,
            "switch_distance": distance,
        }
        for path, mesh, error, distance in zip(
            files, chain.levels, chain.errors.tolist(), distances.tolist(), strict=True
        )
    ]
    return {"certified": chain.certified, "pixels": pixels, **lens, "levels": levels}


def _show(record: dict[str, Any], source: Path) -> None:
    table = Table(box=box.SIMPLE)
    for column in _COLUMNS:
        table.add_column(column, justify="left" if column == "file" else "right", no_wrap=True)
    for number, level in enumerate(record["levels"]):
        size_share = f"{100 * level['error_of_size']:.3g} %"
        values = (level["file_bytes"], level["triangles"], level["error"])
        numbers = [readable(value) for value in values]
        table.add_row(str(number), Path(level["file"]).name, *numbers, size_share, readable(level["switch_distance"]))
    kind = "bounds of the distance from the source" if record["certified"] else "estimates"
    typer.echo(f"{source.name}: errors are {kind}; a level is drawn from its distance on, at {record['pixels']:g} px")
    print_wide(table, 100)
