"""A picture of a mesh by PyVista, without a window, and a plot."""

import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("agg")
from matplotlib import pyplot

import hra
from hra.domains import meshes

skull = meshes.build(hra.samples.path("skull.ply"))
camera = hra.Camera.orbit(skull.bounds, up=(0, 0, 1), viewport=(160, 100))
allocation = meshes.MeshAllocator(skull).allocate(camera, budget=2_000)
picture = meshes.render(skull, allocation.cut, camera, "level")
assert picture.shape == (100, 160, 3) and picture.std() > 10
figure, axes = pyplot.subplots()
axes.imshow(picture)
with tempfile.TemporaryDirectory() as folder:
    figure.savefig(Path(folder, "a.png"))
