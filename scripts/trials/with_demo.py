"""A mesh of the budget, tokens of the budget, and a picture of both."""

import hra
from hra.domains import meshes, tokens

skull = meshes.load(hra.samples.path("skull.ply"))
cut = meshes.MeshAllocator(meshes.build(skull)).allocate(hra.Camera.orbit(skull.bounds, azimuth=30), 10_000)
assert hra.verify(cut).ok and cut.cost <= 10_000, cut
chosen = tokens.PyramidSampling()
assert len(chosen.realize(chosen.allocate((hra.samples.path("page.png"), ""), 64)).values) == 64
