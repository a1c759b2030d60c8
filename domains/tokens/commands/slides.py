"""Images of any size on the command line: their tokens, crops of them at full resolution, and what they are."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from hra.console import running
from hra.domains.tokens.methods.streamed_pyramid import StreamedPyramid
from hra.domains.tokens.patches.streamed import SmallView, StreamedImage
from hra.domains.tokens.patches.tokens import PatchTokens
from hra.domains.tokens.pictures.sheet import LEVEL_COLOURS, token_sheet
from hra.domains.tokens.pyramid.downsample import resize
from hra.domains.tokens.relevance.foveated import FoveatedRelevance
from hra.domains.tokens.relevance.registry import relevance_named
from hra.errors import HraError, MissingExtra
from hra.files.images import save_png
from hra.files.images.regions import is_regions, open_regions
from hra.files.local_files import make_folder, warn_of_older

_WHOLE = 2**24  # pixels up to which a TIFF is decoded at once, as other images are
METHODS = ("pyramid", "foveated")
_REGIONS = "it joins neighbouring patches into regions, for which all finest patches must be there at once"
_REFUSED = {
    "gestalt-saccades": "it orders finest patches by relevance alone, and most share that of a patch of the overview",
    "two-pass": "it shows whole cells of a grid of 16 x 16 by finest patches, of which a cell has thousands here",
    "multi-fixation": "each fixation adds to the patches of the one before, and here each makes patches of its own",
    "semantic-tree": _REGIONS,
    "semantic-atlas": _REGIONS,
    "hybrid-atlas": _REGIONS,
}


def is_large(path: Path) -> bool:
    """Whether an image is read by regions: whole slides, OME-Zarr and Deep Zoom, and TIFF beyond 4096 x 4096 pixels."""
    if not is_regions(path):
        return False
    try:
        height, width, _ = open_regions(path).levels[0].shape
    except MissingExtra:
        if os.path.isdir(path) or path.suffix.lower() not in (".tif", ".tiff"):
            raise
        return False  # Pillow reads small ones, and says of others that they are too large
    except HraError:
        if path.suffix.lower() in (".tif", ".tiff"):
            return False  # what is wrong is said where it is decoded
        raise
    return height * width > _WHOLE or path.suffix.lower() not in (".tif", ".tiff")


def allocated(path: Path, query: str, method: str, relevance: str, budget: int) -> tuple[StreamedPyramid, Any]:
    """The allocator and its allocation of an image of any size.

    Raises
    ------
    HraError : another method than "pyramid" and "foveated".
    """
    if method not in METHODS:
        why = _REFUSED.get(method, "it looks at all finest patches at once")
        what = f"the method {method!r} is not for images of any size: {why}"
        raise HraError(what, where="--method", fix=f"use {' or '.join(METHODS)}, or a crop of it")
    chosen = relevance_named(relevance)
    allocator = StreamedPyramid(FoveatedRelevance(chosen) if method == "foveated" else chosen)
    with running(path.name) as progress:
        image = StreamedImage.open(path, progress=progress)
        progress(f"choosing {budget:,} tokens")
        return allocator, allocator.allocate((image, query), budget)


def record_of(allocator: StreamedPyramid, allocation: Any, tokens: PatchTokens) -> dict[str, Any]:
    """What is said of the tokens of an image of any size."""
    image, query = allocation.context[:2]
    served = allocator.served(image, query)
    return {
        "query_used": served.used,
        "confidence": served.confidence,
        "by": served.by,
        **facts_of(image),
        "count": len(tokens),
        **allocation.proof,
        "seconds": allocation.seconds,
        "tiles_read": image.tiles_read,
        "mean_depth": float(np.mean(len(image.details) - tokens.levels)),
        "largest_depth": int(np.max(len(image.details) - tokens.levels)),
    }


def facts_of(image: StreamedImage) -> dict[str, Any]:
    """What an image of any size is."""
    height, width = image.size
    file = image.file
    return {
        "size": f"{width} x {height}",
        "format": file.format if file is not None else "array",
        "levels": ", ".join(str(k) for k in sorted(image.levels)),
        "tiles": file.tiles if file is not None else 0,
        "metres_per_pixel": image.spacing,
        "errors": "known" if image.is_known else "bounded by the file's levels",
    }


def placed(boxes: np.ndarray, spacing: float | None) -> dict[str, Any]:
    """Boxes in pixels, and in metres where the file says how large a pixel is."""
    return {"boxes": boxes, **({} if spacing is None else {"boxes_m": boxes * spacing})}


def sheet_of(image: StreamedImage, tokens: PatchTokens) -> np.ndarray:
    """The picture of `token_sheet`, on the overview."""
    return token_sheet(image.overview[0], SmallView(tokens, image.overview[0].shape[:2]))


def save_crops(folder: Path, image: StreamedImage, boxes: np.ndarray, side: int) -> list[str]:
    """Write the whole image within ``side`` pixels, the crops at full resolution, and where they are; returns names."""
    root, overview = make_folder(folder), image.overview[0]
    scale = min(side / max(overview.shape[:2]), 1.0)
    small = resize(overview, tuple(max(1, round(extent * scale)) for extent in overview.shape[:2]))  # pyright: ignore[reportArgumentType]
    pictures = {"base.png": np.clip(small, 0, 1)}
    shown = overview.copy()
    thick = max(2, max(shown.shape[:2]) // 300)
    for number, (x0, y0, x1, y1) in enumerate(boxes.tolist(), 1):
        pictures[f"crop-{number:02}.png"] = image.pixels(0, (y0, y1), (x0, x1))
        left, top, right, bottom = (round(at / 2**image.first) for at in (x0, y0, x1, y1))
        inside = shown[max(top, 0) : bottom, max(left, 0) : right].copy()
        edge = slice(max(top - thick, 0), bottom + thick), slice(max(left - thick, 0), right + thick)
        shown[edge] = LEVEL_COLOURS[0] / np.float32(255)
        shown[max(top, 0) : bottom, max(left, 0) : right] = inside
    pictures["where.png"] = shown
    for name, picture in pictures.items():
        save_png(root / name, picture)
    warn_of_older(root, "crop-", ".png", pictures)
    return list(pictures)
