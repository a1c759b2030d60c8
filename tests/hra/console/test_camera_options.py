"""Options that place a camera: each one counts, or is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hra.console.camera_options import CameraOptions
from hra.errors import HraError

CORNERS = np.array([[0.0, 0, 0], [1, 1, 1]])
IGNORED = {
    "a direction beside an eye": (CameraOptions(azimuth=0.0, eye="0,0,5"), "--azimuth"),
    "a height beside an eye": (CameraOptions(elevation=0.0, eye="0,0,5", target="0,0,0"), "--elevation"),
    "a distance beside an eye": (CameraOptions(distance=2.0, eye="0,0,5"), "--distance"),
    "a direction beside a file": (CameraOptions(azimuth=30.0, camera_file=Path("camera.json")), "--azimuth"),
    "what is up beside a file": (CameraOptions(up="0,0,1", camera_file=Path("camera.json")), "--up"),
    "an eye beside a file": (CameraOptions(eye="0,0,5", camera_file=Path("camera.json")), "--eye"),
}


@pytest.mark.parametrize(("options", "name"), IGNORED.values(), ids=IGNORED.keys())
def test_an_option_that_would_be_ignored_is_refused_by_its_name(options: CameraOptions, name: str) -> None:
    with pytest.raises(HraError, match="twice") as caught:
        options.camera(CORNERS, "64x64")
    assert name in caught.value.fix


def test_what_is_up_counts_beside_an_eye() -> None:
    one, other = (CameraOptions(eye="0,0,5", up=up).camera(CORNERS, "64x64") for up in ("0,1,0", "1,0,0"))
    assert not np.allclose(one.view, other.view)


def test_a_file_places_the_camera_that_an_eye_does(tmp_path: Path) -> None:
    """Also of a small object, all of which is nearer than a near plane in metres would be."""
    file = tmp_path / "camera.json"
    file.write_text('{"eye": [0, 0, 0.05], "target": [0, 0, 0]}')
    beside = CameraOptions(eye="0,0,0.05", target="0,0,0").camera(CORNERS, "64x64")
    assert CameraOptions(camera_file=file).camera(CORNERS, "64x64").near == pytest.approx(beside.near)
    file.write_text('{"eye": [0, 0, 0.05], "target": [0, 0, 0], "near": 0.01}')
    assert CameraOptions(camera_file=file).camera(CORNERS, "64x64").near == pytest.approx(0.01)
