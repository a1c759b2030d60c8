"""Readers in files: weights and size as safetensors, so that nothing that is read back can run code."""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping
from dataclasses import astuple
from pathlib import Path

from torch import Tensor, nn

from hra.errors import FileError
from hra.files.atomic_write import write_atomically
from hra_lab.evidence.reader import Reader, Size


def save_reader(file: Path, reader: Reader) -> None:
    """Weights alone, with the size and a checksum over both."""
    from safetensors.torch import save

    size = " ".join(map(str, astuple(reader.size)))
    state = {name: value.contiguous() for name, value in reader.state_dict().items()}
    # One entry: those of several stand in any order, and equal readers would be other bytes.
    write_atomically(file, save(state, metadata={"reader": f"{size}:{checksum(size, state)}"}))


def load_reader(file: Path) -> Reader:
    """A reader that `save_reader` wrote.

    Raises
    ------
    FileError : the file is damaged.
    """
    weights, metadata = _read(file)
    try:
        size = _size(weights, metadata)
        if not all(
            0 < value <= limit for value, limit in zip((size.width, size.layers, size.heads), _MOST, strict=True)
        ):
            raise ValueError(f"a reader of {size}")
        reader = Reader(size)
        _fill(reader, weights)
    except (KeyError, ValueError, RuntimeError) as error:
        raise _unusable(file, str(error)) from error
    return reader.eval()


def _size(weights: dict[str, Tensor], metadata: dict[str, str]) -> Size:
    if "reader" not in metadata:  # files from before there was a checksum
        return Size(*(int(metadata[name]) for name in ("width", "layers", "heads")))
    size, _, known = metadata["reader"].partition(":")
    if known != checksum(size, weights):
        raise ValueError("its content does not match the checksum")
    width, layers, heads = map(int, size.split())
    return Size(width, layers, heads)


def checksum(fact: str, state: Mapping[str, Tensor]) -> str:
    """Of a fact about weights, their names and all their values."""
    total = zlib.crc32(fact.encode())
    for name in sorted(state):
        values = state[name].detach().cpu().contiguous().numpy()
        total = zlib.crc32(values.tobytes(), zlib.crc32(name.encode(), total))
    return f"{total:08x}"


def load_weights(file: Path, network: nn.Module) -> None:
    """Put the weights of a file into a network of their shapes.

    Raises
    ------
    FileError : the file is damaged, or of another network.
    """
    try:
        _fill(network, _read(file)[0])
    except (KeyError, ValueError, RuntimeError) as error:
        raise _unusable(file, str(error)) from error


def save_weights(file: Path, network: nn.Module) -> None:
    """Weights alone."""
    from safetensors.torch import save

    write_atomically(file, save({name: value.contiguous() for name, value in network.state_dict().items()}))


_MOST = (1024, 32, 64)


def _fill(reader: nn.Module, weights: dict[str, Tensor]) -> None:
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
