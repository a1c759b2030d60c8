"""Temporal coherence: what changes from frame to frame of an orbit, and what holding still costs.

Run ``python examples/plot_temporal_coherence.py [FOLDER]``; the picture is written there (default: out).
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import hra
from hra import samples
from hra.domains import meshes

BUDGET, FRAMES = 8_000, 60
VIEW = {"up": (0, 0, 1), "viewport": (960, 540)}
RULES = {
    "hull": hra.Hull(),
    "hysteresis 0.3": hra.Coherent(hra.Hull(), hysteresis=0.3),
    "at most 10 changes": hra.Coherent(hra.Hull(), hysteresis=0.3, max_churn=10),
}


def flight(clusters):
    """An orbit with a trembling hand."""
    shake = np.random.default_rng(0).normal(0, 1.0, FRAMES)
    size = 0.45 * np.ptp(clusters.bounds, axis=0).max()
    for azimuth in np.linspace(0, 60, FRAMES) + shake:
        yield hra.Camera.orbit(clusters.bounds, azimuth=azimuth, elevation=10, distance=size, **VIEW)


def main(folder: Path) -> None:
    """Refinements that change in each frame, and the error that remains."""
    folder.mkdir(parents=True, exist_ok=True)
    clusters = meshes.build(samples.path("skull.ply"))
    figure = Figure(figsize=(10, 6), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    for name, rule in RULES.items():
        allocator, last, changes, errors = meshes.MeshAllocator(clusters, traversal=rule), None, [], []
        for camera in flight(clusters):
            last = allocator.allocate(camera, BUDGET, previous=last)
            changes.append(last.churn)
            errors.append(np.sqrt(last.residual))
        above.plot(changes[1:], label=name)
        below.plot(errors[1:], label=name)
        print(f"{name}: {sum(changes[1:])} changes in {FRAMES - 1} frames, {np.mean(errors):.4f} px on average")
    above.set(ylabel="refinements taken or dropped")
    below.set(ylabel="error, px over the view", xlabel="frame", ylim=0)
    above.legend()
    figure.savefig(folder / "temporal_coherence.png", dpi=100)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
