"""A cut as PyVista draws it: shaded, or coloured by cluster, level or error, seen by a `hra.Camera`.

A portrait is the small picture of a mesh in notebooks.
"""

from __future__ import annotations

import io
import math
import os
import sys
from ctypes.util import find_library
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from hra.allocating.solve import solve
from hra.camera import Camera
from hra.camera.framing import fit_camera, is_centred
from hra.domains.meshes.allocator import check_clusters
from hra.domains.meshes.files.resolver import MAX_PIXELS
from hra.domains.meshes.mesh.materials import Material, is_ktx2
from hra.errors import (
    BackendUnavailable,
    CameraError,
    ImageError,
    MissingExtra,
    check_choice,
    check_kind,
    needs,
    warn,
)
from hra.files.images.files import png_bytes
from hra.files.limits import PICTURE_PIXELS, PICTURE_SIDE
from hra.model.arrays import indices

if TYPE_CHECKING:
    from hra.domains.meshes.allocator import Clusters
    from hra.domains.meshes.mesh.cluster_mesh import ClusterMesh
    from hra.domains.meshes.mesh.triangle_mesh import TriangleMesh

Coloring = Literal["shaded", "cluster", "level", "error"]
# What the actors of a cut are called, with a number where there are several.
_ACTOR = "cut"
_PLASTER, _BACKGROUND = (0.85, 0.82, 0.77), "#20242b"
# Fractional parts of multiples of these fill the unit cube evenly (Roberts 2018, R3), so that hue, shade and saturation
# of clusters with near numbers, which often touch, do not agree all at once.
_EVEN = np.array([0.8191725134, 0.6710436067, 0.5497004779])
_BAR = {
    "vertical": True, "position_x": 0.92, "position_y": 0.1, "width": 0.03, "height": 0.8,
    "color": "white", "fmt": "%.1e",
}  # fmt: skip
# VTK takes products of lengths in float32, which end: beyond these it draws holes, or nothing.
_EXTENTS = (1e-16, 1e20)
_PORTRAIT = (640, 480)
# More triangles than its pixels show.
_PORTRAIT_TRIANGLES = 200_000


def render(clusters: Clusters, cut: np.ndarray, camera: Camera, coloring: Coloring = "shaded") -> np.ndarray:
    """A picture of a cut.

    Parameters
    ----------
    clusters : a `ClusterMesh`, or a `MeshAsset` of which only the pages of the cut are read.
    cut : numbers of clusters [K].
    camera : its viewport is the picture's size; its near and far planes cut nothing off.
    coloring : "shaded" with textures and vertex colours where the mesh has them; "cluster", a colour for each; "level",
        from source to root; "error", the quadric error in object units.

    Returns
    -------
    uint8 [H, W, 3].

    Raises
    ------
    CameraError : a camera that is mirrored, skewed or off-centre, which PyVista cannot be.
    HraError : another colouring.
    ImageError : a texture is damaged or too large.
    BackendUnavailable : there is no OpenGL driver, or the cut is smaller or larger than what PyVista draws.
    MissingExtra : PyVista is not installed.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> skull = meshes.build(hra.samples.path("skull.ply"))
    >>> camera = hra.Camera.orbit(skull.bounds, up=(0, 0, 1), viewport=(320, 200))
    >>> allocation = meshes.MeshAllocator(skull).allocate(camera, budget=2_000)
    >>> meshes.render(skull, allocation.cut, camera, "level").shape
    (200, 320, 3)
    """
    check_kind("camera", camera, Camera, "call render(clusters, allocation.cut, camera)")
    check_camera(camera)
    check_clusters("clusters", clusters)
    plotter = new_plotter(camera.viewport, off_screen=True)
    try:
        add_cut(plotter, clusters, cut, coloring)
        place_camera(plotter, camera)
        return np.array(plotter.screenshot(return_img=True))[..., :3]
    finally:
        plotter.close()


def new_plotter(size: tuple[int, int], *, off_screen: bool) -> Any:
    """An empty PyVista plotter.

    Raises
    ------
    BackendUnavailable : there is no OpenGL driver.
    MissingExtra : PyVista is not installed.
    """
    if headless():
        # Without it VTK tries for an X server first, and complains on standard error.
        os.environ.setdefault("VTK_DEFAULT_OPENGL_WINDOW", "vtkEGLRenderWindow")
    with needs("pyvista", "viz"):
        import pyvista
    with pyvista.vtk_verbosity("off"):
        plotter: Any = pyvista.Plotter(off_screen=off_screen, window_size=list(size), lighting="light kit")
    if plotter.render_window.GetClassName() == "vtkOSOpenGLRenderWindow" and not find_library("OSMesa"):
        # VTK's last resort, which ends the process where the library is missing.
        fix = "install Mesa (Debian: libegl1 libgl1-mesa-dri)"
        raise BackendUnavailable("PyVista finds no OpenGL driver", where="EGL, OSMesa", fix=fix)
    if plotter.render_window.GetClassName() == "vtkEGLRenderWindow":
        _keep_display()
    plotter.set_background(_BACKGROUND)
    plotter.enable_anti_aliasing("msaa", multi_samples=8)
    return plotter


@cache
def _keep_display() -> Any:
    """A window of one pixel that is never closed.

    With its last window VTK ends the display of EGL, and with that the contexts of all others, as of open renderers.
    """
    from vtkmodules.vtkRenderingCore import vtkRenderWindow

    window = vtkRenderWindow()
    window.SetOffScreenRendering(True)
    window.SetSize(1, 1)
    window.Render()
    return window


def headless() -> bool:
    """Whether there is no display for windows."""
    return sys.platform == "linux" and not os.environ.get("DISPLAY")


def require_display() -> None:
    """BackendUnavailable if there is no display for windows."""
    if headless():
        fix = "save a screenshot, by commands with --screenshot PNG"
        raise BackendUnavailable("there is no display to open a window on", where="DISPLAY", fix=fix)


def add_cut(plotter: Any, clusters: Clusters, cut: np.ndarray, coloring: Coloring) -> None:
    """Draw the clusters ``cut`` [K] with ``plotter`` in place of what it drew before."""
    check_choice("coloring", coloring, get_args(Coloring))
    mesh = clusters.mesh(cut)
    _remove_cut(plotter)
    if coloring == "shaded":
        add_shaded(plotter, mesh)
        return
    surface, cut = _surface(mesh), indices("cut", cut, 0, len(clusters.triangles_per_cluster))
    counts = clusters.triangles_per_cluster[cut]
    values, options = _colors(clusters, cut, coloring)
    surface.cell_data["color"] = np.repeat(values, counts, axis=0)
    plotter.add_mesh(surface, scalars="color", name=_ACTOR, ambient=0.35, diffuse=0.75, **options)


def _remove_cut(plotter: Any) -> None:
    """Take away what `add_cut` drew, and nothing else: sliders are actors too."""
    for title in list(plotter.scalar_bars.keys()):
        plotter.remove_scalar_bar(title)
    for name in [name for name in plotter.actors if name.startswith(_ACTOR)]:
        plotter.remove_actor(name)


def _colors(clusters: Clusters, cut: np.ndarray, coloring: Coloring) -> tuple[np.ndarray, dict[str, Any]]:
    """One value or colour for each cluster of the cut, and how it is drawn."""
    hierarchy = clusters.hierarchy
    if coloring == "cluster":
        return distinct_colors(cut), {"rgb": True}
    if coloring == "level":
        level = hierarchy.attribute("level")[cut]
        least, most = int(level.min()), int(level.max())
        count = most - least + 1
        # Each level has a step of the scale of its own, with its number in the middle.
        bar = {**_BAR, "title": "level\n0: finest\n", "n_labels": 0, "use_opacity": False}
        scale = {"clim": (least - 0.5, most + 0.5), "n_colors": count}
        names = {float(number): str(number) for number in range(least, most + 1)}
        return level.astype(np.float32), {"cmap": "viridis", **scale, "annotations": names, "scalar_bar_args": bar}
    error = hierarchy.attribute("error")
    largest = float(error.max()) or 1.0
    # Errors double from level to level, so the scale is logarithmic; the source, without error, has its lowest colour.
    least = min(float(error.min(where=error > 0, initial=largest)), largest / 10)
    options = {
        "cmap": "plasma",
        "clim": (least, largest),
        "log_scale": True,
        "scalar_bar_args": {**_BAR, "title": "error,\nmesh units\n"},
    }
    return np.maximum(error[cut], np.float32(least)), options


def distinct_colors(numbers: np.ndarray) -> np.ndarray:
    """A colour for each number, uint8 [K, 3], always the same."""
    hue, shade, pale = ((numbers[:, None] * _EVEN) % 1.0).T
    waves = np.clip(np.abs((hue[:, None] * 6 + np.array([0.0, 4.0, 2.0])) % 6 - 3) - 1, 0, 1)
    floor = (0.15 + 0.5 * pale)[:, None]
    return np.round(255 * (0.5 + 0.5 * shade)[:, None] * (floor + (1 - floor) * waves)).astype(np.uint8)


def _surface(mesh: TriangleMesh) -> Any:
    import pyvista

    extent = float(np.ptp(np.asarray(mesh.positions, np.float64), axis=0).max())
    if extent and not _EXTENTS[0] <= extent <= _EXTENTS[1]:
        low, high = _EXTENTS
        what = f"PyVista draws meshes of {low:g} to {high:g} units, and nothing of one of {extent:.3g}"
        raise BackendUnavailable(what, where="bounds", fix="build the mesh in another unit")
    return pyvista.PolyData.from_regular_faces(mesh.positions, mesh.triangles.astype(np.int64))


def add_shaded(plotter: Any, mesh: TriangleMesh) -> None:
    """Draw a mesh, with textures and vertex colours where there are some; one actor for each material."""
    import pyvista

    look = {"specular": 0.15, "smooth_shading": mesh.attributes is not None and mesh.attributes.normals is not None}
    surface, carried = _surface(mesh), mesh.attributes
    if carried is not None and carried.normals is not None:
        surface.point_data.set_array(carried.normals, "Normals")
        surface.point_data.active_normals_name = "Normals"
    # VTK multiplies them by the texture, as glTF does; beside a material they are linear.
    shades = None if carried is None else carried.colors
    if shades is not None:
        surface.point_data["shades"] = shades[:, :3]
    if carried is None or carried.material is None:
        seen = {"color": _PLASTER} if shades is None else {"scalars": "shades", "rgb": True}
        plotter.add_mesh(surface, name=_ACTOR, **seen, **look)
    else:
        of_triangle = carried.material[mesh.triangles[:, 0]]
        if carried.uv is not None:
            # Rows of textures count upwards in VTK.
            surface.active_texture_coordinates = np.column_stack([carried.uv[:, 0], 1 - carried.uv[:, 1]])
        for number in np.unique(of_triangle).tolist():
            part = surface.extract_cells(np.flatnonzero(of_triangle == number)).extract_surface(algorithm=None)
            material = carried.materials[number]
            image = base_color_image(material) if carried.uv is not None else None
            texture = None if image is None else pyvista.Texture(image)
            seen = {"color": tuple(value ** (1 / 2.2) for value in material.base_color[:3])}
            if shades is not None:
                color = (part.point_data["shades"] / 255 * material.base_color[:3]) ** (1 / 2.2)
                part.point_data["shades"] = np.rint(255 * color).astype(np.uint8)
                seen = {"scalars": "shades", "rgb": True}
            plotter.add_mesh(part, texture=texture, name=f"{_ACTOR} {number}", **seen, **look)


def place_camera(plotter: Any, camera: Camera) -> None:
    """Look through ``camera``, which `check_camera` has passed, at the depth of the middle of what is drawn.

    A window turns around that point, and one at a distance of 1 is none for large coordinates: it would be the eye.
    """
    turn, matrix, view = camera.view[:3, :3], camera.projection, plotter.camera
    low, high = np.reshape(plotter.bounds, (3, 2)).T
    ahead = float((camera.position - (low + high) / 2) @ turn[2])
    if ahead <= 0:  # what is behind is not turned around
        ahead = float(np.linalg.norm(high - low)) or 1.0
    view.position, view.up = tuple(camera.position), tuple(turn[1])
    view.focal_point = tuple(camera.position - ahead * turn[2])
    view.parallel_projection = not camera.is_perspective
    if camera.is_perspective:
        view.view_angle = 2 * math.degrees(math.atan(1 / matrix[1, 1]))
    else:
        view.parallel_scale = 1 / matrix[1, 1]
    plotter.reset_camera_clipping_range()


def check_camera(camera: Camera) -> None:
    """Refuse cameras that VTK does not have, and pictures that it would end the process for.

    Raises
    ------
    CameraError : it is mirrored, skewed or off-centre, or its viewport is too large to be drawn.
    """
    width, height = camera.viewport
    if max(width, height) > PICTURE_SIDE or width * height > PICTURE_PIXELS:
        fix = f"use at most {PICTURE_SIDE:,} along a side and {PICTURE_PIXELS:,} pixels"
        raise CameraError(f"a picture of {width} x {height} pixels cannot be drawn", where="viewport", fix=fix)
    if not is_centred(camera):
        raise CameraError("PyVista cannot look through a mirrored, skewed or off-centre camera", where="camera")


def base_color_image(material: Material) -> np.ndarray | None:
    """The base-colour image of a material, uint8 [H, W, 3]; None where it has none.

    Raises
    ------
    ImageError : it is damaged or too large.

    Warns
    -----
    RepairWarning : an image that is passed on but not decoded, in whose place the colour of the material is drawn.
    """
    where = f"material {material.name!r}"
    if material.image is None:
        return None
    if is_ktx2(material.image):
        warn(f"{where}: KTX2 is not decoded, so it is drawn without this texture")
        return None
    from PIL import Image

    try:
        image = Image.open(io.BytesIO(material.image), formats=("PNG", "JPEG", "WEBP", "AVIF"))
        if image.width * image.height <= MAX_PIXELS:
            return np.asarray(image.convert("RGB"))
    except Exception as error:  # Pillow raises whatever its decoders stumble over
        raise ImageError(f"the texture cannot be decoded ({type(error).__name__})", where=where) from error
    raise ImageError(f"the texture has {image.width} x {image.height} pixels", where=where)


def portrait(mesh: TriangleMesh) -> bytes | None:
    """A shaded PNG of the whole mesh, None where nothing can draw it."""
    camera = fit_camera(mesh.positions, azimuth=30, elevation=10, viewport=_PORTRAIT)
    try:
        plotter = new_plotter(_PORTRAIT, off_screen=True)
        try:
            add_shaded(plotter, mesh)
            place_camera(plotter, camera)
            return png_bytes(plotter.screenshot(return_img=True)[..., :3])
        finally:
            plotter.close()
    except (MissingExtra, BackendUnavailable, ImageError):
        return None


def cluster_portrait(clusters: ClusterMesh) -> bytes | None:
    """The same of a cut that has as many triangles as a small picture shows."""
    clusters = clusters.with_cost("triangles")
    node, budget = clusters.hierarchy.node, max(_PORTRAIT_TRIANGLES, clusters.root_triangle_count)
    errors = node["area"] * np.square(node["error"], dtype=np.float64)
    return portrait(clusters.mesh(solve(clusters.hierarchy, budget, errors=errors).cut))
