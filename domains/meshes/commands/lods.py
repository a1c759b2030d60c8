"""``hra mesh lods``: a chain of whole meshes for programs that know no clusters."""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.table import Table

from hra.console import (
    JsonOption,
    byte_count,
    count,
    counting,
    folder_or,
    print_wide,
    readable,
    running,
    size,
    write_json,
)
from hra.console.camera_options import VIEWPORT
from hra.domains.meshes.commands.limits import Textures, TexturesOption, check_textures
from hra.domains.meshes.files.suffixes import GLTF
from hra.errors import HraError

if TYPE_CHECKING:
    from hra.domains.meshes import DiscreteLOD, SceneLOD

_COLUMNS = ("level", "file", "bytes", "triangles", "distance", "of the size", "appearance", "from distance")
_FIX = "--triangles 40k,10k,2.5k, --ratios .5,.25 or --bytes 2MB,500kB"


class _Compression(Enum):
    """How geometry is stored in files."""

    none = "none"
    meshopt = "meshopt"
    rounded = "rounded"


def lods(
    source: Annotated[Path, typer.Argument(help="A mesh file, or a built mesh (.hra).", metavar="MESH")],
    out: Annotated[
        Path, typer.Option("-o", "--out", callback=folder_or(".glb"), help="A folder, or one .glb with all levels.")
    ],
    triangles: Annotated[str, typer.Option(help="Triangles of each level: 40k,10k,2.5k.", metavar="N,N,..")] = "",
    ratios: Annotated[str, typer.Option(help="Shares of the source instead: .5,.25.", metavar="R,R,..")] = "",
    sizes: Annotated[
        str, typer.Option("--bytes", help="Largest sizes of the files instead: 2MB,500kB.", metavar="SIZE,SIZE,..")
    ] = "",
    textures: TexturesOption = Textures.fit,
    compression: Annotated[
        _Compression, typer.Option(help="Of geometry: meshopt is exact; rounded takes two thirds of its bytes.")
    ] = _Compression.none,
    pixels: Annotated[float, typer.Option(help="Error of a level at the distance where it takes over.")] = 1.0,
    fov: Annotated[float, typer.Option(help="Vertical field of view, degrees.")] = 60.0,
    viewport: Annotated[str, typer.Option(help="Screen size.")] = VIEWPORT,
    json_file: JsonOption = None,
) -> None:
    """Write levels of detail as GLB: the best meshes from all sides, with errors and distances to switch at.

    A glTF scene stays one: nodes, names, skins, animations and materials are kept, and its meshes get fewer triangles;
    each mesh counts once, however often it is shown. A folder gets lod0.glb, the finest, lod1.glb and so on; a file all
    of them as nodes (MSFT_lod). --bytes limits the files of a folder: PNG, JPEG and WebP images of a scene get smaller
    with its triangles, by what either changes in the picture. Distances to switch at are of the eye from the mesh's
    centre, in its unit of length: from there on the level's distance from the source covers at most --pixels.
    """
    check_textures(textures, bool(sizes))
    levels, lens = _levels(triangles, ratios, sizes), {"vertical_fov_degrees": fov, "viewport": size(viewport)}
    with counting(f"building {source.name}", "triangles") as progress:
        if sizes and (source.suffix.lower() not in GLTF or out.suffix.lower() == ".glb"):
            fix = "give a .glb or .gltf scene and a folder; or use `hra mesh cut --bytes` on a built mesh"
            raise HraError("--bytes limits the files of a scene's levels", where="hra mesh lods", fix=fix)
        how: dict[str, Any] = {"keep_textures": textures is Textures.keep, "lens": lens} if sizes else {}
        how["compression"] = compression.value
        found = _levels_of(source, levels, progress, how)
    with running(f"writing {out.name}"):
        files = _write(found, out)
    record = _record(found, files, pixels, lens)
    write_json(json_file, record)
    _show(record, source)


def _levels(triangles: str, ratios: str, sizes: str) -> list[float]:
    """Numbers of triangles, shares up to 1 or numbers of bytes, fine to coarse."""
    given = sum(map(bool, (triangles, ratios, sizes)))
    if given != 1:
        what = "several kinds of levels were given" if given else "no levels were given"
        raise HraError(what, where="hra mesh lods", fix=f"{'use one of' if given else 'add'} {_FIX}")
    if sizes:
        return sorted({float(byte_count(part)) for part in sizes.split(",")}, reverse=True)
    levels = [count(part) for part in (triangles or ratios).split(",")]
    share = bool(ratios)
    if not all(0 < level < math.inf and (level <= 1) == share for level in levels):
        where = "--ratios" if share else "--triangles"
        kind = "shares above 0 and up to 1" if share else "numbers of triangles above 1"
        what = f"{(triangles or ratios)[:60]!r} are not levels: these are {kind}"
        raise HraError(what, where=where, fix=f"write {_FIX}")
    return sorted(levels, reverse=True)


def _levels_of(
    source: Path, levels: list[float], progress: Callable[[int, int], None], how: dict[str, Any]
) -> DiscreteLOD | SceneLOD:
    """Levels of a scene or a mesh; a lens is for those that are limited by bytes."""
    from hra.domains import meshes

    how = how | {"progress": progress}
    if "lens" in how:
        from hra.camera import Camera

        how |= {"unit": "bytes", "lens": Camera.perspective((0, 0, 1), (0, 0, 0), **how["lens"])}
    if source.suffix.lower() in GLTF:
        return meshes.scene_lod(source, levels, **how)
    given = meshes.open_asset(source) if source.suffix.lower() == ".hra" else source
    return meshes.lod_chain(given, levels, **how).with_normals()


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
    for level, own in zip(levels, [] if isinstance(found, meshes.DiscreteLOD) else found.shares, strict=False):
        level |= {f"{name}_bytes": getattr(own, name) for name in ("triangles", "images", "other")}
        level["split_residual_gap"] = own.residual_gap
    scene = None if isinstance(found, meshes.DiscreteLOD) else found.scene
    unpacked = scene.compressions if scene is not None and found.compression == "none" else []
    said = {"certified": chain.certified, "at_rest": scene is not None and scene.moves, "unpacked": unpacked}
    return {**said, "pixels": pixels, **lens, "levels": levels}


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
    print_wide(table)
    for number, level in enumerate(record["levels"]):
        if "images_bytes" in level:
            parts = ", ".join(f"{name} {level[f'{name}_bytes']:,}" for name in ("triangles", "images", "other"))
            gap = f"residual gap of the split {100 * level['split_residual_gap']:.2g} %"
            typer.echo(f"level {number}: {parts} bytes; {gap}")
    if record["at_rest"]:
        typer.echo("the scene can move: all of this holds at rest, and a pose may be larger")
    if record["unpacked"]:
        by = " and ".join(record["unpacked"])
        typer.echo(f"{source.name} is compressed by {by}; its levels are not: add --compression meshopt")
