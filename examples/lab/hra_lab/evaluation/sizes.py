"""How much of the evaluation to run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """Instances and budgets.

    Attributes
    ----------
    crops : image crops; each is a square of ``side`` pixels.
    tokens : budgets of the token pyramids, in tokens.
    cameras : views of the mesh, evenly around it.
    triangles : budgets of the mesh, as shares of its triangles.
    """

    crops: int = 64
    side: int = 1024
    tokens: tuple[int, ...] = (64, 273, 1024)
    cameras: int = 8
    triangles: tuple[float, ...] = (0.1, 0.3, 0.6)


FULL = Sizes()
# Shows that everything runs.
SMALL = Sizes(crops=3, side=128, tokens=(16, 32), cameras=2, triangles=(0.3,))
