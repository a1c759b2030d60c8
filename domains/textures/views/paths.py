"""Camera paths over a textured plane, the same for the same seed.

`constant_motion` says where a camera will probably be, for prefetching where the path is not known.
"""

from __future__ import annotations

import numpy as np

from hra.camera import Camera
from hra.domains.textures.views.scene import TexturedPlane
from hra.errors import check_kind
from hra.model.arrays import whole_in


def flyover(
    plane: TexturedPlane, frames: int = 120, *, seed: int = 0, viewport: tuple[int, int] = (1920, 1080)
) -> list[Camera]:
    """A flight that starts high above ``plane``, descends steadily while it turns, and ends close to it.

    The height falls by a constant factor per frame from 0.5 to 0.02 of the plane's longer side. The flight stays above
    the plane, on the side from which the texture is not mirrored, and looks ahead along a curved track.

    Parameters
    ----------
    frames : 0 or more; seed : 0 or more, chooses the track.
    viewport : (width, height) in pixels.

    Raises
    ------
    HraError : another number of frames, or seed, or something else than a plane.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains.textures import PlaneScene, flyover
    >>> scene = PlaneScene.ground(np.zeros((64, 64, 3), np.uint8), width=100.0)
    >>> [round(float(camera.position[1]), 1) for camera in flyover(scene.planes[0], frames=3)]
    [50.0, 10.0, 2.0]
    """
    check_kind("plane", plane, TexturedPlane, "pass one such as scene.planes[0]")
    frames, seed = whole_in("frames", frames), whole_in("seed", seed)
    phase, turns = np.random.default_rng(seed).uniform((0, 0.5), (2 * np.pi, 1.5))
    size = max(np.linalg.norm(plane.u_axis), np.linalg.norm(plane.v_axis))
    normal = np.cross(plane.v_axis, plane.u_axis)
    normal /= np.linalg.norm(normal)
    time = np.linspace(0, 1, frames)
    height = 0.5 * size * 0.04**time
    eyes = _track(plane, phase + 2 * np.pi * turns * time) + height[:, None] * normal
    targets = _track(plane, phase + 2 * np.pi * turns * time + 0.4)
    return [
        Camera.perspective(eye, target, normal, viewport=viewport, near=above / 100)
        for eye, target, above in zip(eyes, targets, height, strict=True)
    ]


def _track(plane: TexturedPlane, angle: np.ndarray) -> np.ndarray:
    """Points [n, 3] on an ellipse in the plane."""
    return plane.points(0.5 + 0.3 * np.cos(angle), 0.5 + 0.3 * np.sin(angle))


def constant_motion(previous: Camera, current: Camera, frames: int) -> list[Camera]:
    """The next ``frames`` cameras if each step is that from ``previous`` to ``current``, in the camera's own axes.

    Straight paths go on straight and circles round, at the same speed; the lens stays that of ``current``.

    Raises
    ------
    HraError : frames that are not a whole number >= 0, or no cameras.

    Examples
    --------
    >>> from hra import Camera
    >>> from hra.domains.textures import constant_motion
    >>> before, now = (Camera.perspective(eye=(x, 1, 0), target=(x, 1, -1)) for x in (0, 1))
    >>> [round(float(camera.position[0]), 6) for camera in constant_motion(before, now, frames=2)]
    [2.0, 3.0]
    """
    for name, camera in (("previous", previous), ("current", current)):
        check_kind(name, camera, Camera, "make one by hra.Camera.perspective or orbit")
    step = current.view @ np.linalg.inv(previous.view)
    view, cameras = current.view, []
    for _ in range(whole_in("frames", frames)):
        view = step @ view
        view[3] = 0, 0, 0, 1  # apart from rounding it is
        cameras.append(Camera(view, current.projection, current.viewport))
    return cameras
