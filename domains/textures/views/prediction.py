"""Where a camera will probably be: what is prefetched where the path is not known."""

from __future__ import annotations

import numpy as np

from hra.camera import Camera


def constant_motion(previous: Camera, current: Camera, frames: int) -> list[Camera]:
    """The next ``frames`` cameras if each step is that from ``previous`` to ``current``, in the camera's own axes.

    Straight paths go on straight and circles round, at the same speed; the lens stays that of ``current``.

    Examples
    --------
    >>> from hra import Camera
    >>> from hra.domains.textures import constant_motion
    >>> before, now = (Camera.perspective(eye=(x, 1, 0), target=(x, 1, -1)) for x in (0, 1))
    >>> [round(float(camera.position[0]), 6) for camera in constant_motion(before, now, frames=2)]
    [2.0, 3.0]
    """
    step = current.view @ np.linalg.inv(previous.view)
    view, cameras = current.view, []
    for _ in range(frames):
        view = step @ view
        view[3] = 0, 0, 0, 1  # but for rounding it is
        cameras.append(Camera(view, current.projection, current.viewport))
    return cameras
