"""What files of points are called; without imports, as commands read it before they need anything else."""

from __future__ import annotations

READ = (".las", ".laz", ".ply", ".sog", ".splat", ".spz")
# Other formats of points, which are refused by their names.
NOT_READ = (".pcd", ".e57", ".xyz", ".pts", ".ptx")
BUILT = ".hpt"
