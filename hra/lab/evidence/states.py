"""Weights and states of training in files: safetensors, so that nothing that is read back can run code."""

from __future__ import annotations

import math
from pathlib import Path

import torch
from torch import Tensor

from hra.errors import FileError
from hra.lab.evidence.reader import Reader, Size


def save_state(file: Path, reader: Reader, optimiser: torch.optim.Optimizer, step: int) -> None:
    """Weights and the optimiser's moments."""
    from safetensors.torch import save

    from hra.safety.atomic_write import write_atomically

    state = {f"reader.{name}": value.contiguous() for name, value in reader.state_dict().items()}
    for number, moments in optimiser.state_dict()["state"].items():
        state |= {f"optimiser.{number}.{name}": torch.as_tensor(value) for name, value in moments.items()}
    write_atomically(file, save(state, metadata={"step": str(step)}))


def load_state(file: Path, reader: Reader, optimiser: torch.optim.Optimizer) -> int:
    """Put back what `save_state` wrote; return the step.

    Raises
    ------
    FileError : the file is damaged, or of a reader of another size.
    """
    state, metadata = _read(file)
    moments: dict[int, dict[str, Tensor]] = {}
    try:
        step = int(metadata["step"])
        for name in [name for name in state if name.startswith("optimiser.")]:
            _, number, kind = name.split(".")
            moments.setdefault(int(number), {})[kind] = state.pop(name)
        shapes = [weight.shape for weight in optimiser.param_groups[0]["params"]]
        for number, parts in moments.items():
            if any(parts[kind].shape != shapes[number] for kind in ("exp_avg", "exp_avg_sq")) or "step" not in parts:
                raise ValueError("moments of another shape")
        weights = {name.removeprefix("reader."): value for name, value in state.items()}
        _fill(reader, weights)
    except (KeyError, IndexError, ValueError, RuntimeError) as error:
        raise _unusable(file, str(error)) from error
    optimiser.load_state_dict({"state": moments, "param_groups": optimiser.state_dict()["param_groups"]})
    return step


def save_reader(file: Path, reader: Reader) -> None:
    """Weights alone, with the size."""
    from safetensors.torch import save

    from hra.safety.atomic_write import write_atomically

    size = {name: str(getattr(reader.size, name)) for name in ("width", "layers", "heads")}
    state = {name: value.contiguous() for name, value in reader.state_dict().items()}
    write_atomically(file, save(state, metadata=size))


def load_reader(file: Path) -> Reader:
    """A reader that `save_reader` wrote.

    Raises
    ------
    FileError : the file is damaged.
    """
    weights, metadata = _read(file)
    try:
        size = Size(*(int(metadata[name]) for name in ("width", "layers", "heads")))
        if not all(
            0 < value <= limit for value, limit in zip((size.width, size.layers, size.heads), _MOST, strict=True)
        ):
            raise ValueError(f"a reader of {size}")
        reader = Reader(size)
        _fill(reader, weights)
    except (KeyError, ValueError, RuntimeError) as error:
        raise _unusable(file, str(error)) from error
    return reader.eval()


_MOST = (1024, 32, 64)


def _fill(reader: Reader, weights: dict[str, Tensor]) -> None:
    if not all(math.isfinite(float(value.abs().max())) for value in weights.values()):
        raise ValueError("weights that are not finite")
    reader.load_state_dict(weights)


def _read(file: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, "pt") as stored:
            tensors = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118 (not a mapping)
            return tensors, stored.metadata() or {}
    except (SafetensorError, OSError) as error:
        raise _unusable(file, str(error)) from error


def _unusable(file: Path, why: str) -> FileError:
    return FileError(
        f"not the weights of a reader: {why.splitlines()[0] if why else 'nothing in it'}",
        where=str(file),
        fix="delete it and train again",
    )
