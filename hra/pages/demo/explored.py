"""The page of the report on which the budget is moved: tokens, clusters and tiles of the samples in one pool."""

from __future__ import annotations

from hra import samples
from hra.camera.framing import fit_camera
from hra.domains import meshes, tokens
from hra.files.images import load_image
from hra.pages.explore.common_pool import of_image, of_mesh, of_texture, pool_view
from hra.pages.explore.page import render

_BUDGET = 2**20


def page() -> str:
    """The whole file."""
    skull = meshes.build(samples.path("skull.ply"))
    members = [
        of_image(load_image(samples.path("page.png")), "", tokens.UniformRelevance()),
        of_mesh(skull, fit_camera(skull.positions, 30.0, 10.0, viewport=(1920, 1080))),
        of_texture(samples.path("earth.jpg")),
    ]
    return render("a page, a skull and the Earth under one budget of bytes", [pool_view(members, _BUDGET)])
