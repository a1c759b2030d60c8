"""``hra tokens``: which patches of an image a model should see.

Options, output and the checks before an allocation belong here; every other command is a file of its own.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from hra.console import (
    JsonOption,
    MetricOption,
    TraversalOption,
    folder_or,
    running,
    show,
    whole_count,
    write_json,
)
from hra.errors import HraError
from hra.plugins import load

if TYPE_CHECKING:
    from hra.allocating.allocation import Allocation
    from hra.domains.tokens import TokenAllocator

app = typer.Typer(help="Visual tokens of an image and a query.", no_args_is_help=True)

_FORMATS = "A PNG, JPEG, WebP, AVIF, TIFF, BMP, GIF, TGA, JPEG 2000 or Netpbm file"
ImageArgument = Annotated[Path, typer.Argument(help=f"{_FORMATS}.")]
ImagesArgument = Annotated[
    Path,
    typer.Argument(help=f"{_FORMATS}; a folder of them; or a TIFF, slide or OME-Zarr of any size."),
]
SlideArgument = Annotated[Path, typer.Argument(help="An image of any size: TIFF, slide, OME-Zarr, Deep Zoom, photo.")]
QueryOption = Annotated[str, typer.Option(help="The question; words such as 'top left' steer the tokens.")]
RelevanceOption = Annotated[
    str | None,
    typer.Option(help="phrase, layout, cues, imagenet, uniform, or model:NAME (CLIP, SigLIP). [default: phrase]"),
]
_UNUSED = """The query {query!r} was not used: the relevance {relevance!r} made nothing of it.
`phrase` reads text (pip install 'hra[ocr]'), `imagenet` knows 1000 things, `cues` only places such as 'on the left'."""

STAND_INS = "{} by a model's features and attention: here colour, texture and relevance take their place."

BudgetOption = Annotated[
    int, typer.Option(parser=whole_count, help="Number of tokens, met exactly: 273, 1k.", metavar="N")
]


class _Asked(NamedTuple):
    """What tokens are asked for, by the names that `hra.domains.tokens.TokenAllocation` has."""

    question: str
    method: str
    budget: int
    relevance: str | None
    metric: str | None
    traversal: str | None


@app.command()
def allocate(
    image: ImagesArgument,
    query: QueryOption = "",
    method: Annotated[
        str, typer.Option(help="The method; `hra tokens methods` lists all.", metavar="NAME[:KEY=VALUE,..]")
    ] = "pyramid",
    budget: BudgetOption = 273,
    relevance: RelevanceOption = None,
    metric: MetricOption = None,
    traversal: TraversalOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            callback=folder_or(".png"),
            help="PNG: the tokens on the image and the image they give back. Folder: Parquet files.",
        ),
    ] = None,
    jobs: Annotated[int, typer.Option(help="Processes, for the images of a folder.")] = 1,
    bank: Annotated[int, typer.Option(help="Folder: this many images in a row share their tokens.")] = 1,
    sample: Annotated[
        int | None,
        typer.Option(help="Folder: all images share their tokens, by a price fixed on this many of them."),
    ] = None,
    json_file: JsonOption = None,
) -> None:
    """Allocate tokens to an image and a query, or to all images of a folder.

    The rows of a folder go to Parquet files, one row for each image, with its error if it has no tokens (exit code 1).
    A stopped run continues when you run it again.
    """
    from hra.domains import tokens
    from hra.domains.tokens.commands.slides import is_large
    from hra.domains.tokens.corpus.command import allocate_images

    asked, large = _Asked(query, method, budget, relevance, metric, traversal), is_large(image)
    if not large and os.path.isdir(image):  # False for names that cannot be
        allocation = tokens.TokenAllocation(**asked._asdict(), bank=bank)
        return allocate_images(image, out, allocation, jobs=jobs, sample=sample, json_file=json_file)
    _check_alone(jobs, bank, sample)
    return (_allocate_large if large else _allocate_one)(image, asked, out, json_file)


def _allocate_one(image: Path, asked: _Asked, out: Path | None, json_file: Path | None) -> None:
    """Tokens of an image that fits into memory: drawn to ``out``, told, and written as JSON."""
    from hra.domains.tokens.methods.named import named_allocator
    from hra.domains.tokens.methods.reducers.named import reads_features
    from hra.domains.tokens.pictures.sheet import side_by_side
    from hra.files.images import load_image, psnr, save_png

    allocator, relevance = named_allocator(asked.method, asked.relevance, asked.metric, asked.traversal)
    pixels = load_image(image)
    context = allocator.context(pixels, asked.question)
    with running(f"choosing {asked.budget:,} tokens") as progress:
        allocation = allocator.allocate(context, asked.budget)
        if asked.metric is not None:
            _check_metric(allocator, allocation, asked.method)
        progress("making the tokens")
        chosen = allocator.realize(allocation)
        given_back = chosen.reconstruct()
        decibels = psnr(given_back, pixels)
        if out is not None:
            progress(f"drawing {out.name}")
            save_png(out, side_by_side(pixels, chosen, given_back))
    record = {
        "method": asked.method,
        "relevance": relevance,
        "query_used": context.served.used,
        "confidence": context.served.confidence,
        "by": context.served.by,
        **context.counts,
        "budget": asked.budget,
        "count": len(chosen),
        **allocation.proof,
        "seconds": allocation.seconds,
        "psnr_db": decibels,
    }
    write_json(json_file, {**record, "boxes": chosen.boxes, "detail": chosen.detail, **_positions(chosen)})
    show(f"{image.name}: {_told(allocation, context.served.used)}", record.items())
    if reads_features(allocator):
        typer.echo(STAND_INS.format(f"{asked.method}: chosen"))
    _tell_unused(asked.question, context.served.used, relevance)


def _allocate_large(image: Path, asked: _Asked, out: Path | None, json_file: Path | None) -> None:
    """`_allocate_one` of an image of any size, by methods of their own."""
    from hra.domains.tokens.commands.slides import allocated, placed, record_of, sheet_of
    from hra.files.images import save_png

    if asked.metric is not None or asked.traversal is not None:
        what = "images of any size have a metric and a traversal of their own"
        raise HraError(what, where="--metric, --traversal", fix="leave them out")
    relevance = asked.relevance or "phrase"
    allocator, allocation = allocated(image, asked.question, asked.method, relevance, asked.budget)
    chosen, source = allocator.realize(allocation), allocation.context[0]
    if out is not None:
        save_png(out, sheet_of(source, chosen))
    record = {"method": asked.method, "relevance": relevance, "budget": asked.budget}
    record |= record_of(allocator, allocation, chosen)
    write_json(json_file, {**record, **placed(chosen.boxes, source.spacing), "detail": chosen.detail})
    show(f"{image.name}: {_told(allocation, record['query_used'])}", record.items())
    _tell_unused(asked.question, record["query_used"], relevance)


@app.command()
def crops(
    image: SlideArgument,
    query: QueryOption = "",
    crops: Annotated[int, typer.Option("--crops", help="How many, at most.", min=1)] = 6,
    side: Annotated[int, typer.Option(help="Pixels along a side.", min=16, max=8192)] = 448,
    method: Annotated[str, typer.Option(help="pyramid or foveated.")] = "pyramid",
    budget: BudgetOption = 273,
    relevance: RelevanceOption = None,
    out: Annotated[Path, typer.Option("-o", "--out", callback=folder_or(), help="Folder of PNG files.")] = Path(
        "crops"
    ),
    json_file: JsonOption = None,
) -> None:
    """Cut the crops at full resolution that tokens for the question would refine most, for any model.

    Beside them stand the whole image within one crop's size (base.png), and where the crops are (where.png).
    """
    from hra.domains.tokens.commands.slides import allocated, facts_of, placed, save_crops

    allocator, allocation = allocated(image, query, method, relevance or "phrase", budget)
    source = allocation.context[0]
    boxes = allocator.crops(allocation, crops, side)
    names = save_crops(out, source, boxes, side)
    record = {**facts_of(source), "crops": len(boxes), "side": side, "tiles_read": source.tiles_read}
    write_json(json_file, {**record, "files": names, **placed(boxes, source.spacing)})
    show(f"{out}: {', '.join(names)}", record.items())


@app.command()
def info(image: SlideArgument, json_file: JsonOption = None) -> None:
    """Show what an image of any size is: its size, levels and tiles, and metres per pixel."""
    from hra.files.images import open_regions

    opened = open_regions(image)
    height, width, _ = opened.levels[0].shape
    record = {
        "size": f"{width} x {height}",
        "format": opened.format,
        "levels": ", ".join(f"{level.shape[1]} x {level.shape[0]}" for level in opened.levels),
        "tile": " x ".join(map(str, opened.levels[0].tiles.tile[::-1])),
        "tiles": opened.tiles,
        "numbers": str(opened.tile(0, 0, 0).dtype),
        "metres_per_pixel": opened.spacing,
    }
    write_json(json_file, record)
    show(image.name, record.items())


@app.command()
def methods() -> None:
    """List the methods with their first sentence."""
    from hra.domains.tokens.methods.registry import method_names

    show("methods", ((name, _sentence(name)) for name in method_names()))


def _sentence(method: str) -> str:
    try:
        return (load("hra.methods", method).__doc__ or "").split("\n")[0]
    except HraError as error:
        return error.what


def _told(allocation: Allocation, used: bool) -> str:
    """What was allocated; an optimum is of the stated error, which is not that of an answer."""
    of = "the error weighted by the question" if used else "the error of the picture, whatever is asked"
    told = str(allocation).replace("of the best possible gain", f"of the largest possible gain, in {of}")
    return told.replace(", the best possible", f", the least that is possible of {of}")


def _tell_unused(question: str, used: bool, relevance: str) -> None:
    if question and not used:
        typer.echo(_UNUSED.format(query=question, relevance=relevance))


def _check_alone(jobs: int, bank: int, sample: int | None) -> None:
    """One image has none to share with: options of folders must not be ignored silently."""
    if jobs != 1 or bank != 1 or sample is not None:
        raise HraError("--jobs, --bank and --sample are for folders", where="hra tokens allocate", fix="name a folder")


def _check_metric(allocator: TokenAllocator[Any], allocation: Allocation, method: str) -> None:
    """Some methods make their metric from the image; one that was asked for must not be ignored in silence."""
    if allocation.metric is not allocator.metric:
        raise HraError(f"the method {method!r} has a metric of its own", where="--metric", fix="leave it out")


def _positions(chosen: Any) -> dict[str, Any]:
    """Where tokens are that have places of their own: (level, x, y) of patches."""
    places = getattr(chosen, "places", None)
    return {} if places is None else {"positions": places}
