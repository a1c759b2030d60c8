"""Image pyramids of any size: means (mipmaps), also of sRGB in linear light, maximum and minimum (Hi-Z).

Where the levels of a batch of pyramids lie in one flat buffer stands first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from typing import Any, Literal

import numpy as np

from hra.errors import ArrayError, HraError
from hra.kernels.backends import adopt, check_image, choose_backend, device_of, dtype_of, give_back, on_host, writable
from hra.kernels.pyramids.levels.reductions import REDUCTIONS, Reduce


@dataclass(frozen=True)
class Layout:
    """Shapes and offsets of all levels; level ``l`` holds the whole batch, row-major, behind level ``l - 1``.

    Parameters
    ----------
    batch : the leading axes of the image; may be empty.
    sizes : (height, width) in pixels of every level, finest first.
    channels : the length of the last axis.

    Attributes
    ----------
    shapes : [..., H, W, C] of every level.
    offsets : first element of every level in the flat buffer, and last the buffer's length.
    size : elements of the flat buffer.
    """

    batch: tuple[int, ...]
    sizes: tuple[tuple[int, int], ...]
    channels: int
    shapes: tuple[tuple[int, ...], ...] = field(init=False, compare=False, repr=False)
    offsets: tuple[int, ...] = field(init=False, compare=False, repr=False)
    size: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        shapes = tuple((*self.batch, height, width, self.channels) for height, width in self.sizes)
        offsets = tuple(accumulate(map(math.prod, shapes), initial=0))
        vars(self).update(shapes=shapes, offsets=offsets, size=offsets[-1])

    @classmethod
    def of(cls, shape: tuple[int, ...], levels: int | None) -> Layout:
        """The layout for an image of ``shape`` [..., H, W, C] with at most ``levels`` levels."""
        *batch, height, width, channels = shape
        return cls(tuple(batch), _level_sizes(height, width, levels), channels)

    @property
    def images(self) -> int:
        """Number of images in the batch."""
        return math.prod(self.batch)

    @property
    def complete(self) -> bool:
        """Whether the coarsest level is a single pixel (or the image is empty)."""
        height, width = self.sizes[-1]
        return max(height, width) <= 1 or min(height, width) == 0

    def views(self, data: Any) -> tuple[Any, ...]:
        """The levels [..., H, W, C] as views of the flat buffer ``data``."""
        if self.size == 0:  # Warp cannot slice what is empty
            return tuple(data.reshape(shape) for shape in self.shapes)
        spans = pairwise(self.offsets)
        return tuple(data[begin:end].reshape(shape) for (begin, end), shape in zip(spans, self.shapes, strict=True))

    def stacks(self, data: Any) -> list[Any]:
        """The levels as views [B, H, W, C] of ``data``, whatever batch axes there are."""
        return list(replace(self, batch=(self.images,)).views(data))

    def holds(self, data: Any, image: Any) -> bool:
        """Whether ``image`` (as adopted) is level 0 of the flat buffer ``data`` itself."""
        level = self.views(data)[0]
        return _address(level) == _address(image) and tuple(level.strides) == tuple(image.strides)

    def place(self, image: np.ndarray, data: np.ndarray | None = None) -> np.ndarray:
        """A flat buffer, ``data`` or a new one, whose level 0 is ``image``; the other levels are not yet written."""
        # NumPy asks for huge pages: touching a new 340 MB buffer is 4 times faster than one from Warp's allocator.
        data = np.empty(self.size, image.dtype) if data is None else data
        if not self.holds(data, image):
            data[: image.size].reshape(image.shape)[...] = image
        return data


def halve(size: int) -> int:
    """Pixels of the next coarser level: half, rounded up."""
    return (size + 1) // 2


def _address(array: Any) -> int:
    """Where the first element of an adopted array lies in its device's memory."""
    return array.ctypes.data if isinstance(array, np.ndarray) else array.ptr


def _level_sizes(height: int, width: int, levels: int | None) -> tuple[tuple[int, int], ...]:
    _check_levels(levels)
    sizes = [(height, width)]
    # Ends: halving rounds up, which leaves nothing but 1 as it is.
    while max(height, width) > 1 and min(height, width) > 0 and len(sizes) != levels:
        height, width = halve(height), halve(width)
        sizes.append((height, width))
    return tuple(sizes)


def _check_levels(levels: int | None) -> None:
    valid = levels is None or (isinstance(levels, int | np.integer) and not isinstance(levels, bool) and levels >= 1)
    if not valid:
        fix = "a whole number >= 1, or None for all levels"
        raise HraError(f"levels is {levels!r}", where="argument levels", fix=fix)


@dataclass(frozen=True, eq=False)
class Pyramid:
    """All levels of an image, or of a batch of images, in one flat buffer.

    Parameters
    ----------
    data : the flat buffer; its kind, device and dtype are those of the image.
    layout : where the levels lie in it.
    reduce : how pixels became one: "mean", "block_mean", "srgb_mean", "max", "min", or "gaussian" (see
        :func:`gaussian_pyramid`).
    """

    data: Any
    layout: Layout
    reduce: Reduce | Literal["gaussian"]

    @classmethod
    def of_levels(cls, levels: Sequence[np.ndarray], reduce: Reduce) -> Pyramid:
        """A pyramid of levels [..., H, W, C] that are there already, copied."""
        layout = Layout.of(levels[0].shape, len(levels))
        if layout.shapes != tuple(level.shape for level in levels):
            raise ArrayError("each level has ceil(n / 2) of the finer one's pixels", where="argument levels")
        return cls(np.concatenate([level.reshape(-1) for level in levels]), layout, reduce)

    @property
    def levels(self) -> tuple[Any, ...]:
        """The levels [..., H, W, C] as views of ``data``, finest (the image itself) first."""
        return self.layout.views(self.data)

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shape [..., H, W, C] of every level."""
        return self.layout.shapes

    @property
    def offsets(self) -> tuple[int, ...]:
        """First element of every level in ``data``."""
        return self.layout.offsets[:-1]


def build_pyramid(
    image: Any, reduce: str = "mean", levels: int | None = None, backend: str = "auto", *, into: Pyramid | None = None
) -> Pyramid:
    """Reduce an image to ever coarser levels, each ceil(n / 2) pixels high and wide, down to a single pixel.

    "max" and "min": pixel ``i`` of a level covers pixels ``2i`` and ``2i + 1`` (where it exists) of the finer one, so
    pixel ``x`` of the image lies under ``x >> level``; a NaN makes every pixel above it NaN. "mean": pixel ``i`` of
    ``m`` is the mean of the interval [i n / m, (i + 1) n / m) of the finer level, with fractional weights at its ends
    where ``n`` is odd, so every level has the mean of the image; uint8 is rounded to nearest, ties to even, because
    rounding them up makes each level about 0.12 brighter than the one below. float16 is averaged in float32 and rounded
    once per level, to nearest. "block_mean": the mean of pixels 2i and 2i + 1, the last one of an odd size counting
    twice, so that pixel ``i`` of level ``l`` covers pixels i 2**l to (i + 1) 2**l of the image.
    "srgb_mean": the mean of linear light, for colours in sRGB (bytes, or floats with 1 for white); of 2 and of 4
    channels the last is alpha, which is linear and averaged as it is. Colours are not weighted by alpha. Level 0 is the
    image, bit for bit.

    Parameters
    ----------
    image : [..., H, W, C] float32, float16 or uint8; the last three axes are height, width, channels, the others a
        batch. NumPy, torch, Warp or any other array with DLPack, on the host or (with Warp) on a CUDA device; it is
        copied.
    reduce : "mean", "block_mean", "srgb_mean", "max" or "min".
    levels : largest number of levels, level 0 (the image) included; None goes down to 1 x 1. An image without pixels
        has one level.
    into : an earlier pyramid of such an image, whose memory is written again: at 4096 x 4096 a fresh buffer costs as
        much as the reduction. An ``image`` that is its level 0, drawn or decoded right there, is not copied either.
    backend : "auto", "reference", "numba", "warp", "gl" or the name of an entry point in ``hra.backends``.

    Returns
    -------
    Pyramid : of the same kind of array, device and dtype as the image.

    Raises
    ------
    ArrayError : no array, fewer than three axes, or another dtype; a pyramid to write into that does not fit.
    HraError : unknown reduction, or ``levels`` below 1.
    BackendUnavailable : the backend is missing or cannot read the device.

    Notes
    -----
    Weights for odd sizes: Guthe and Heckbert, Non-Power-of-Two Mipmapping, NVIDIA 2005, here for sizes rounded up.
    sRGB: IEC 61966-2-1. "max": Greene, Kass and Miller, Hierarchical Z-Buffer Visibility, SIGGRAPH 1993.

    On the host, large images take a thread per core, or as many as NUMBA_NUM_THREADS says; the result does not depend
    on their number. Backends agree exactly for "max", "min" and the mean of bytes. One level differs by at most 2e-6 of
    the largest value for float32, a unit in the last place for float16, and a byte for sRGB, where the exact value lies
    within 1e-3 of a tie.
    """
    reduction = _check_reduce(reduce)
    adopted = adopt(image, "image")
    check_image(adopted)
    layout = Layout.of(tuple(adopted.shape), levels)
    chosen = choose_backend(backend, adopted)
    memory = None if into is None else _memory(into, layout, adopted)
    data = chosen.build_pyramid(adopted, layout, reduction, memory) if layout.size else adopted.reshape(0)
    if into is None and not isinstance(image, np.ndarray):
        data = give_back(data, image)
    return Pyramid(data if into is None else into.data, layout, reduction)


def _memory(into: Pyramid, layout: Layout, image: Any) -> Any:
    """The flat buffer of ``into``, as adopted, if it can hold the pyramid of ``image``."""
    data, where = writable(into.data, "into"), "argument into"
    if into.layout != layout or dtype_of(data) != dtype_of(image) or device_of(data) != device_of(image):
        what = f"a pyramid of {dtype_of(data)} {into.shapes[0]} cannot hold one of {dtype_of(image)} {layout.shapes[0]}"
        raise ArrayError(what, where=where, fix="use one of an image of the same shape, dtype and device")
    if on_host(data) and not data.flags.writeable:
        raise ArrayError("the pyramid is read-only", where=where)
    if on_host(data) and np.may_share_memory(data, image) and not layout.holds(data, image):
        raise ArrayError("the image overlaps the pyramid without being its level 0", where=where, fix="pass a copy")
    return data


def _check_reduce(reduce: str) -> Reduce:
    """Return ``reduce`` if it names a reduction, else raise :class:`HraError`."""
    for known in REDUCTIONS:
        if reduce == known:
            return known
    raise HraError(f"unknown reduction {reduce!r}", where="argument reduce", fix=f"one of {', '.join(REDUCTIONS)}")
