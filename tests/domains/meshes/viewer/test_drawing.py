"""Pictures of cuts: the right pixels in the right colours, and what cannot be drawn is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from ctypes.util import find_library
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import hra
from hra.domains import meshes
from hra.domains.meshes.mesh.attributes import VertexAttributes
from hra.domains.meshes.mesh.materials import Material
from hra.domains.meshes.viewer.drawing import check_camera
from hra.errors import BackendUnavailable, CameraError, HraError, ImageError, RepairWarning
from tests.helpers.files_cases import encoded
from tests.helpers.pbr_meshes import ktx2

ABOVE = hra.Camera.perspective((0.5, 0.5, 1.2), (0.5, 0.5, 0), viewport=(100, 100))


@pytest.fixture(scope="module")
def all_of(bumpy_clusters: meshes.ClusterMesh) -> np.ndarray:
    return np.flatnonzero(bumpy_clusters.hierarchy.removed_by < 0)


def camera(**options: Any) -> hra.Camera:
    return hra.Camera.perspective((0, 0, 4), (0, 0, 0), viewport=(160, 120), **options)


def textured(sheet: meshes.TriangleMesh, look: Material, shade: tuple[int, ...] | None = None) -> meshes.ClusterMesh:
    """The unit square with an image that stands upright, and vertices of one colour or of none."""
    uv = np.column_stack([sheet.positions[:, 0], 1 - sheet.positions[:, 1]]).astype(np.float32)
    colors = None if shade is None else np.tile(np.array(shade, np.uint8), (len(uv), 1))
    own = VertexAttributes(uv=uv, colors=colors, material=np.zeros(len(uv), np.int32), materials=(look,))
    return meshes.build(meshes.TriangleMesh(sheet.positions, sheet.triangles, own))


def drawn(picture: np.ndarray) -> np.ndarray:
    """Which pixels differ from the background, bool [H, W]."""
    return np.abs(picture.astype(int) - picture[0, 0]).sum(axis=2) > 12


@pytest.mark.gl
def test_points_are_where_the_camera_projects_them(bumpy_clusters: meshes.ClusterMesh, all_of: np.ndarray) -> None:
    """The silhouette against the pixels that many points of the surface are projected to."""
    mesh = bumpy_clusters.mesh(all_of)
    points = meshes.surface_points(mesh, 200_000, np.random.default_rng(0))
    for view in (
        camera(),
        hra.Camera.perspective((1, 4, -2), (0.3, 0, 0), (0, 0, 1), vertical_fov_degrees=45, viewport=(160, 120)),
        hra.Camera.orthographic((0, 3, 0), (0, 0, 0.2), (1, 0, 0), height=3, far=9, viewport=(160, 120)),
    ):
        covered = drawn(meshes.render(bumpy_clusters, all_of, view))
        column, row = np.floor(view.project(points).pixels).astype(int).T
        expected = np.zeros((120, 160), bool)
        expected[row, column] = True
        assert (covered & expected).sum() > 0.95 * (covered | expected).sum()


@pytest.mark.gl
@pytest.mark.parametrize("scale", [2.0**-40, 2.0**55])
def test_the_unit_of_length_changes_no_pixel(
    bumpy_clusters: meshes.ClusterMesh, all_of: np.ndarray, scale: float
) -> None:
    source, pictures = bumpy_clusters.mesh(all_of), []
    for unit in (1.0, scale):
        mesh = meshes.build(meshes.from_arrays(source.positions * np.float32(unit), source.triangles))
        view = hra.Camera.orbit(mesh.bounds, azimuth=30, elevation=40, up=(0, 0, 1), viewport=(80, 60))
        cut = np.flatnonzero(mesh.hierarchy.removed_by < 0)
        with meshes.Renderer(mesh, view.viewport) as renderer:
            renderer.draw(view, cut)
            picture = renderer.picture()
        # The first picture by PyVista ends the renderers that were opened before it.
        pictures.append([meshes.render(mesh, cut, view), picture])
    for seen, expected in zip(pictures[1], pictures[0], strict=True):
        assert drawn(expected).sum() > 500
        assert np.abs(seen.astype(int) - expected).max() <= 2


@pytest.mark.gl
@pytest.mark.parametrize("scale", [1e-20, 1e23])
def test_lengths_of_which_vtk_draws_holes_or_nothing_are_refused(bumpy: meshes.TriangleMesh, scale: float) -> None:
    clusters = meshes.build(replace(bumpy, positions=(bumpy.positions * scale).astype(np.float32)))
    cut = np.flatnonzero(clusters.hierarchy.removed_by < 0)
    view = hra.Camera.orbit(clusters.bounds, viewport=(64, 48))
    for coloring in ("shaded", "cluster"):
        with pytest.raises(BackendUnavailable, match="PyVista draws meshes of 1e-16 to 1e\\+20 units"):
            meshes.render(clusters, cut, view, coloring)
    with pytest.raises(BackendUnavailable, match="PyVista draws meshes"):
        meshes.Viewer(clusters, view, 1000, off_screen=True)


@pytest.mark.gl
def test_an_open_renderer_goes_on_after_a_picture() -> None:
    """The first picture ends the display, later ones keep it; in a process of its own, which has no picture yet."""
    program = """
import numpy as np
import hra
from hra.domains import meshes
mesh = meshes.build(hra.samples.path("skull.ply"))
view = hra.Camera.orbit(mesh.bounds, viewport=(40, 30))
root = np.flatnonzero(mesh.hierarchy.added_by < 0)
meshes.render(mesh, root, view)
with meshes.Renderer(mesh, view.viewport) as renderer:
    renderer.draw(view, root)
    before = renderer.picture()
    meshes.render(mesh, root, view)
    renderer.draw(view, root)
    assert (renderer.picture() == before).all() and before.std() > 1
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.gl
def test_colours_stand_for_clusters(bumpy_clusters: meshes.ClusterMesh) -> None:
    root = np.flatnonzero(bumpy_clusters.hierarchy.added_by < 0)
    seen = [meshes.render(bumpy_clusters, root[i : i + 1], camera(), "cluster") for i in range(min(len(root), 12))]
    picture = max(seen, key=lambda image: int(drawn(image).sum()))
    hues = picture[drawn(picture)].astype(float)
    hues = hues / hues.sum(axis=1, keepdims=True)
    assert len(hues) > 100
    assert np.abs(hues - np.median(hues, axis=0)).max(axis=1).mean() < 0.05


@pytest.mark.gl
def test_textures_are_drawn_upright_and_damaged_ones_refused(make_grid) -> None:
    image = np.full((16, 16, 3), (0, 0, 255), np.uint8)
    image[:8, :8] = 255, 0, 0
    content = encoded(Image.fromarray(image))
    mesh = textured(make_grid(8), Material(image=content))
    cut = np.flatnonzero(mesh.hierarchy.removed_by < 0)
    picture = meshes.render(mesh, cut, ABOVE).astype(int)
    red, blue = picture[..., 0] - picture[..., 2], picture[..., 2] - picture[..., 0]
    # The picture's upper left corner is red, as the image's.
    assert red[30, 30] > 50 and blue[70, 70] > 50 and blue[30, 70] > 50 and blue[70, 30] > 50
    assert mesh.attributes is not None
    broken = replace(mesh.attributes, materials=(Material("torn", image=content[:40]),))
    with pytest.raises(ImageError, match="decoded"):
        meshes.render(replace(mesh, attributes=broken), cut, ABOVE)
    blue = Material("packed", (0.0, 0.0, 1.0, 1.0), image=ktx2())
    with pytest.warns(RepairWarning, match="'packed': KTX2 is not decoded"):
        picture = meshes.render(replace(mesh, attributes=replace(broken, materials=(blue,))), cut, ABOVE)
    assert picture[50, 50, 2] > 50 > picture[50, 50, 0]


@pytest.mark.gl
def test_colours_of_vertices_texture_and_material_are_multiplied(make_grid) -> None:
    image = np.full((16, 16, 3), 255, np.uint8)
    image[:, :8] = 0
    look = Material(base_color=(1.0, 0.2, 1.0, 1.0), image=encoded(Image.fromarray(image)))
    mesh = textured(make_grid(8), look, (255, 255, 0, 255))
    picture = meshes.render(mesh, np.flatnonzero(mesh.hierarchy.removed_by < 0), ABOVE).astype(int)
    black, (red, green, blue) = picture[50, 30], picture[50, 70]
    assert black.max() < 50 < red
    assert blue < 50
    assert green / red == pytest.approx(0.2 ** (1 / 2.2), abs=0.1)


def test_what_cannot_be_drawn_is_refused(bumpy_clusters: meshes.ClusterMesh, all_of: np.ndarray) -> None:
    pytest.importorskip("pyvista")
    good = camera()
    for view, projection in (
        (np.diag([-1.0, 1, 1, 1]) @ good.view, good.projection),
        (np.diag([2.0, 2, 2, 1]) @ good.view, good.projection),
        (good.view, good.projection + np.array([[0, 0, 0.3, 0], *[[0] * 4] * 3])),
        (good.view, np.diag([2.0, 1, 1, 1]) @ good.projection),
    ):
        with pytest.raises(CameraError, match="mirrored, skewed or off-centre"):
            meshes.render(bumpy_clusters, all_of, hra.Camera.from_matrices(view, projection, good.viewport))
    with pytest.raises(HraError, match="'mood'"):
        meshes.render(bumpy_clusters, all_of, good, "mood")  # pyright: ignore[reportArgumentType]


@pytest.mark.skipif(sys.platform != "linux" or find_library("OSMesa") is not None, reason="VTK finds a driver")
def test_without_a_driver_there_is_an_error_and_no_crash(tmp_path: Path) -> None:
    code = (
        "from hra.domains.meshes.viewer import drawing\n"
        "from hra.errors import BackendUnavailable\n"
        "try:\n    drawing.new_plotter((64, 64), off_screen=True)\n"
        "except BackendUnavailable as error:\n    print(error.what)\n"
    )
    environment = {**os.environ, "__EGL_VENDOR_LIBRARY_DIRS": str(tmp_path)}
    environment.pop("DISPLAY", None)
    result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert result.returncode == 0 and "no OpenGL driver" in result.stdout, result.stderr
    assert result.stderr == ""


@pytest.mark.parametrize("viewport", [(16_385, 10), (10, 16_385), (8192, 8192)])
def test_pictures_that_drivers_end_the_process_for_are_refused(viewport: tuple[int, int]) -> None:
    camera = hra.Camera.orbit([[0, 0, 0], [1, 1, 1]], viewport=viewport)
    with pytest.raises(CameraError, match="cannot be drawn") as caught:
        check_camera(camera)
    assert caught.value.where == "viewport" and "16,384" in caught.value.fix
