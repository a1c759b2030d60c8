"""``hra explore``: a page on which the budget is moved."""

from __future__ import annotations

import socket
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hra.console import refuse_given, running, whole_count, written_as
from hra.domains.tokens.commands import QueryOption
from hra.errors import HraError, MissingExtra
from hra.files.atomic_write import write_atomically

if TYPE_CHECKING:
    from hra.pages.explore.request import PageRequest

# Any: what is read of images, and the models that it takes, are kept for the questions that people ask.
_QUESTION = "what is written here?"


def explore(
    context: typer.Context,
    inputs: Annotated[list[Path], typer.Argument(help="Images, meshes and traces; each gets a section.")],
    query: QueryOption = "",
    ground: Annotated[
        Path | None, typer.Option(help="An image to lay on the ground as a texture.", metavar="IMAGE")
    ] = None,
    pool: Annotated[bool, typer.Option("--pool", help="One budget of bytes for all inputs.")] = False,
    view: Annotated[str | None, typer.Option(help="Images: tokens, texture or flight. [default: tokens]")] = None,
    budget: Annotated[
        int | None,
        typer.Option(parser=whole_count, help="Start of the sliders: tokens, triangles or bytes.", metavar="N"),
    ] = None,
    serve: Annotated[
        bool,
        typer.Option("--serve", help="Serve the page on this machine, with a form for questions, cameras and images."),
    ] = False,
    port: Annotated[int, typer.Option(help="Port of --serve.", min=1, max=65535)] = 8000,
    out: Annotated[Path, typer.Option("-o", "--out", callback=written_as(".html"), help="The page, one file.")] = Path(
        "explore.html"
    ),
) -> None:
    """Write a page with a slider from the least budget to full detail, to open in any browser."""
    sources = [(path, _kind(path, view)) for path in inputs] + [(path, "texture") for path in (ground,) if path]
    from hra.pages.explore.request import IMAGES, PageRequest, views_of

    kinds = {kind for _, kind in sources[: len(inputs)]}
    if kinds.isdisjoint(IMAGES):
        refuse_given(context, ["view"], "no input is an image, of which one view is shown")
    if "tokens" not in kinds:
        refuse_given(context, ["query"], "a question is asked about tokens of images, and no input is shown as these")
    if serve:
        refuse_given(context, ["out"], "a page that is served is not written to a file")
    else:
        refuse_given(context, ["port"], "a page that is written to a file has no port")
    _refuse_paths(sources, pool)
    request = PageRequest(tuple(sources), query, budget, pool)
    if serve:
        _serve(request, port)
        return
    from hra.pages.explore.page import render

    with running(inputs[0].name) as progress:
        views = views_of(request, progress)
    page = render(request.title, views).encode()
    write_atomically(out, page)
    typer.echo(f"{out}: {len(page) / 1e6:.1f} MB, {len(views[0]['tracks'])} methods to compare")


def _refuse_paths(sources: list[tuple[Path, str]], pool: bool) -> None:
    """What a whole path holds has no place beside what one camera sees."""
    paths = [path for path, kind in sources if kind in ("flight", "trace")]
    if pool and paths:
        raise HraError("a path of many frames cannot share a pool", where=str(paths[0]), fix="leave out --pool")


def _serve(request: PageRequest, port: int) -> None:
    try:
        import uvicorn

        from hra.pages.explore.server import Asked, application, form, settings
    except ModuleNotFoundError as error:
        raise MissingExtra.of(error.name or "starlette", "serve") from error
    from hra.pages.explore.page import render
    from hra.pages.explore.request import views_of

    def make(asked: Asked) -> str:
        wanted = replace(
            request, query=asked.query, azimuth=asked.azimuth, elevation=asked.elevation, image=asked.image
        )
        return render(wanted.title, views_of(wanted, lambda text: None), form(asked))

    with _listening(port) as place:
        with running("the first page") as progress:
            served = application(make, Asked(request.query))
            if not request.query:
                progress("reading what questions may be about")
                make(Asked(_QUESTION))
        typer.echo(f"open http://127.0.0.1:{port}/ (Ctrl-C ends it)")
        with suppress(KeyboardInterrupt):
            uvicorn.Server(settings(served)).run(sockets=[place])


def _listening(port: int) -> socket.socket:
    """A port of this machine alone, taken before minutes of work; who comes meanwhile waits for the page."""
    try:
        return socket.create_server(("127.0.0.1", port))
    except OSError as error:
        what = f"the port {port} cannot be used: {error.strerror}"
        raise HraError(what, where="--port", fix="end the program that uses it, or name another port") from error


def _kind(path: Path, view: str | None) -> str:
    from hra.domains.meshes.files import suffixes as meshes
    from hra.domains.points.files import suffixes as points

    suffix = path.suffix.lower()
    if suffix in (".hra", *meshes.READ):
        return "mesh"
    if suffix == ".npz":
        return "trace"
    if suffix in (points.BUILT, *points.READ, *points.NOT_READ):
        fix = "look at points by `hra points view` or `hra points render`"
        raise HraError("points are not shown on a page", where=str(path), fix=fix)
    if view not in (None, "tokens", "texture", "flight"):
        raise HraError(f"the view {view!r} is unknown", where="--view", fix="use tokens, texture or flight")
    return view or "tokens"
