"""A learned compressor, trained so that a linear map tells the features of each cell from its token."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hra_lab.bench.kernels.peers_torch import load
from hra_lab.evaluation.compressors.decoder import Cell, spread

# Tokens along each side of a crop; more than one, for heads see beyond their cell.
_TOKENS = 6


def trained(features: list[np.ndarray], cell: Cell, steps: int, progress: Callable[[str], None]) -> Any:
    """A `Resampler`.

    Parameters
    ----------
    features : of the pictures to train on.
    steps : of Adam, on a crop each.
    """
    torch = load()
    from hra.domains.tokens.learned import Resampler

    width = features[0].shape[2]
    network = Resampler(width, heads=8)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        decoder = torch.nn.Linear(width, cell[0] * cell[1] * width)
        torch.nn.init.zeros_(decoder.weight)
    parameters = [*network.parameters(), *decoder.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=3e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 6e-3, total_steps=steps)
    rng, spreads = np.random.default_rng(0), [spread(each) for each in features]
    for step in range(steps):
        crop, grid = _crop(features[step % len(features)], cell, rng)
        tokens = network(crop, grid)
        made = decoder(tokens).reshape(*grid, *cell, width) + tokens[:, :, None, None]
        wanted = torch.as_tensor(crop).reshape(grid[0], cell[0], grid[1], cell[1], width).swapaxes(1, 2)
        loss = (made - wanted).square().mean() / spreads[step % len(features)]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 100 == 0:
            progress(f"step {step}")
    return network.eval().requires_grad_(False)


def _crop(features: np.ndarray, cell: Cell, rng: np.random.Generator) -> tuple[np.ndarray, tuple[int, int]]:
    """Some cells side by side, and how many."""
    rows, columns = features.shape[0] // cell[0], features.shape[1] // cell[1]
    grid = (min(_TOKENS, rows), min(_TOKENS, columns))
    top, left = rng.integers(0, rows - grid[0] + 1), rng.integers(0, columns - grid[1] + 1)
    first, second = top * cell[0], left * cell[1]
    crop = features[first : first + grid[0] * cell[0], second : second + grid[1] * cell[1]]
    return np.ascontiguousarray(crop), grid
