"""The image from its tokens alone, from coarse to fine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hra.domains.tokens.pyramid.blocks import block_sums
from hra.domains.tokens.pyramid.interpolation import halve, refine

_NO_TOKENS = np.float32(0.5)  # mid-grey, where there is not even a mean


def reconstruct(values: np.ndarray, positions: np.ndarray, image_size: tuple[int, int], patch: int) -> np.ndarray:
    """Reconstruct an image from patches at several levels.

    Pull: a patch whose children are all known is their mean. Push: from the coarsest level down, each level is
    interpolated to the next finer one (see `interpolation`), and known patches overwrite it. Pixels that no token
    covers get the mean of all token values; without any token they are mid-grey.

    Source: pull-push, S. Gortler et al., "The Lumigraph" (SIGGRAPH 1996), with average interpolation as the push.

    Parameters
    ----------
    values : float32 [K, patch * patch * 3]; positions : int [K, 3], (level, x, y).
    image_size : (height, width) in pixels.

    Returns
    -------
    float32 [height, width, 3] in [0, 1]; exact wherever a token of level 0 is.
    """
    mean = np.float32(values.mean(dtype=np.float64)) if values.size else _NO_TOKENS
    image = _push(_pull(values, positions, image_size, patch), patch, mean)
    return np.clip(image, 0, 1, out=image)


@dataclass(frozen=True, eq=False)
class _Canvas:
    """One level: pixels float32 [h, w, 3], and which of its patches are known, bool [rows, columns]."""

    pixels: np.ndarray
    known: np.ndarray

    def over(self, background: np.ndarray, patch: int) -> np.ndarray:
        """``background`` [h, w, 3] with the known patches written on top."""
        height, width, channels = self.pixels.shape
        # The mask for every channel: broadcasting along three entries takes twice as long.
        shown = _enlarge(self.known, patch, height, width * channels, channels).reshape(self.pixels.shape)
        np.copyto(background, self.pixels, where=shown)
        return background


def _pull(values: np.ndarray, positions: np.ndarray, image_size: tuple[int, int], patch: int) -> list[_Canvas]:
    """What the tokens tell about each level, from fine to coarse."""
    canvases = [_paste(None, values, positions, image_size, patch, 0)]
    for level in range(1, int(positions[:, 0].max(initial=0)) + 1):
        canvases.append(_paste(_halve(canvases[-1]), values, positions, image_size, patch, level))
    return canvases


def _paste(
    below: _Canvas | None,
    values: np.ndarray,
    positions: np.ndarray,
    image_size: tuple[int, int],
    patch: int,
    level: int,
) -> _Canvas:
    """The tokens of one level on top of what is known from finer ones."""
    here = positions[:, 0] == level
    if below is not None and not here.any():
        return below
    height, width = (-(-extent >> level) for extent in image_size)
    rows, columns = -(-height // patch), -(-width // patch)
    x, y = positions[here, 1], positions[here, 2]
    blocks = np.zeros((rows, patch, columns, patch, 3), np.float32)
    blocks[y, :, x] = values[here].reshape(-1, patch, patch, 3)
    known = np.zeros((rows, columns), bool)
    known[y, x] = True
    pasted = _Canvas(blocks.reshape(rows * patch, columns * patch, 3)[:height, :width], known)
    return pasted if below is None else _Canvas(pasted.over(below.pixels, patch), known | below.known)


def _halve(canvas: _Canvas) -> _Canvas:
    """The next coarser level; a patch is known if all its children are."""
    return _Canvas(halve(canvas.pixels), block_sums((~canvas.known).astype(np.int32), 2) == 0)


def _push(canvases: list[_Canvas], patch: int, mean: np.float32) -> np.ndarray:
    """Interpolate from coarse to fine; what no level knows is ``mean``."""
    image = canvases[-1].over(np.full_like(canvases[-1].pixels, mean), patch)
    covered = canvases[-1].known
    for canvas in canvases[-2::-1]:
        height, width = canvas.pixels.shape[:2]
        image = canvas.over(refine(image, height, width), patch)
        covered = _enlarge(covered, 2, *canvas.known.shape) | canvas.known
    return image if covered.all() else _Canvas(image, covered).over(np.full_like(image, mean), patch)


def _enlarge(mask: np.ndarray, size: int, height: int, width: int, wider: int = 1) -> np.ndarray:
    """Every entry repeated ``size`` x ``size * wider`` times, cut to [height, width]."""
    return mask.repeat(size * wider, axis=1)[:, :width].repeat(size, axis=0)[:height]
