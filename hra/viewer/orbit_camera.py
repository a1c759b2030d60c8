"""A camera that turns around a point, and a session's eye, which a mouse moves."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hra.camera import Camera, matrices
from hra.camera.framing import is_centred
from hra.camera.matrices import orbit_axes
from hra.errors import CameraError, warn

# Straight up and down there is no side that is up.
_STEEPEST = math.radians(89.9)
# Reversed depth in floats is as exact far away as near.
_NEAR = 1 / 1000
# Nearer, for each notch of a wheel.
_ZOOM = 1.1


@dataclass(frozen=True, eq=False)
class OrbitCamera:
    """Where the eye is; nothing changes it, each movement makes another one.

    Attributes
    ----------
    target : float64 [3], what the eye turns around and looks at; pole : float64 [3], the upward direction, of length 1.
    distance : of the eye from the target, world units.
    azimuth, elevation : radians, as `hra.Camera.orbit` has them in degrees.
    fov_degrees : vertical.
    """

    target: np.ndarray
    pole: np.ndarray
    distance: float
    azimuth: float
    elevation: float
    fov_degrees: float

    @classmethod
    def of(cls, camera: Camera, bounds: Any, up: Any = None) -> OrbitCamera:
        """The orbit on which a camera is: around the point ahead of it that is nearest to the middle of ``bounds``.

        Parameters
        ----------
        bounds : [2, 3], of what is looked at.
        up : the upward direction [3]; None takes the camera's own. The eye stays upright: a camera that leans to a
            side, or hangs upside down, is set up with a `RepairWarning`.

        Raises
        ------
        CameraError : a parallel projection, or a camera that is mirrored, skewed or off-centre.
        """
        if not (camera.is_perspective and is_centred(camera)):
            fix = "give eye and target, or draw it by `meshes.render`"
            raise CameraError("the eye of a window is a pinhole that looks straight ahead", where="camera", fix=fix)
        low, high = matrices.bounding_box(bounds)
        eye, upward, outward = camera.position, camera.view[1, :3], camera.view[2, :3]
        ahead = float(((low + high) / 2 - eye) @ -outward)
        if ahead <= 0:  # what is behind cannot be turned around
            ahead = float(np.linalg.norm(high - low)) or 1.0
        pole = upward if up is None else matrices.direction("up", up)
        pole = pole / np.linalg.norm(pole)
        elevation = math.asin(max(-1.0, min(1.0, float(outward @ pole))))
        across = outward if abs(elevation) < _STEEPEST else -math.copysign(1.0, elevation) * upward
        front, side = orbit_axes(0.0, 0.0, pole)[0], orbit_axes(math.pi / 2, 0.0, pole)[0]
        azimuth = math.atan2(float(across @ side), float(across @ front))
        lean = math.degrees(math.acos(max(-1.0, min(1.0, float(orbit_axes(azimuth, elevation, pole)[1] @ upward)))))
        if lean > 0.1 and abs(elevation) < _STEEPEST:
            what = f"the camera leans by {lean:.3g} degrees; the eye of a window stays upright"
            warn(what)
        fov = 2 * math.degrees(math.atan(1 / camera.projection[1, 1]))
        return cls(eye - ahead * outward, pole, ahead, azimuth, elevation, fov)

    def turned(self, right: float, down: float) -> OrbitCamera:
        """Turned by a drag, in heights of the picture, one of which is half a turn."""
        elevation = self.elevation + math.pi * down
        return replace(
            self,
            azimuth=math.remainder(self.azimuth - math.pi * right, 2 * math.pi),
            elevation=max(-_STEEPEST, min(_STEEPEST, elevation)),
        )

    def moved(self, right: float, down: float) -> OrbitCamera:
        """Moved aside by a drag, in heights of the picture, so that the target's plane follows the mouse."""
        outward, upward = orbit_axes(self.azimuth, self.elevation, self.pole)
        height = 2 * self.distance * math.tan(math.radians(self.fov_degrees) / 2)
        return replace(self, target=self.target + height * (down * upward - right * np.cross(upward, outward)))

    def zoomed(self, factor: float) -> OrbitCamera:
        """Nearer to the target by a factor."""
        return replace(self, distance=self.distance / matrices.positive("factor", factor))

    def camera(self, viewport: tuple[int, int]) -> Camera:
        """The camera, with reversed depth."""
        outward, upward = orbit_axes(self.azimuth, self.elevation, self.pole)
        return Camera.perspective(
            self.target + self.distance * outward,
            self.target,
            upward,
            vertical_fov_degrees=self.fov_degrees,
            viewport=viewport,
            near=_NEAR * self.distance,
            reversed_depth=True,
        )


class OrbitView:
    """The eye of a session.

    Parameters
    ----------
    orbit : where it begins; viewport : (width, height) of pictures, pixels.

    Attributes
    ----------
    orbit, viewport : as they are; settled : whether the next frame would be the same as the last one.
    """

    def __init__(self, orbit: OrbitCamera, viewport: tuple[int, int]) -> None:
        self.orbit = self._home = orbit
        self.viewport, self.settled = viewport, False

    def drag(self, right: float, down: float) -> None:
        """Turn what is seen as a mouse goes, pixels."""
        self._look(self.orbit.turned(right / self.viewport[1], down / self.viewport[1]))

    def pan(self, right: float, down: float) -> None:
        """Move what is seen as a mouse goes, pixels."""
        self._look(self.orbit.moved(right / self.viewport[1], down / self.viewport[1]))

    def scroll(self, notches: float) -> None:
        """Go nearer by notches of a mouse's wheel."""
        self._look(self.orbit.zoomed(_ZOOM**notches))

    def go_home(self) -> None:
        """Look from where the session began."""
        self._look(self._home)

    def _look(self, orbit: OrbitCamera) -> None:
        self.orbit = orbit
        self._change()

    def _change(self) -> None:
        """The next frame is another one."""
        self.settled = False
