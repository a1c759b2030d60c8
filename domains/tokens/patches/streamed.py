"""Images that do not fit into memory, as the errors of their patches: of one pass, or of the levels that a file has.

The errors are those of repeated pixels (the Haar transform), which need no pixel beyond a patch and add up exactly from
level to level; those of interpolated levels would need the blocks around.

**Without a pass.** Let m be a pixel of level l, the mean of 4**l pixels in [0, 1]. Their squared distances from it add
up to at most 4**l m (1 - m) (R. Bhatia and C. Davis, "A better bound on the variance", 2000), and splitting m into
four means m' lowers the sum of these bounds by exactly the squared error that the split removes, 4**(l - 1) sum
(m' - m)**2. So with the bound in place of the error every gain is exact, children never have more than their parent,
and what is left is the most that can be there.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np

from hra.caching import cached_property, kept
from hra.compiling import njit
from hra.domains.tokens.pyramid.blocks import block_maxima, block_sums
from hra.domains.tokens.pyramid.interpolation import halve
from hra.domains.tokens.pyramid.pyramid import checked_sizes, full_depth, patch_boxes
from hra.errors import ArrayError, FileError
from hra.files.atomic_write import write_atomically
from hra.files.images.arrays import as_image
from hra.files.images.regions import RegionFile, open_regions
from hra.files.job_folder import open_job
from hra.files.local_files import open_regular
from hra.files.plain_arrays import plain_archive, save_plain

_BLOCK = 6  # levels of a block: 64 patches along a side, 1024 pixels of patches of 16
_OVERVIEW = 1280  # pixels along the longer side of the finest level that is kept, at most, up to _BLOCK halvings
_IN_MEMORY = 2**26  # pixels up to which the errors of a file are found anew each time
_STEPS = 3  # halvings from a level that a file has to one that it lacks
_KEPT_BYTES = 2**26  # of stored errors that stay in memory
_VERSION = 1
_KEPT = ("overview", "under", "sharp")  # of each row of blocks, what stays in memory


class Sliced(Protocol):
    """An image [H, W, C] of which rectangles can be read: a level of `hra.domains.textures.open_image`, a memmap ..."""

    @property
    def shape(self) -> tuple[int, ...]:
        """(H, W, C)."""
        ...

    def __getitem__(self, key: Any, /) -> Any:
        """The pixels of two slices, as `hra.files.images.as_image` takes them."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class StreamedImage:
    """An image of any size as the error of every patch at every level, with small copies; made by `read` or `open`.

    Attributes
    ----------
    source : the image; read again where tokens are made.
    patch : side of a patch in pixels.
    details : for every level l from 1 on, float32 on the grid of the patches of level l - 1: squared error that showing
        level l adds to showing level l - 1. None for levels below `first` of a file whose own levels are read instead.
    overview : float32 [h, w, 3], levels from `first` on.
    first : the finest level that is kept.
    levels : level to `Sliced`, those that can be read; 0 is ``source``.
    under : float64, what all details below `first` add up to, by patch of that level; None where they are unknown.
    sharp : float32, the largest detail of a finest patch in each of them, which print has; None where it is unknown.
    file : what they belong to, None for an array.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains import tokens
    >>> image = np.random.default_rng(0).random((3000, 2000, 3), dtype=np.float32)  # or a file that is far too large
    >>> streamed = tokens.StreamedImage.read(image)
    >>> streamed
    StreamedImage(3000 x 2000 pixels, 9 levels of patches of 16)
    """

    source: Sliced
    patch: int
    details: tuple[Any, ...]
    overview: tuple[np.ndarray, ...]
    first: int
    levels: Mapping[int, Sliced] = field(default_factory=dict)
    file: RegionFile | None = None
    under: np.ndarray | None = None
    sharp: np.ndarray | None = None

    def __repr__(self) -> str:
        """Size and levels."""
        height, width = self.size
        return f"StreamedImage({height} x {width} pixels, {len(self.details) + 1} levels of patches of {self.patch})"

    @classmethod
    def read(cls, source: Sliced, *, patch: int = 16) -> StreamedImage:
        """Read an image once, in blocks of 64 x 64 patches, into memory: 60 MB for 40,000 x 40,000 pixels.

        Raises
        ------
        ArrayError : no image, or an odd patch.
        ImageError : pixels that are not image's.
        """
        patch, _ = checked_sizes(patch)
        size, first = _checked(source, patch)
        rows = [_block_row(source, size, patch, first, y) for y in range(0, size[0], patch << _BLOCK)]
        details = [np.concatenate([row[f"detail{k}"] for row in rows]) for k in range(first)]
        small, *sums = (np.concatenate([row[name] for row in rows]) for name in _KEPT)
        return cls._of(source, patch, details, small, first, sums=sums)

    @classmethod
    def open(
        cls,
        path: Any,
        *,
        patch: int = 16,
        folder: str | os.PathLike[str] | None = None,
        channels: Sequence[int] | None = None,
        window: tuple[float, float] | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> StreamedImage:
        """Open an image file of any size, see `open_regions`.

        A file with levels is read where tokens go, and no further. One without gets one pass; what is found out of more
        than 8,192 x 8,192 pixels is kept in ``folder``, block row by block row with checksums, so that a pass that was
        stopped goes on, and is used from then on.

        Parameters
        ----------
        folder : where the errors are kept; named, it asks for a pass over files with levels, too: their errors are then
            exact, and gaps small. By default FILE.levels beside the file.
        channels, window : see `open_regions`.
        progress : is told how far the pass is.

        Raises
        ------
        FileError : the file cannot be read, or the folder not written, or it is damaged.
        ImageError : not an image, or a damaged tile, which is named.
        HraError : the folder belongs to another state of the file; MissingExtra : a reader is not installed.
        """
        file = open_regions(path, channels=channels, window=window)
        source = file.levels[0]
        patch, _ = checked_sizes(patch)
        size, first = _checked(source, patch)
        levels = _halves(file)
        stored = Path(folder) if folder is not None else file.path.with_name(f"{file.path.name}.levels")
        if folder is None and not stored.is_dir():
            nearest = max(k for k in levels if k <= first)
            if len(levels) > 1 and first - nearest <= _STEPS:
                unread = cls(source, patch, (None,) * first, (), first, levels, file)
                small = unread.pixels(first, (0, -(-size[0] >> first)), (0, -(-size[1] >> first)))
                return cls._of(source, patch, unread.details, small, first, levels, file)
            if size[0] * size[1] <= _IN_MEMORY:
                known = cls.read(source, patch=patch)
                return replace(known, levels=levels, file=file)
        status = file.path.stat()
        facts = {"version": _VERSION, "name": file.path.name, "bytes": status.st_size, "changed": status.st_mtime_ns}
        facts |= {"size": list(size), "patch": patch, "channels": channels and list(channels), "window": window}
        open_job(stored, facts, "rows-*.npz")
        names = [stored / f"rows-{n:05}.npz" for n in range(-(-size[0] // (patch << _BLOCK)))]
        rows: list[list[np.ndarray]] = []
        for number, name in enumerate(names):
            if not name.exists():
                if progress is not None:
                    progress(f"{file.path.name}: one pass, {number / len(names):.0%}")
                row = _block_row(source, size, patch, first, number * (patch << _BLOCK))
                write_atomically(name, partial(_save, row))
            rows.append([_load(name, part) for part in _KEPT])
        kept = _Stored(names)
        details = [_StoredGrid(kept, k, _grid(size, patch, k)) for k in range(first)]
        small, *sums = map(np.concatenate, zip(*rows, strict=True))
        return cls._of(source, patch, details, small, first, levels, file, sums)

    @classmethod
    def _of(
        cls,
        source: Sliced,
        patch: int,
        details: Sequence[Any],
        small: np.ndarray,
        first: int,
        levels: Mapping[int, Sliced] | None = None,
        file: RegionFile | None = None,
        sums: Sequence[np.ndarray] = (),
    ) -> StreamedImage:
        """An image with the levels from ``first`` on, which follow from the first of them."""
        overview, more = [small], list(details)
        for level in range(first, full_depth(source.shape[:2], patch) - 1):
            coarse, detail = halvings(overview[-1], np.float32(1), patch, 4.0**level)
            overview.append(coarse)
            more.append(detail)
        return cls(source, patch, tuple(more), tuple(overview), first, levels or {0: source}, file, *sums)

    @property
    def size(self) -> tuple[int, int]:
        """(height, width) in pixels."""
        return int(self.source.shape[0]), int(self.source.shape[1])

    @property
    def spacing(self) -> float | None:
        """Metres that a pixel is wide, None if unknown."""
        return None if self.file is None else self.file.spacing

    @property
    def tiles_read(self) -> int:
        """Tiles of the file that were decoded so far; 0 for an array."""
        return 0 if self.file is None else self.file.tiles_read

    @property
    def is_known(self) -> bool:
        """Whether the errors of all patches are known; otherwise levels of the file are read, and errors are bounds."""
        return self.under is not None

    once = kept

    @cached_property
    def beneath(self) -> tuple[np.ndarray, np.ndarray]:
        """Squared error of every patch of level `first`, and what may be gained below it, float64 [rows, columns].

        Both are the same where errors are known. Otherwise the first is a bound, and the second a guess: that each
        level below holds as much as the one above, as in pictures whose spectrum falls by the square of the frequency.
        """
        if self.under is not None:
            return self.under, self.under
        most = _spread(self.overview[0], self.patch, self.first)
        above = self.details[self.first] if self.first < len(self.details) else most
        return most, np.minimum(most, above * float(self.first))

    def split(self, level: int, x: int, y: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The patches one level finer in a patch of level 1 to `first`, float64 [rows, columns] each.

        Returns
        -------
        own : squared error while they show their regions; inherited : while the patch above does; gain : what may be
        gained below them.
        """
        return self.once((StreamedImage, level, x, y), lambda: self._split(level, x, y))

    def _split(self, level: int, x: int, y: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        fine = level - 1
        rows, columns = _grid(self.size, self.patch, fine)
        down, across = (2 * y, min(2 * y + 2, rows)), (2 * x, min(2 * x + 2, columns))
        if self.is_known:
            split = np.asarray(self.details[fine][slice(*down), slice(*across)], np.float64)
            own = np.zeros_like(split)
            for k in range(fine):
                times = 2 ** (fine - k)
                part = self.details[k][down[0] * times : down[1] * times, across[0] * times : across[1] * times]
                own += block_sums(np.asarray(part, np.float64), times)
            return own, own + split, own
        sides = [(low * self.patch, high * self.patch) for low, high in (down, across)]
        pixels = self.pixels(fine, *sides)
        split = halvings(pixels, np.float32(1), self.patch, 4.0**fine)[1].astype(np.float64)
        most = _spread(pixels, self.patch, fine)
        return most, most + split, np.minimum(most, split * fine)

    def pixels(self, level: int, rows: tuple[int, int], columns: tuple[int, int]) -> np.ndarray:
        """A rectangle of a level, float32 [h, w, 3], cut off where the level ends."""
        height, width = (-(-side >> level) for side in self.size)
        (top, bottom), (left, right) = (rows[0], min(rows[1], height)), (columns[0], min(columns[1], width))
        if level >= self.first and self.overview:
            return self.overview[level - self.first][top:bottom, left:right]
        nearest = max(k for k in self.levels if k <= level)
        scale, image = 2 ** (level - nearest), self.levels[nearest]
        ends = (top, bottom), (left, right)
        # Levels of files may be rounded down: what is missing at the border is repeated.
        pixels = as_image(
            image[
                tuple(
                    slice(min(a * scale, n - 1), min(b * scale, n))
                    for (a, b), n in zip(ends, image.shape[:2], strict=True)
                )
            ]
        )
        for _ in range(level - nearest):
            pixels = halve(pixels)
        missing = [(0, b - a - have) for (a, b), have in zip(ends, pixels.shape[:2], strict=True)]
        return np.pad(pixels, [*missing, (0, 0)], mode="edge") if any(map(any, missing)) else pixels

    def values(self, places: np.ndarray) -> np.ndarray:
        """Pixel values of patches [K, 3] at (level, x, y), float32 [K, patch * patch * 3]; fine ones are read again."""
        # Row by row of tiles, so that each is read once.
        found, order = [np.empty(0)] * len(places), np.lexsort((places[:, 1], places[:, 2], places[:, 0]))
        for index in order.tolist():
            level, x, y = places[index].tolist()
            pixels = self.pixels(level, (y * self.patch, (y + 1) * self.patch), (x * self.patch, (x + 1) * self.patch))
            missing = [(0, self.patch - extent) for extent in pixels.shape[:2]]
            found[index] = np.pad(pixels, [*missing, (0, 0)], mode="edge").ravel()
        return np.stack(found)


def _checked(source: Sliced, patch: int) -> tuple[tuple[int, int], int]:
    """Height and width, and the finest level that is kept."""
    shape = getattr(source, "shape", None)
    if not isinstance(shape, tuple) or len(shape) != 3 or 0 in shape:
        kind = f"a {type(source).__name__}" if shape is None else f"an image of shape {shape}"
        fix = "pass an image [H, W, C], or the path of a file to StreamedImage.open"
        raise ArrayError(f"{kind} cannot be read by rectangles", where="source", fix=fix)
    size = (int(source.shape[0]), int(source.shape[1]))
    wanted = (-(-max(size) // _OVERVIEW) - 1).bit_length()
    return size, max(min(_BLOCK, wanted, full_depth(size, patch) - 1), 0)


def _halves(file: RegionFile) -> dict[int, Sliced]:
    """The levels of a file that are halvings of its finest one, up to a pixel."""
    height, width, _ = file.levels[0].shape
    found: dict[int, Sliced] = {0: file.levels[0]}
    for level in file.levels[1:]:
        k = round(np.log2(width / level.shape[1]))
        if all(abs(have - whole / 2**k) <= 1 for have, whole in zip(level.shape, (height, width), strict=False)):
            found.setdefault(k, level)
    return found


def _grid(size: tuple[int, int], patch: int, level: int) -> tuple[int, int]:
    return -(-size[0] // (patch << level)), -(-size[1] // (patch << level))


def _block_row(source: Sliced, size: tuple[int, int], patch: int, first: int, top: int) -> dict[str, np.ndarray]:
    """What a row of blocks from pixel row ``top`` on leaves: its part of the overview and of the details below."""
    side = patch << _BLOCK
    parts: dict[str, list[np.ndarray]] = {name: [] for name in (*_KEPT, *(f"detail{k}" for k in range(first)))}
    for pixels in _blocks(source, size, top, side):
        # Whole numbers are scaled where they are added up: a copy in floats would take longer than the sums.
        whole = pixels.dtype in (np.uint8, np.uint16) and pixels.ndim == 3 and pixels.shape[2] == 3
        scale = np.float32(1 / np.iinfo(pixels.dtype).max) if whole else np.float32(1)
        level = pixels if whole else as_image(pixels)
        under = np.zeros((-(-pixels.shape[0] // (patch << first)), -(-pixels.shape[1] // (patch << first))))
        for k in range(first):
            level, detail = halvings(level, scale, patch, 4.0**k)
            scale = np.float32(1)
            under += block_sums(detail.astype(np.float64), 2 ** (first - k))
            parts[f"detail{k}"].append(detail)
        parts["under"].append(under)
        parts["sharp"].append(block_maxima(parts["detail0"][-1], 1 << first) if first else under.astype(np.float32))
        parts["overview"].append(level if level.dtype == np.float32 else as_image(level))
    return {name: np.concatenate(each, axis=1) for name, each in parts.items()}


def _blocks(source: Sliced, size: tuple[int, int], top: int, side: int) -> Iterator[np.ndarray]:
    bottom = min(top + side, size[0])
    tiles = getattr(source, "tiles", None)
    if tiles is not None and tiles.tile[1] > side:  # strips: each is read once, for all blocks that it crosses
        band = np.concatenate([source[y : min(y + 64, bottom), 0 : size[1]] for y in range(top, bottom, 64)])
        yield from (band[:, x : x + side] for x in range(0, size[1], side))
        return
    for x in range(0, size[1], side):
        yield np.asarray(source[top:bottom, x : min(x + side, size[1])])


@njit(cache=True, nogil=True)
def halvings(pixels, scale, patch, weight):
    """The next coarser level [h / 2, w / 2, 3], and the squared error that it adds in every patch of this one.

    An odd edge is repeated; only real pixels count.
    """
    height, width, _ = pixels.shape
    rows, columns = (height + 1) // 2, (width + 1) // 2
    coarse = np.empty((rows, columns, 3), np.float32)
    detail = np.zeros(((height + patch - 1) // patch, (width + patch - 1) // patch), np.float32)
    half, quarter = patch // 2, np.float32(0.25)
    for block in range(detail.shape[0]):
        for i in range(block * half, min((block + 1) * half, rows)):
            upper, lower = 2 * i, min(2 * i + 1, height - 1)
            below = np.float32(lower - upper)
            for part in range(detail.shape[1]):
                added = np.float32(0)
                for j in range(part * half, min((part + 1) * half, columns)):
                    left, right = 2 * j, min(2 * j + 1, width - 1)
                    beside = np.float32(right - left)
                    for c in range(3):
                        a, b = np.float32(pixels[upper, left, c]), np.float32(pixels[upper, right, c])
                        d, e = np.float32(pixels[lower, left, c]), np.float32(pixels[lower, right, c])
                        mean = (a + b + d + e) * quarter
                        coarse[i, j, c] = mean * scale
                        a, b, d, e = a - mean, b - mean, d - mean, e - mean
                        added += a * a + beside * b * b + below * (d * d + beside * e * e)
                detail[block, part] += added * scale * scale * np.float32(weight)
    return coarse, detail


def _spread(pixels: np.ndarray, patch: int, level: int) -> np.ndarray:
    """The most squared error that a level can hide in its patches, float64; none at the finest (Bhatia and Davis)."""
    if level == 0:
        return np.zeros((-(-pixels.shape[0] // patch), -(-pixels.shape[1] // patch)))
    return block_sums((pixels * (1 - pixels)).sum(axis=2, dtype=np.float64), patch) * 4.0**level


def _save(row: Mapping[str, np.ndarray], stream: IO[bytes]) -> None:
    save_plain(stream, row)


def _load(name: Path, part: str) -> np.ndarray:
    try:
        with open_regular(name) as stream, plain_archive(stream) as archive:
            return archive.array(part)
    except FileError as error:
        fix = f"remove {name.name}; the pass then reads this part of the image again"
        raise FileError(error.what, where=str(name), fix=fix) from error


class _Stored:
    """The errors that a pass left in files, of which the last ones are kept in memory; threads may share it."""

    def __init__(self, names: Sequence[Path]) -> None:
        self.names, self._kept, self._lock = names, dict[tuple[int, int], np.ndarray](), threading.Lock()

    def part(self, row: int, level: int) -> np.ndarray:
        with self._lock:
            found = self._kept.pop((row, level), None)
            self._kept[row, level] = found = _load(self.names[row], f"detail{level}") if found is None else found
            while sum(each.nbytes for each in self._kept.values()) > _KEPT_BYTES and len(self._kept) > 1:
                del self._kept[next(iter(self._kept))]
        return found


@dataclass(frozen=True, eq=False)
class _StoredGrid:
    """The details of one level, indexed by two slices; a row of blocks has 2**(6 - level) rows of patches."""

    stored: _Stored
    level: int
    shape: tuple[int, int]

    def __getitem__(self, key: tuple[slice, slice], /) -> np.ndarray:
        top, bottom, _ = key[0].indices(self.shape[0])
        side = 1 << (_BLOCK - self.level)
        parts = []
        for row in range(top // side, -(-bottom // side)):
            part = self.stored.part(row, self.level)
            parts.append(part[max(top - row * side, 0) : bottom - row * side, key[1]])
        return np.concatenate(parts)


@dataclass(frozen=True, eq=False)
class SmallView:
    """Tokens of an image of any size as they look on a small copy of it, for `token_sheet`.

    Parameters
    ----------
    tokens : `PatchTokens` of the image; image_size : (height, width) of the copy.
    """

    tokens: Any
    image_size: tuple[int, int]

    @property
    def levels(self) -> np.ndarray:
        """Level of each token, int32 [K]."""
        return self.tokens.levels

    def __len__(self) -> int:
        """Number of tokens."""
        return len(self.tokens)

    @cached_property
    def _boxes(self) -> np.ndarray:
        """Pixels of the copy, at least one for each token, int64 [K, 4]."""
        scale = np.tile(np.array(self.image_size[::-1]) / np.array(self.tokens.image_size[::-1]), 2)
        boxes = patch_boxes(self.tokens.places, self.tokens.patch, *self.tokens.image_size) * scale
        low = np.minimum(np.floor(boxes[:, :2] + 1e-9), np.array(self.image_size[::-1]) - 1)
        return np.concatenate([low, np.maximum(np.ceil(boxes[:, 2:] - 1e-9), low + 1)], axis=1).astype(np.int64)

    def _painted(self) -> Iterator[tuple[int, tuple[slice, slice]]]:
        """Tokens from coarse to fine, and what each covers."""
        for k in np.argsort(-self.levels, kind="stable").tolist():
            left, top, right, bottom = self._boxes[k].tolist()
            yield k, (slice(top, bottom), slice(left, right))

    def token_map(self) -> np.ndarray:
        """The finest token on each pixel, int32 [H, W]; -1 where there is none."""
        shown = np.full(self.image_size, -1, np.int32)
        for k, region in self._painted():
            shown[region] = k
        return shown

    def reconstruct(self) -> np.ndarray:
        """The copy as the tokens alone give it back, float32 [H, W, 3]."""
        shown, patch = np.zeros((*self.image_size, 3), np.float32), self.tokens.patch
        for k, region in self._painted():
            pixels = self.tokens.values[k].reshape(patch, patch, 3)
            # A patch that the border cuts off repeats its last pixels there.
            x0, y0, x1, y1 = self.tokens.boxes[k].tolist()
            kept = [max(1, -(-extent >> int(self.levels[k]))) for extent in (y1 - y0, x1 - x0)]
            height, width = (part.stop - part.start for part in region)
            rows, columns = np.arange(height) * kept[0] // height, np.arange(width) * kept[1] // width
            few = height < kept[0] or width < kept[1]
            pixels = pixels[: kept[0], : kept[1]]
            shown[region] = pixels.mean(axis=(0, 1)) if few and height * width == 1 else pixels[rows][:, columns]
        return shown
