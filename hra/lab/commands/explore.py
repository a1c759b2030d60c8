"""``hra explore``: a page on which the budget is moved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from hra.console import running, whole_count, written_as
from hra.domains.tokens.commands import QueryOption
from hra.errors import HraError
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
    out: Annotated[Path, typer.Option("-o", "--out", callback=written_as(".html"), help="The page, one file.")] = Path(
        "explore.html"
    ),
) -> None:
    """Write a page with a slider from the least budget to full detail, to open in any browser."""
    from hra.lab.explore.page import render

    sources = [(path, _kind(path, view)) for path in inputs] + [(path, "texture") for path in (ground,) if path]
    with running(inputs[0].name) as progress:
        if pool:
            views = [_pool(sources, query, budget or _BUDGETS["pool"], progress)]
        else:
            views = [_view(path, kind, query, budget or _BUDGETS[kind], progress) for path, kind in sources]
    page = render(", ".join(path.name for path, _ in sources), views).encode()
    write_atomically(out, page)
    typer.echo(f"{out}: {len(page) / 1e6:.1f} MB, {len(views[0]['tracks'])} methods to compare")


def _kind(path: Path, view: str | None) -> str:
    if path.suffix.lower() in _MESHES:
        return "mesh"
    if view not in (None, "tokens", "texture"):
        raise HraError(f"there is no view {view!r}", where="--view", fix="use tokens or texture")
    return view or "tokens"


def _view(path: Path, kind: str, query: str, budget: int, progress: Callable[[str], None]) -> dict[str, Any]:
    progress(f"{path.name}: every budget of {kind}")
    return {"mesh": _mesh, "texture": _texture, "tokens": _tokens}[kind](path, query, budget)


def _pool(sources: list[tuple[Path, str]], query: str, budget: int, progress: Callable[[str], None]) -> dict[str, Any]:
    from hra.domains.tokens.relevance.registry import relevance_named
    from hra.images import load_image
    from hra.lab.explore import common_pool

    members = []
    for path, kind in sources:
        progress(f"{path.name}: {kind} of a common pool")
        if kind == "mesh":
            members.append(common_pool.of_mesh(*_seen(path)))
        elif kind == "texture":
            members.append(common_pool.of_texture(path))
        else:
            members.append(common_pool.of_image(load_image(path), query, relevance_named("phrase")))
    progress("every common budget")
    return common_pool.pool_view(members, budget)


def _mesh(path: Path, query: str, budget: int) -> dict[str, Any]:
    from hra.lab.explore.meshes import mesh_view

    return mesh_view(*_seen(path), budget)


def _seen(path: Path) -> tuple[Any, Any]:
    """A mesh in clusters, and the camera that it is seen by."""
    from hra.camera.framing import fit_camera
    from hra.domains import meshes

    mesh = meshes.load_clusters(path) if path.suffix.lower() == ".hra" else meshes.build(path)
    return mesh, fit_camera(mesh.positions, 30.0, 10.0, viewport=(1920, 1080))


def _texture(path: Path, query: str, budget: int) -> dict[str, Any]:
    from hra.lab.explore.textures import texture_view

    return texture_view(path, None, budget)


def _tokens(path: Path, query: str, budget: int) -> dict[str, Any]:
    from hra.domains.tokens.relevance.registry import relevance_named
    from hra.images import load_image
    from hra.lab.explore.tokens import token_view

    return token_view(load_image(path), query, budget, relevance_named("phrase"))
