"""The same in PyTorch, on one and on two threads of the processor or on the CUDA device."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from hra.errors import BackendUnavailable, needs
from hra_lab.bench.devices import HOST, Device
from hra_lab.bench.harness import Contender
from hra_lab.bench.kernels.levels import band_levels, coarser_levels, halvings
from hra_lab.bench.kernels.peers import Peer

_THREADS = (1, 2)


def contenders(
    device: Device, name: str, run: Callable[[Any], Any], prepare: Callable[[Any], Any], read: Callable[[Any], Any]
) -> Iterator[Contender]:
    """A contender for each number of threads; on a CUDA device the processor's threads do not matter."""
    for count in _THREADS if device.on_host else _THREADS[:1]:
        title = f"{name}, {count} thread{'s' * (count > 1)}" if device.on_host else name
        yield Contender(title, partial(_on_threads, count, run), prepare, read=read, threads=count)


def pool_levels(channels: int, *, largest: bool = False) -> Peer:
    """All coarser levels by avg_pool2d, or max_pool2d, in the layouts that differ."""

    def peer(device: Device) -> Iterator[Contender]:
        torch = load(device)
        pool = max_levels if largest else _mean_pool
        function = "max_pool2d" if largest else "avg_pool2d"
        for layout in ("NCHW", "channels_last") if channels > 1 else ("NCHW",):
            order = torch.channels_last if layout == "channels_last" else torch.contiguous_format

            def prepare(image: np.ndarray, order: Any = order) -> Any:
                tensor = torch.as_tensor(image, device=device.name)
                return tensor.permute(2, 0, 1)[None].contiguous(memory_format=order)

            yield from contenders(device, f"torch {function} {layout}", pool, prepare, _read_levels)

    return peer


def gaussian(device: Device, *, levels: int) -> Iterator[Contender]:
    """The coarser levels of a Gaussian pyramid by convolutions of one channel each."""
    run = partial(coarser_levels, step=partial(_halve, _binomial(device)), count=levels - 1)
    yield from contenders(device, "torch conv2d", run, partial(_as_batch, device), _read_levels)


def laplacian(device: Device, *, levels: int) -> Iterator[Contender]:
    """The bands and the rest of a Laplacian pyramid by the same convolutions."""
    weights = _binomial(device)
    run = partial(band_levels, step=partial(_halve, weights), expand=partial(_expand, weights), count=levels)
    yield from contenders(device, "torch conv2d", run, partial(_as_batch, device), _read_levels)


def max_levels(image: Any) -> list[Any]:
    """The coarser maximum levels of a tensor [B, C, H, W] of any size."""
    pool = load().nn.functional.max_pool2d
    return coarser_levels(image, lambda level: pool(level, 2, ceil_mode=True), halvings(*image.shape[-2:]))


def tensors(arrays: Any, device: Device) -> Any:
    """NumPy arrays, also in tuples of tuples, as tensors on the device."""
    if isinstance(arrays, tuple):
        parts = [tensors(part, device) for part in arrays]
        return type(arrays)(*parts) if hasattr(arrays, "_fields") else tuple(parts)
    return load().as_tensor(arrays, device=device.name)


def load(device: Device = HOST) -> Any:
    """The module torch; raises `MissingExtra` without it, `BackendUnavailable` if it cannot use the device."""
    with needs("torch", "torch"):
        import torch
    if device.name.startswith("cuda") and not torch.cuda.is_available():
        raise BackendUnavailable(f"torch cannot use {device.name}", where="device", fix="install torch with CUDA")
    return torch


def _mean_pool(image: Any) -> list[Any]:
    """Bytes are averaged as float32 and every level is rounded: torch cannot pool them."""
    torch = load()
    pool = torch.nn.functional.avg_pool2d
    levels = coarser_levels(image.float(), lambda level: pool(level, 2), halvings(*image.shape[-2:]))
    return [level.round().to(image.dtype) for level in levels] if image.dtype == torch.uint8 else levels


def _as_batch(device: Device, image: np.ndarray) -> Any:
    """[H, W, C] as contiguous [1, C, H, W]."""
    return load().as_tensor(image, device=device.name).permute(2, 0, 1)[None].contiguous()


def _binomial(device: Device) -> Any:
    return load(device).tensor([1.0, 4.0, 6.0, 4.0, 1.0], device=device.name) / 16


def _halve(weights: Any, image: Any) -> Any:
    return _blur(weights, image, stride=2)


def _expand(weights: Any, coarse: Any) -> Any:
    batch, channels, height, width = coarse.shape
    fine = coarse.new_zeros((batch, channels, 2 * height, 2 * width))
    fine[..., ::2, ::2] = coarse
    return 4 * _blur(weights, fine, stride=1)


def _blur(weights: Any, image: Any, stride: int) -> Any:
    """Rows and columns weighted by ``weights`` [5], mirrored at the border; every ``stride``-th is computed."""
    convolve, pad = load().nn.functional.conv2d, load().nn.functional.pad
    channels = image.shape[1]
    weights = weights.expand(channels, 1, 1, 5)
    mirrored = pad(image, (2, 2, 2, 2), mode="reflect")
    rows = convolve(mirrored, weights.transpose(2, 3), stride=(stride, 1), groups=channels)
    return convolve(rows, weights, stride=(1, stride), groups=channels)


def _read_levels(levels: list[Any]) -> list[np.ndarray]:
    return [level[0].permute(1, 2, 0).cpu().numpy() for level in levels]


def _on_threads(count: int, run: Callable[[Any], Any], prepared: Any) -> Any:
    with _threads(count):
        return run(prepared)


@contextmanager
def _threads(count: int) -> Iterator[None]:
    torch = load()
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
