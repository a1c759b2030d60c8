"""Pictures of cuts by OpenGL: what the eye moves through."""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.camera import Camera
from hra.domains.points.cloud.cloud_tree import CloudTree, node_numbers
from hra.domains.points.cloud.clouds import PointCloud
from hra.errors import CameraError, HraError
from hra.kernels.raster import Context, FootprintRenderer
from hra.viewer import Drawer


class Renderer(Drawer):
    """Draws cuts of a tree as `render` does; all nodes lie on the GPU, and a frame uploads which of them are drawn.

    Of splats with harmonics it draws the mean over all directions.

    Parameters
    ----------
    tree : of points or splats.
    viewport : (width, height) in pixels, that of all cameras.
    reversed_depth : whether cameras have reversed depth.
    context : None makes one without a window; one of the caller's is not released.

    Raises
    ------
    CameraError : a viewport that this driver cannot draw to. ArrayError : a tree too large for it.
    MissingExtra, BackendUnavailable : there is no OpenGL 4.5, see `hra.kernels.raster.Context`.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import points
    >>> tree = points.build(points.load_points(hra.samples.path("skull.ply")))
    >>> camera = hra.Camera.orbit(tree.bounds, azimuth=30, up=(0, 0, 1), viewport=(320, 240))
    >>> cut = points.PointAllocator(tree).allocate(camera, budget=2_000).cut
    >>> with points.Renderer(tree, camera.viewport) as renderer:
    ...     renderer.draw(camera, cut).shape
    (240, 320, 3)
    """

    def __init__(
        self,
        tree: CloudTree,
        viewport: tuple[int, int],
        *,
        reversed_depth: bool = False,
        context: Context | None = None,
    ) -> None:
        node = tree.hierarchy.node
        self._positions, self._points = node["position"], tree.kind is PointCloud
        shapes: dict[str, Any] = {"radii": node["size"]}
        if not self._points:
            shapes = {"covariances": node["covariance"], "opacities": node["opacity"]}
        super().__init__(context)
        self._footprints = None
        with self._opening():
            self._footprints = FootprintRenderer(
                self._context,
                viewport,
                self._positions,
                node["color"].clip(0, 1),
                **shapes,
                reversed_depth=reversed_depth,
            )

    def draw(self, camera: Camera, nodes: Any, background: float = 1.0) -> np.ndarray:
        """The picture of some nodes, float32 [H, W, 3]; parameters and errors as of `show`."""
        self.show(camera, nodes, background)
        return self.picture()

    def show(self, camera: Camera, nodes: Any, background: float = 1.0) -> None:
        """Draw some nodes, usually those of a cut, and leave the picture on the GPU.

        Parameters
        ----------
        camera : with this renderer's viewport and kind of depth. background : grey, 0 .. 1.

        Raises
        ------
        CameraError : a camera of another viewport or kind of depth. ArrayError : other nodes.
        BackendUnavailable : the context fails. HraError : the renderer is closed.
        """
        held = self._there
        if camera.viewport != held.size or camera.reversed_depth != held.reversed_depth:
            raise CameraError("the renderer was made for other cameras", where="Renderer")
        nodes = node_numbers(nodes, len(self._positions))
        if not self._points:
            far = self._positions[nodes] @ camera.view[2, :3]
            nodes = nodes[np.argsort(-far, kind="stable")]
        optics = {"focal_pixels": camera.focal_pixels, "near": camera.near, "background": background}
        held.draw(camera.view, camera.projection, nodes, **optics)

    def picture(self) -> np.ndarray:
        """What was drawn last, float32 [H, W, 3]; HraError : the renderer is closed."""
        return self._there.read()

    def blit(self, framebuffer: int = 0) -> None:
        """Copy it to a framebuffer of the caller's context, such as 0, a window's; HraError : it is closed."""
        self._there.copy_to(framebuffer)

    @property
    def _there(self) -> FootprintRenderer:
        if self._footprints is None:
            raise HraError("the renderer is closed", where="Renderer", fix="make a new one")
        return self._footprints

    def _free(self) -> None:
        if self._footprints is not None:
            self._footprints.release()
            self._footprints = None
