"""A window with its panel on a display in memory."""

import os
import subprocess
import tempfile
from pathlib import Path

import hra
from hra.domains import meshes

reading, writing = os.pipe()
display = subprocess.Popen(
    ["Xvfb", "-displayfd", str(writing), "-screen", "0", "640x480x24", "-nolisten", "tcp"],
    pass_fds=[writing],
    stderr=subprocess.DEVNULL,
)
os.close(writing)
try:
    with os.fdopen(reading) as pipe:
        os.environ["DISPLAY"] = ":" + pipe.readline().strip()
    with tempfile.TemporaryDirectory() as folder:
        meshes.build(hra.samples.path("skull.ply")).save(Path(folder, "skull.hra"))
        asset = meshes.open_asset(Path(folder, "skull.hra"))
        camera = hra.Camera.orbit(asset.bounds, azimuth=30, up=(0, 0, 1), viewport=(320, 240))
        with (
            meshes.ViewWindow((320, 240), "a skull") as window,
            meshes.ViewSession(asset, camera, up=(0, 0, 1), triangles=4_000, context=window.context) as session,
        ):
            for _ in range(3):
                window.draw(session)
            shown, bare = window.read(), session.picture()
            assert shown.shape == bare.shape == (240, 320, 3)
            assert (shown != bare).any(), "the panel is not there"
finally:
    display.terminate()
    display.wait()
