"""Valid checkpoints of a small model, to be damaged at random."""

from __future__ import annotations

import tempfile
from pathlib import Path


def seeds() -> tuple[tuple[bytes, str], ...]:
    """With and without moments, and one from before there was a checksum."""
    from safetensors.torch import load, save

    from hra_lab.evidence.training import save_state

    found = []
    with tempfile.TemporaryDirectory() as folder:
        for steps in (0, 1):
            path = Path(folder, str(steps))
            save_state(path, *model(steps), steps)
            found.append(path.read_bytes())
    plain = save(load(found[-1]), metadata={"step": "1"})
    return tuple((content, ".safetensors") for content in (*found, plain))


def model(steps: int = 0):
    """A layer and its optimiser after ``steps`` steps."""
    import torch

    torch.manual_seed(0)
    layer = torch.nn.Linear(2, 3)
    optimiser = torch.optim.AdamW(layer.parameters())
    for _ in range(steps):
        layer(torch.ones(1, 2)).sum().backward()
        optimiser.step()
    return layer, optimiser


def read(path: Path) -> int:
    """Its step."""
    from hra_lab.evidence.training import load_state

    return load_state(path, *model())
