"""A browser for the tests of pages."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from hra.camera import Camera
from hra.camera.framing import fit_camera
from hra.domains import meshes, tokens
from hra.pages.explore.meshes import mesh_view
from hra.pages.explore.textures import texture_view
from hra.pages.explore.tokens import token_view

CHROMIUMS = ("chromium", "chromium-browser", "google-chrome", "chromium-headless-shell")


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = next(filter(None, map(shutil.which, CHROMIUMS)), None)
    if chromium is None:
        pytest.skip("no Chromium here")
    options = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
    with playwright.sync_playwright() as run:
        opened = run.chromium.launch(executable_path=chromium, args=options)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def image() -> np.ndarray:
    rng = np.random.default_rng(0)
    blocks = rng.random((16, 24, 3)).repeat(6, 0).repeat(6, 1)
    return (blocks * np.linspace(0, 1, 144)[None, :, None]).astype(np.float32)


@pytest.fixture(scope="module")
def of_tokens(image) -> dict:
    return token_view(tokens.TokenContext.of(image, "what is on the right?", relevance=tokens.CueRelevance()), 20)


@pytest.fixture(scope="module")
def ball() -> meshes.ClusterMesh:
    import trimesh

    made = trimesh.creation.icosphere(subdivisions=4)
    return meshes.build(meshes.from_arrays(made.vertices, made.faces))


@pytest.fixture(scope="module")
def camera(ball) -> Camera:
    return fit_camera(ball.positions, 30.0, 10.0, viewport=(640, 360))


@pytest.fixture(scope="module")
def of_mesh(ball, camera) -> dict:
    return mesh_view(ball, camera, 1000)


@pytest.fixture(scope="module")
def of_texture() -> dict:
    pixels = np.random.default_rng(1).integers(0, 255, (512, 512, 3), np.uint8)
    return texture_view(pixels, 300_000)
