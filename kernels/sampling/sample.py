"""Filtered look-ups in a pyramid: trilinear, and anisotropic by probes along the longer side of a footprint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hra.errors import ArrayError, BackendUnavailable
from hra.kernels.backends import FLOATS, adopt, dtype_of, give_back, implementation
from hra.kernels.pyramids.levels.pyramid import Layout, Pyramid
from hra.kernels.pyramids.levels.rectangles import check_batch, check_device

PACKAGE = "hra.kernels.sampling"
MOST_PROBES = 16
"""Look-ups along a footprint, the usual limit of hardware."""
HARDWARE_STEP = 1 / 256
"""Steps of a texture unit's weights along x, y and between levels: fractions of 8 bits are usual."""


@dataclass(frozen=True, eq=False)
class Look:
    """What backends look up, all arrays on one device.

    Parameters
    ----------
    data : the flat buffer; layout : where its levels lie.
    maps : float64 [L, 4], scale and shift along x, then y, from points to the centres of a level's pixels.
    points : float32 or float64 [K, 2]; index : int32 [K], the image of each, or None.
    level : [K] of the same dtype, or None; footprint : [K, 2, 2] or None. One of the two is there.
    """

    data: Any
    layout: Layout
    maps: np.ndarray
    points: Any
    index: Any | None
    level: Any | None
    footprint: Any | None


def sample(
    pyramid: Pyramid,
    points: Any,
    level: Any | None = None,
    footprint: Any | None = None,
    *,
    batch_index: Any | None = None,
    hardware: bool = False,
    backend: str = "auto",
) -> Any:
    """The image at points, each filtered to a level of detail or over a footprint.

    With ``level``: bilinear in the two levels around it, and linear between them (Williams, Pyramidal Parametrics,
    SIGGRAPH 1983). With ``footprint``: the mean of N such look-ups spread evenly along its longer side, N = ceil(longer
    / shorter) and at most 16, each at the level log2(longer / N); sides below a pixel count as one (after OpenGL's
    EXT_texture_filter_anisotropic, which leaves the places open). Outside, the edge is repeated. NaN in a point, in its
    level or in one of the pixels that it reads gives NaN.

    Parameters
    ----------
    pyramid : of :func:`build_pyramid` or :func:`gaussian_pyramid`, with any number of levels.
    points : float32 or float64 [K, 2], (x, y) in pixels of level 0, whose first pixel is centred at (0.5, 0.5).
    level : [K] like ``points``, cut to the levels that there are.
    footprint : [K, 2, 2] like ``points``, the two sides (dx, dy) of what a sample stands for, in pixels of level 0.
    batch_index : int32 [K], the image of each point; may be omitted for a single image.
    hardware : by the texture units: "warp" has a texture for each level (`warp.texture_sample`), "gl" one with all of
        them (``textureLod``). 1 to 4 channels. Their weights have steps of 1/256 on usual GPUs, so that a value may be
        off by 3/256 of the range of the pixels that it reads, and bytes by one more.
    backend : "auto", "reference", "numba", "warp", or "gl" with ``hardware``, where the levels are those of
        "block_mean" or have even sizes (or 1).

    Returns
    -------
    array : float32 [K, C], kind and device of the pyramid; bytes stay in 0 to 255. Backends agree within 1e-6 of the
        largest value.

    Raises
    ------
    ArrayError : wrong shape, dtype or device, both or none of ``level`` and ``footprint``, or an image without pixels.
    BackendUnavailable : the backend is missing, cannot read the device, or lacks what is asked for.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.kernels import build_pyramid
    >>> pyramid = build_pyramid(np.arange(16, dtype=np.float32).reshape(4, 4, 1))
    >>> sample(pyramid, np.array([[1.0, 0.5], [2.0, 2.0]]), level=np.array([0.0, 2.0])).tolist()
    [[0.5], [7.5]]
    """
    data = adopt(pyramid.data, "pyramid")
    places = _adopt(data, points, "points", 2)
    count = places.shape[0]
    if (level is None) == (footprint is None):
        raise ArrayError("one of level and footprint is needed", where="arguments level, footprint")
    levels = None if level is None else _adopt(data, level, "level", None, count, dtype_of(places))
    sides = None if footprint is None else _adopt(data, footprint, "footprint", 4, count, dtype_of(places))
    index = None if batch_index is None else adopt(batch_index, "batch_index")
    if index is not None and (tuple(index.shape) != (count,) or dtype_of(index) != np.int32):
        raise ArrayError(f"{dtype_of(index)} {tuple(index.shape)} is not int32 [{count}]", where="argument batch_index")
    check_batch(pyramid, index)
    if count and not pyramid.layout.size:
        raise ArrayError("an image without pixels has no values", where="argument pyramid")
    module = _module(backend, data, hardware)
    look = Look(data, pyramid.layout, level_maps(pyramid), places, index, levels, sides)
    return give_back((module.sample_by_hardware if hardware else module.sample)(look), pyramid.data)


def level_maps(pyramid: Pyramid) -> np.ndarray:
    """From (x, y) in pixels of level 0 to the pixels of each level, counted from their centres: see `Look.maps`."""
    layout = pyramid.layout
    cells = 2.0 ** np.arange(len(layout.sizes))[:, None]
    shift = np.full((len(cells), 2), -0.5)
    if pyramid.reduce == "gaussian":
        # Pixel i lies on pixel 2i of the finer level.
        scale, shift = np.repeat(1 / cells, 2, axis=1), np.repeat(-0.5 / cells, 2, axis=1)
    elif pyramid.reduce in ("mean", "srgb_mean"):
        # Every level covers the whole image.
        scale = np.array(layout.sizes)[:, ::-1] / np.maximum(layout.sizes[0][::-1], 1)
    else:
        scale = np.repeat(1 / cells, 2, axis=1)
    return np.stack([scale, shift], axis=2).reshape(-1, 4)


def probes(look: Look, part: slice = slice(None)) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What is looked up for each point: how often, int64 [K], along which side, float64 [K, 2], at which level [K]."""
    top = len(look.layout.sizes) - 1
    if look.footprint is None:
        level = np.clip(np.asarray(look.level)[part], 0, top, dtype=np.float64)
        return np.ones(len(level), np.int64), np.zeros((len(level), 2)), level
    sides = np.asarray(look.footprint[part], np.float64)
    length = np.maximum(np.sqrt(sides[..., 0] ** 2 + sides[..., 1] ** 2), 1)
    longer = length.max(axis=1)
    count = np.ceil(np.fmin(np.fmax(longer / length.min(axis=1), 1), MOST_PROBES))
    along = np.where((length[:, :1] >= length[:, 1:]), sides[:, 0], sides[:, 1])
    return count.astype(np.int64), along, np.clip(np.log2(longer / count), 0, top)


def _adopt(
    data: Any, array: Any, name: str, width: int | None, count: int | None = None, dtype: np.dtype | None = None
) -> Any:
    """The adopted floats [K], [K, 2] or [K, 2, 2] beside the pyramid's buffer."""
    adopted = adopt(array, name)
    tail = {None: (), 2: (2,), 4: (2, 2)}[width]
    shape, found = tuple(adopted.shape), dtype_of(adopted)
    if len(shape) != 1 + len(tail) or shape[1:] != tail or count not in (None, shape[0]):
        expected = ", ".join(map(str, ("K" if count is None else count, *tail)))
        raise ArrayError(f"shape {list(shape)} is not [{expected}]", where=f"argument {name}")
    if found not in FLOATS or (dtype is not None and dtype != found):
        fix = "points, level and footprint are all float32 or all float64"
        raise ArrayError(f"dtype {found} does not fit", where=f"argument {name}", fix=fix)
    check_device(data, adopted, name)
    return adopted


def _module(backend: str, data: Any, hardware: bool) -> Any:
    if not hardware:
        if backend == "gl":
            what = "the backend 'gl' samples by texture units only"
            raise BackendUnavailable(what, where="argument backend", fix="pass hardware=True, or use 'auto'")
        return implementation(PACKAGE, backend, data)
    return implementation(PACKAGE, "warp" if backend == "auto" else backend, data, ("warp", "gl"))


def check_channels(layout: Layout, where: str) -> None:
    """Raise :class:`BackendUnavailable` unless a texture can hold the channels."""
    if not 1 <= layout.channels <= 4:
        what = f"texture units have 1 to 4 channels, not {layout.channels}"
        raise BackendUnavailable(what, where=where, fix="pass hardware=False")


def images_of(look: Look) -> np.ndarray:
    """The images of all points on the host."""
    return np.zeros(len(look.points), np.int32) if look.index is None else look.index
