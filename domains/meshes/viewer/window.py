"""A window on a mesh."""

from __future__ import annotations

import hra.viewer
from hra.domains.meshes.viewer.keys import KEYS
from hra.domains.meshes.viewer.panel import Panel


class ViewWindow(hra.viewer.ViewWindow):
    """`hra.viewer.ViewWindow` for a `ViewSession`, with its panel and keys; parameters and errors are those of it.

    Examples
    --------
    >>> import hra
    >>> from hra.domains import meshes
    >>> asset = meshes.open_asset("skull.hra")  # doctest: +SKIP
    >>> camera = hra.Camera.orbit(asset.bounds, up=(0, 0, 1), viewport=(1280, 720))  # doctest: +SKIP
    >>> with meshes.ViewWindow(camera.viewport, "skull") as window:  # doctest: +SKIP
    ...     with meshes.ViewSession(asset, camera, context=window.context) as session:
    ...         window.show(session)
    """

    def __init__(self, size: tuple[int, int], title: str) -> None:
        super().__init__(size, title, lambda imgui: Panel(imgui).draw, KEYS)
