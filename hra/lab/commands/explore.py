"""``hra explore``: a page on which the budget is moved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Annotated, Any

import typer

from hra.console import running, whole_count, written_as
from hra.domains.tokens.commands import QueryOption
from hra.errors import HraError, MissingExtra
from hra.safety.atomic_write import write_atomically

_MESHES = (".hra", ".ply", ".obj", ".stl", ".off", ".glb", ".gltf")
_BUDGETS = {"tokens": 273, "mesh": 10_000, "texture": 2**20, "pool": 2**20}


def explore(
    inputs: Annotated[list[Path], typer.Argument(help="Images and meshes, a section of the page for each.")],
    query: QueryOption = "",
    ground: Annotated[
        Path | None, typer.Option(help="An image that lies on the ground, as a texture.", metavar="IMAGE")
    ] = None,
    pool: Annotated[bool, typer.Option("--pool", help="One budget of bytes for all inputs.")] = False,
    view: Annotated[str | None, typer.Option(help="Of images: tokens or texture. [default: tokens]")] = None,
    budget: Annotated[
        int | None,
        typer.Option(parser=whole_count, help="Where the sliders begin: tokens, triangles or bytes.", metavar="N"),
    ] = None,
    serve: Annotated[
        bool, typer.Option("--serve", help="Answer on this machine: a form asks, turns and takes another image.")
    ] = False,
    port: Annotated[int, typer.Option(help="Of --serve.", min=1, max=65535)] = 8000,
    out: Annotated[Path, typer.Option("-o", "--out", callback=written_as(".html"), help="The page, one file.")] = Path(
        "explore.html"
    ),
) -> None:
    """Write a page with a slider from the least budget to full detail, to open in any browser."""
    sources = [(path, _kind(path, view)) for path in inputs] + [(path, "texture") for path in (ground,) if path]
    wish = _Wish(tuple(sources), query, budget, pool)
    if serve:
        _serve(wish, port)
        return
    from hra.lab.explore.page import render

    with running(inputs[0].name) as progress:
        views = _views(wish, progress)
    page = render(wish.title, views).encode()
    write_atomically(out, page)
    typer.echo(f"{out}: {len(page) / 1e6:.1f} MB, {len(views[0]['tracks'])} methods to compare")


@dataclass(frozen=True)
class _Wish:
    """What a page is to show.

    Attributes
    ----------
    sources : files, and as what each is shown.
    query, budget, pool : the command's options.
    azimuth, elevation : of the meshes' camera, degrees.
    image : content of a file in place of the first image.
    """

    sources: tuple[tuple[Path, str], ...]
    query: str
    budget: int | None
    pool: bool
    azimuth: float = 30.0
    elevation: float = 10.0
    image: bytes | None = None

    @property
    def title(self) -> str:
        return ", ".join(path.name for path, _ in self.sources)


def _serve(wish: _Wish, port: int) -> None:
    try:
        import uvicorn

        from hra.lab.explore.server import Asked, application, form
    except ModuleNotFoundError as error:
        raise MissingExtra.of(error.name or "starlette", "serve") from error
    from hra.lab.explore.page import render

    def make(asked: Asked) -> str:
        wanted = replace(wish, query=asked.query, azimuth=asked.azimuth, elevation=asked.elevation, image=asked.image)
        return render(wish.title, _views(wanted, lambda text: None), form(asked))

    typer.echo(f"open http://127.0.0.1:{port}/ (Ctrl-C ends it)")
    uvicorn.run(application(make, Asked(wish.query)), host="127.0.0.1", port=port, log_level="warning")


def _views(wish: _Wish, progress: Callable[[str], None]) -> list[dict[str, Any]]:
    if wish.pool:
        return [_pool(wish, progress)]
    views = []
    for path, kind in wish.sources:
        progress(f"{path.name}: every budget of {kind}")
        views.append({"mesh": _mesh, "texture": _texture, "tokens": _tokens}[kind](path, wish))
    return views


def _kind(path: Path, view: str | None) -> str:
    if path.suffix.lower() in _MESHES:
        return "mesh"
    if view not in (None, "tokens", "texture"):
        raise HraError(f"there is no view {view!r}", where="--view", fix="use tokens or texture")
    return view or "tokens"


def _pool(wish: _Wish, progress: Callable[[str], None]) -> dict[str, Any]:
    from hra.lab.explore import common_pool

    members = []
    for path, kind in wish.sources:
        progress(f"{path.name}: {kind} of a common pool")
        if kind == "mesh":
            members.append(common_pool.of_mesh(*_seen(path, wish)))
        elif kind == "texture":
            members.append(common_pool.of_texture(path))
        else:
            members.append(common_pool.of_image(_image(path, wish), wish.query, _relevance()))
    progress("every common budget")
    return common_pool.pool_view(members, wish.budget or _BUDGETS["pool"])


def _mesh(path: Path, wish: _Wish) -> dict[str, Any]:
    from hra.lab.explore.meshes import mesh_view

    return mesh_view(*_seen(path, wish), wish.budget or _BUDGETS["mesh"])


def _texture(path: Path, wish: _Wish) -> dict[str, Any]:
    from hra.lab.explore.textures import texture_view

    return texture_view(path, None, wish.budget or _BUDGETS["texture"])


def _tokens(path: Path, wish: _Wish) -> dict[str, Any]:
    from hra.lab.explore.tokens import token_view

    return token_view(_image(path, wish), wish.query, wish.budget or _BUDGETS["tokens"], _relevance())


def _seen(path: Path, wish: _Wish) -> tuple[Any, Any]:
    """A mesh in clusters, and the camera that it is seen by."""
    from hra.camera.framing import fit_camera

    mesh = _clusters(path)
    return mesh, fit_camera(mesh.positions, wish.azimuth, wish.elevation, viewport=(1920, 1080))


@lru_cache(maxsize=4)  # a server builds its meshes once
def _clusters(path: Path) -> Any:
    from hra.domains import meshes

    return meshes.load_clusters(path) if path.suffix.lower() == ".hra" else meshes.build(path)


def _image(path: Path, wish: _Wish) -> Any:
    """The image of a file, or the uploaded one in place of the first."""
    from hra.images import load_image
    from hra.images.files import decode_image

    first = next(source for source, kind in wish.sources if kind == "tokens")
    if wish.image is not None and path == first:
        return decode_image(wish.image, name="the uploaded image")
    return load_image(path)


@cache
def _relevance() -> Any:
    from hra.domains.tokens.relevance.registry import relevance_named

    return relevance_named("phrase")
