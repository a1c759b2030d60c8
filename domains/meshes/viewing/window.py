"""A window on a mesh."""

from __future__ import annotations

import hra.viewing
from hra.domains.meshes.viewing.keys import KEYS
from hra.domains.meshes.viewing.panel import Panel


class ViewWindow(hra.viewing.ViewWindow):
    """`hra.viewing.ViewWindow` for a `ViewSession`, with its panel and keys; parameters and errors are those of it.

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
