"""What a run of training goes on from, as safetensors: nothing that is read back can run code."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor, nn

from hra.errors import FileError
from hra.files.atomic_write import write_atomically

_MOMENTS = ("step", "exp_avg", "exp_avg_sq")


def save_state(file: Path, reader: nn.Module, optimiser: torch.optim.Optimizer, step: int) -> None:
    """Weights and the optimiser's moments, with a checksum over both."""
    from safetensors.torch import save

    state = {f"reader.{name}": value.contiguous() for name, value in reader.state_dict().items()}
    for number, moments in optimiser.state_dict()["state"].items():
        state |= {f"optimiser.{number}.{name}": torch.as_tensor(value) for name, value in moments.items()}
    # One entry: those of several stand in any order, and equal states would be other bytes.
    write_atomically(file, save(state, metadata={"step": f"{step}:{_checksum(step, state)}"}))


def load_state(file: Path, reader: nn.Module, optimiser: torch.optim.Optimizer) -> int:
    """Put back what `save_state` wrote; return the step. What is refused changes neither.

    Raises
    ------
    FileError : the file is damaged, or of a reader of another size.
    """
    try:
        step, state = _stored(file)
        _check(state, reader, optimiser)
    except Exception as error:  # safetensors has a class of its own, and its decoder others
        fix = "remove it to train from the start, or give the checkpoint of this plan"
        raise FileError(f"this is no checkpoint of this run: {str(error)[:200]}", where=str(file), fix=fix) from error
    reader.load_state_dict({name[7:]: value for name, value in state.items() if name.startswith("reader.")})
    moments: dict[int, dict[str, Tensor]] = {}
    for name, value in state.items():
        if name.startswith("optimiser."):
            _, number, kind = name.split(".")
            moments.setdefault(int(number), {})[kind] = value
    optimiser.load_state_dict({"state": moments, "param_groups": optimiser.state_dict()["param_groups"]})
    return step


def _stored(file: Path) -> tuple[int, dict[str, Tensor]]:
    from safetensors import safe_open

    with safe_open(file, "pt") as stored:
        facts = stored.metadata() or {}
        state = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118 (not a mapping)
    step, _, checksum = facts.get("step", "").partition(":")
    if not step.isdecimal() or len(step) > 18:
        raise ValueError("it says no step")
    # Files from before there was a checksum have none.
    if checksum not in ("", _checksum(int(step), state)):
        raise ValueError("its content does not match the checksum")
    return int(step), state


def _check(state: Mapping[str, Tensor], reader: nn.Module, optimiser: torch.optim.Optimizer) -> None:
    """All weights and no others, of the right shapes; moments of all parameters or, before the first step, of none."""
    wanted = {f"reader.{name}": value for name, value in reader.state_dict().items()}
    if any(name.startswith("optimiser.") for name in state):
        parameters = [one for group in optimiser.param_groups for one in group["params"]]
        for number, one in enumerate(parameters):
            shaped = (torch.zeros(()), one, one)
            wanted |= {f"optimiser.{number}.{kind}": like for kind, like in zip(_MOMENTS, shaped, strict=True)}
    if odd := sorted(wanted.keys() ^ state.keys()):
        raise ValueError(f"{odd[0]!r} is {'missing' if odd[0] in wanted else 'not known'}")
    for name, like in wanted.items():
        if state[name].shape != like.shape or state[name].dtype != like.dtype:
            raise ValueError(f"{name!r} is {state[name].dtype} {list(state[name].shape)}")


def _checksum(step: int, state: Mapping[str, Tensor]) -> str:
    total = zlib.crc32(str(step).encode())
    for name in sorted(state):
        values = state[name].detach().cpu().contiguous().numpy()
        total = zlib.crc32(values.tobytes(), zlib.crc32(name.encode(), total))
    return f"{total:08x}"
