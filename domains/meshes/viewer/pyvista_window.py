"""The window where there is no OpenGL 4.5: PyVista's, with a slider for the budget and keys for the colours.

`hra.domains.meshes.ViewWindow` is the usual one. It draws with compute shaders, which OpenGL has from 4.3 on and macOS,
whose OpenGL ends at 4.1, has not. This one needs VTK alone, and draws meshes that are in memory, too.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, get_args

import numpy as np

from hra.allocating.allocation import Allocation
from hra.camera import Camera
from hra.domains.meshes.allocator import Clusters, MeshAllocator
from hra.domains.meshes.viewer.drawing import (
    Coloring,
    add_cut,
    check_camera,
    new_plotter,
    place_camera,
    require_display,
)
from hra.files.images import save_png
from hra.model.metrics import ErrorMetric
from hra.traversals.base import Traversal

_FONT_SIZE = 13
_TITLE_HEIGHT = 0.025


class Viewer:
    """Shows the cut that a budget allows for the camera of the window.

    The slider sets the budget, from the coarsest cut to all triangles; the keys 1 to 4 colour by shading, cluster,
    level and error. The cut is chosen again after each turn of the camera.

    Parameters
    ----------
    clusters : a `ClusterMesh` or `MeshAsset` with costs in triangles.
    camera : where to begin; its viewport is the window's size.
    budget : triangles to begin with.
    coloring : see `hra.domains.meshes.viewer.drawing.render`.
    metric, traversal : how cuts are chosen, see `MeshAllocator`.
    off_screen : without a window, for `save`.

    Raises
    ------
    BudgetTooSmall, InvalidBudget : see `HierarchicalResourceAllocator.allocate`.
    CameraError, HraError, MissingExtra : see `hra.domains.meshes.viewer.drawing.render`.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> skull = meshes.build(hra.samples.path("skull.ply"))
    >>> camera = hra.Camera.orbit(skull.bounds, azimuth=30, up=(0, 0, 1), viewport=(320, 240))
    >>> viewer = meshes.Viewer(skull, camera, budget=2_000, off_screen=True)  # without off_screen: viewer.show()
    >>> viewer.save("skull.png")
    """

    def __init__(
        self,
        clusters: Clusters,
        camera: Camera,
        budget: float,
        coloring: Coloring = "cluster",
        *,
        metric: ErrorMetric | None = None,
        traversal: Traversal | None = None,
        off_screen: bool = False,
    ) -> None:
        self._clusters, self._allocator = clusters, MeshAllocator(clusters, metric, traversal)
        # Beyond full detail there is nothing to set.
        self._budget = budget = min(budget, clusters.hierarchy.total_cost)
        self._coloring: Coloring = coloring
        self.allocation = self._allocator.allocate(camera, budget)
        check_camera(camera)
        self._plotter = new_plotter(camera.viewport, off_screen=off_screen)
        place_camera(self._plotter, camera)
        self._draw()
        place_camera(self._plotter, camera)
        self._slider = self._new_slider()
        for number, name in enumerate(get_args(Coloring), 1):
            self._plotter.add_key_event(str(number), lambda name=name: self.color_by(name))

    def show(self) -> None:
        """Open the window, until it is closed.

        Raises
        ------
        BackendUnavailable : there is no display.
        """
        require_display()
        self._plotter.iren.add_observer("EndInteractionEvent", lambda *_: self.allocate(self._budget))
        self._plotter.show()

    def save(self, path: str | Path) -> None:
        """Write what the window shows as a PNG, in one step.

        Raises
        ------
        FileError : the file cannot be written.
        """
        save_png(path, np.array(self._plotter.screenshot(return_img=True))[..., :3])

    def close(self) -> None:
        """Free the window and its memory."""
        self._plotter.close()

    def allocate(self, budget: float) -> Allocation:
        """Choose and draw the cut of another budget, in triangles, for where the camera is now."""
        self._budget = min(budget, self._clusters.hierarchy.total_cost)
        self.allocation = self._allocator.allocate(self._camera(), self._budget)
        self._draw()
        self._slider.SetValue(self._exponent)
        return self.allocation

    def color_by(self, coloring: Coloring) -> None:
        """Draw the same cut in other colours."""
        self._coloring = coloring
        self._draw()

    def _draw(self) -> None:
        add_cut(self._plotter, self._clusters, self.allocation.cut, self._coloring)
        keys = "keys:  " + "  ".join(f"{number} {name}" for number, name in enumerate(get_args(Coloring), 1))
        for name, text, place in (("text", self._status(), "upper_left"), ("keys", keys, "lower_left")):
            self._plotter.add_text(text, position=place, font_size=_FONT_SIZE, color="white", name=name, shadow=True)

    def _status(self) -> str:
        """What is drawn and how good it is, in short lines."""
        return "\n".join(str(self.allocation).split(", ", 2))

    @property
    def _exponent(self) -> float:
        """Where the slider stands: most of it would be for budgets that look like the source, were it not a power."""
        return math.log10(self._budget)

    def _new_slider(self) -> Any:
        """What a new slider looks like."""
        hierarchy = self._clusters.hierarchy
        low, high = math.log10(max(hierarchy.base_cost, 1.0)), math.log10(hierarchy.total_cost)
        slider: Any = self._plotter.add_slider_widget(
            self._slid,
            (low, max(high, low + 1e-6)),
            value=self._exponent,
            title="triangles",
            pointa=(0.3, 0.06),
            pointb=(0.7, 0.06),
            title_height=_TITLE_HEIGHT,
            color="white",
            interaction_event="end",
        )
        slider.GetRepresentation().ShowSliderLabelOff()
        # Thin, so that it hides little of the mesh.
        slider.GetRepresentation().SetTubeWidth(0.003)
        slider.GetRepresentation().SetSliderWidth(0.02)
        slider.GetRepresentation().SetSliderLength(0.012)
        slider.GetRepresentation().SetEndCapWidth(0.012)
        return slider.GetRepresentation()

    def _slid(self, exponent: float) -> None:
        """The slider stands at 10**exponent triangles; it calls when it is made, too."""
        budget = max(10.0**exponent, self._clusters.hierarchy.base_cost)
        if not math.isclose(budget, self._budget):
            self.allocate(budget)

    def _camera(self) -> Camera:
        """The window's camera."""
        view, size = self._plotter.camera, tuple(self._plotter.window_size)
        placed = {"eye": view.position, "target": view.focal_point, "up": view.up}
        near = max(view.distance, 1e-30) / 1000
        if view.parallel_projection:
            reach = 1000 * view.distance
            return Camera.orthographic(**placed, height=2 * view.parallel_scale, far=reach, near=near, viewport=size)
        return Camera.perspective(**placed, vertical_fov_degrees=view.view_angle, near=near, viewport=size)
