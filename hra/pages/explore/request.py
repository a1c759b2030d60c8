"""What a page is to show, and the views that are made for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from hra.camera.framing import fit_camera
from hra.domains import meshes, tokens
from hra.domains.tokens.commands.slides import is_large
from hra.domains.tokens.relevance.registry import relevance_named
from hra.errors import HraError
from hra.files.images import load_image
from hra.files.images.files import decode_image
from hra.pages.explore.common_pool import of_image, of_mesh, of_texture, pool_view
from hra.pages.explore.flights import flight_view, trace_view
from hra.pages.explore.meshes import mesh_view
from hra.pages.explore.textures import texture_view
from hra.pages.explore.tokens import slide_view, token_view
from hra.residency import load_trace

IMAGES = ("tokens", "texture", "flight")  # what is shown of image files
# Where sliders begin: tokens, triangles, bytes.
_BUDGETS = {"tokens": 273, "mesh": 10_000, "texture": 2**20, "flight": 2**21, "trace": 2**24, "pool": 2**20}


@dataclass(frozen=True)
class PageRequest:
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

    def __post_init__(self) -> None:
        if self.image is not None and not any(kind in IMAGES for _, kind in self.sources):
            what = "no input is an image, so an uploaded one has no place"
            raise HraError(what, where="image", fix="send the form without a file, or start hra with an image")

    @property
    def title(self) -> str:
        """The inputs' names."""
        names = ", ".join(path.name for path, _ in self.sources)
        return names if self.image is None else f"an uploaded image in place of the first of {names}"

    def start(self, kind: str) -> int:
        """Where sliders begin: at the command's budget, or what is usual for a view of this kind."""
        return _BUDGETS[kind] if self.budget is None else self.budget


def views_of(request: PageRequest, progress: Callable[[str], None]) -> list[dict[str, Any]]:
    """A view for each source, or one for all in a pool; ``progress`` is told what is being made.

    Of several, each is named by its file.
    """
    if request.pool:
        whole = _pool(request, progress)
        _name(request, whole["members"])
        return [whole]
    views = []
    for path, kind in request.sources:
        progress(f"{path.name}: every budget of {kind}")
        views.append(_VIEWS[kind](path, request))
    _name(request, views)
    return views


def _name(request: PageRequest, views: list[dict[str, Any]]) -> None:
    """Put the file's name before that of each view, unless the page's title says it."""
    if len(views) > 1:
        for (path, _), view in zip(request.sources, views, strict=True):
            file = "the uploaded image" if _is_replaced(path, request) else path.name
            view["name"] = f"{file}, {view['name']}"


def _pool(request: PageRequest, progress: Callable[[str], None]) -> dict[str, Any]:
    members = []
    for path, kind in request.sources:
        progress(f"{path.name}: {kind} of a common pool")
        if kind == "mesh":
            members.append(of_mesh(*_seen(path, request)))
        elif kind == "texture":
            members.append(of_texture(_texels(path, request)))
        else:
            members.append(of_image(_image(path, request), request.query, _relevance()))
    progress("every common budget")
    return pool_view(members, request.start("pool"))


def _mesh(path: Path, request: PageRequest) -> dict[str, Any]:
    return mesh_view(*_seen(path, request), request.start("mesh"))


def _texture(path: Path, request: PageRequest) -> dict[str, Any]:
    return texture_view(_texels(path, request), request.start("texture"))


def _flight(path: Path, request: PageRequest) -> dict[str, Any]:
    return flight_view(_texels(path, request), request.start("flight"))


def _trace(path: Path, request: PageRequest) -> dict[str, Any]:
    return trace_view(load_trace(path), request.start("trace"))


def _tokens(path: Path, request: PageRequest) -> dict[str, Any]:
    uploaded = request.image if _is_replaced(path, request) else None
    if uploaded is None and is_large(path):
        return slide_view(path, request.query, request.start("tokens"), _relevance())
    changed = path.stat().st_mtime_ns if path.exists() else 0
    context = _context(path, changed, uploaded)
    return token_view(context.asking(request.query), request.start("tokens"))


@lru_cache(maxsize=4)  # a server reads its images once, and what depends on them alone is made once
def _context(path: Path, changed: int, uploaded: bytes | None) -> Any:
    image = load_image(path) if uploaded is None else decode_image(uploaded, name="the uploaded image")
    return tokens.PyramidSampling(_relevance()).context(image, "")


def _seen(path: Path, request: PageRequest) -> tuple[Any, Any]:
    """A mesh in clusters, and the camera that it is seen by."""
    mesh = _clusters(path)
    return mesh, fit_camera(mesh.positions, request.azimuth, request.elevation, viewport=(1920, 1080))


@lru_cache(maxsize=4)  # a server builds its meshes once
def _clusters(path: Path) -> Any:
    return meshes.load_clusters(path) if path.suffix.lower() == ".hra" else meshes.build(path)


def _image(path: Path, request: PageRequest) -> np.ndarray:
    """The image of a file, or the uploaded one in place of the first."""
    return load_image(path) if (uploaded := _uploaded(path, request)) is None else uploaded


def _texels(path: Path, request: PageRequest) -> Any:
    """The path of an image, or the texels of the uploaded one in place of the first."""
    return path if (uploaded := _uploaded(path, request)) is None else np.rint(uploaded * 255).astype(np.uint8)


def _uploaded(path: Path, request: PageRequest) -> np.ndarray | None:
    if request.image is None or not _is_replaced(path, request):
        return None
    return decode_image(request.image, name="the uploaded image")


def _is_replaced(path: Path, request: PageRequest) -> bool:
    images = (source for source, kind in request.sources if kind in IMAGES)
    return request.image is not None and path == next(images)


@cache
def _relevance() -> Any:
    return relevance_named("phrase")


_VIEWS = {"mesh": _mesh, "texture": _texture, "flight": _flight, "trace": _trace, "tokens": _tokens}
