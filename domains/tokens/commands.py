"""``hra tokens``: which patches of an image a model should see."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hra.console import (
    JsonOption,
    MetricOption,
    TraversalOption,
    choose,
    choose_metric,
    choose_traversal,
    running,
    show,
    whole_count,
    write_json,
    written_as,
)
from hra.errors import HraError
from hra.plugins import load

if TYPE_CHECKING:
    from hra.allocating.allocation import Allocation
    from hra.domains.tokens import TokenAllocator

app = typer.Typer(help="Visual tokens of an image and a query.", no_args_is_help=True)

ImageArgument = Annotated[Path, typer.Argument(help="Any image that Pillow reads.")]
QueryOption = Annotated[str, typer.Option(help="The question; words such as 'top left' steer where tokens go.")]
_RELEVANCE = "phrase"
RelevanceOption = Annotated[
    str | None,
    typer.Option(
        help=f"phrase, layout, cues, imagenet, uniform, or model:NAME (CLIP, SigLIP). [default: {_RELEVANCE}]"
    ),
]
_UNUSED = """The query {query!r} was not used: the relevance {relevance!r} made nothing of it.
`phrase` reads text (pip install 'hra[ocr]'), `imagenet` knows 1000 things, `cues` only places such as 'on the left'."""

BudgetOption = Annotated[
    int, typer.Option(parser=whole_count, help="Number of tokens, met exactly: 273, 1k.", metavar="N")
]


@app.command()
def allocate(
    image: ImageArgument,
    query: QueryOption = "",
    method: Annotated[
        str, typer.Option(help="How; `hra tokens methods` lists them.", metavar="NAME[:KEY=VALUE,..]")
    ] = "pyramid",
    budget: BudgetOption = 273,
    relevance: RelevanceOption = None,
    metric: MetricOption = None,
    traversal: TraversalOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o", "--out", callback=written_as(".png"), help="PNG: the tokens on the image, and what they give back."
        ),
    ] = None,
    json_file: JsonOption = None,
) -> None:
    """Allocate tokens to an image and a query."""
    from hra.domains.tokens import token_sheet
    from hra.images import load_image, psnr, save_png

    allocator = _allocator(method, metric, traversal)
    relevance = _set_relevance(allocator, relevance, method)
    pixels = load_image(image)
    context = allocator.context(pixels, query)
    with running(f"choosing {budget:,} tokens") as progress:
        allocation = allocator.allocate(context, budget)
        if metric is not None:
            _check_metric(allocator, allocation, method)
        progress("making the tokens")
        chosen = allocator.realize(allocation)
        shown = chosen.reconstruct()
        if out is not None:
            progress(f"drawing {out.name}")
            save_png(out, token_sheet(pixels, chosen))
    record = {
        "method": method,
        "relevance": relevance,
        "query_used": context.query_matters,
        **context.counts,
        "budget": budget,
        "count": len(chosen),
        "gap": allocation.gap,
        "residual_gap": allocation.residual_gap,
        "status": allocation.status,
        "seconds": allocation.seconds,
        "psnr_db": psnr(shown, pixels),
    }
    write_json(json_file, {**record, "boxes": chosen.boxes, "detail": chosen.detail, **_positions(chosen)})
    show(f"{image.name}: {allocation}", record.items())
    if query and not context.query_matters:
        typer.echo(_UNUSED.format(query=query, relevance=relevance))


@app.command()
def methods() -> None:
    """List the methods with their first sentence."""
    from hra.domains.tokens.presets.registry import method_names

    show("methods", ((name, _sentence(name)) for name in method_names()))


def _sentence(method: str) -> str:
    try:
        return (load("hra.methods", method).__doc__ or "").split("\n")[0]
    except HraError as error:
        return error.what


def _allocator(method: str, metric: str | None, traversal: str | None) -> TokenAllocator[Any]:
    """The method by its name, with another metric or traversal."""
    from hra.domains.tokens.allocator import TokenAllocator

    allocator: TokenAllocator[Any] = choose("hra.methods", method, TokenAllocator)
    if metric is not None:
        allocator.metric = choose_metric(metric)
    if traversal is not None:
        allocator.traversal = choose_traversal(traversal)
    return allocator


def _set_relevance(allocator: TokenAllocator[Any], name: str | None, method: str) -> str:
    """The relevance of that name, foveated where the method is; returns the name of what is used.

    Without a name it is the default one, unless the method has a relevance of its own.
    """
    from hra.domains.tokens.relevance.cues import CueRelevance
    from hra.domains.tokens.relevance.foveated import FoveatedRelevance
    from hra.domains.tokens.relevance.registry import relevance_named

    own, chosen = allocator.relevance, relevance_named(name or _RELEVANCE)
    if isinstance(own, FoveatedRelevance):
        allocator.relevance = replace(own, relevance=chosen)
    elif isinstance(own, CueRelevance):
        allocator.relevance = chosen
    elif name is None:
        return type(own).__name__
    else:
        raise HraError(f"the method {method!r} has a relevance of its own", where="--relevance", fix="leave it out")
    return name or _RELEVANCE


def _check_metric(allocator: TokenAllocator[Any], allocation: Allocation, method: str) -> None:
    """Some methods make their metric from the image; one that was asked for must not be ignored in silence."""
    if allocation.metric is not allocator.metric:
        raise HraError(f"the method {method!r} has a metric of its own", where="--metric", fix="leave it out")


def _positions(chosen: Any) -> dict[str, Any]:
    """Where tokens are that have places of their own: (level, x, y) of patches."""
    places = getattr(chosen, "places", None)
    return {} if places is None else {"positions": places}
