"""Where a camera will probably be: what is prefetched where the path is not known."""

from __future__ import annotations

import numpy as np

from hra.camera import Camera


def constant_motion(previous: Camera, current: Camera, frames: int) -> list[Camera]:
    """The next ``frames`` cameras if each step is that from ``previous`` to ``current``, in the camera's own axes.

    Straight paths go on straight and circles round, at the same speed; the lens stays that of ``current``.
    """
    step = current.view @ np.linalg.inv(previous.view)
    view, cameras = current.view, []
    for _ in range(frames):
        view = step @ view
        view[3] = 0, 0, 0, 1  # but for rounding it is
        cameras.append(Camera(view, current.projection, current.viewport))
    return cameras
