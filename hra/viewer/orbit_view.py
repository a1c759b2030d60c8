"""What a mouse does to the eye of any session."""

from __future__ import annotations

from hra.viewer.orbit_camera import OrbitCamera

# Nearer, for each notch of a wheel.
_ZOOM = 1.1


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
