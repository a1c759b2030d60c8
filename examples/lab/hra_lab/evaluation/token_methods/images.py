"""Real images for token methods: crops of the shipped samples, and images that installed packages carry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from typing import Literal

import numpy as np

from hra import samples
from hra.files.images import load_image

Kind = Literal["documents", "photos"]

SEED = 5
# Shipped sample, its kind, crops, query.
_SAMPLES: tuple[tuple[str, Kind, int, str], ...] = (
    ("page.png", "documents", 6, "what does the text say?"),
    ("photo.jpg", "photos", 6, "what is the flower on the left?"),
    ("earth.jpg", "photos", 3, "where is the coast?"),
)
# Package, file, kind.
_PACKAGED: tuple[tuple[str, str, Kind], ...] = (
    ("skimage.data", "page.png", "documents"),
    ("skimage.data", "text.png", "documents"),
    ("skimage.data", "astronaut.png", "photos"),
    ("skimage.data", "chelsea.png", "photos"),
    ("skimage.data", "coffee.png", "photos"),
    ("skimage.data", "motorcycle_left.png", "photos"),
    ("skimage.data", "rocket.jpg", "photos"),
    ("skimage.data", "retina.jpg", "photos"),
    ("matplotlib", "mpl-data/sample_data/grace_hopper.jpg", "photos"),
)


@dataclass(frozen=True, eq=False)
class Picture:
    """One image with the question about it.

    Attributes
    ----------
    source : file and place of the crop.
    kind : what it is counted as.
    small : whether it is smaller than a crop, so that the same share of its patches is another number of tokens.
    """

    source: str
    kind: str
    image: np.ndarray
    query: str
    small: bool = False


def pictures(crops: int, side: int, seed: int = SEED) -> Iterator[Picture]:
    """Crops of the samples at places that are always the same, then what packages carry, large ones cut to a crop.

    Parameters
    ----------
    crops : per sample, at most.
    side : of a crop in pixels.
    seed : of the places.
    """
    rng = np.random.default_rng(seed)
    for name, kind, count, query in _SAMPLES:
        image = load_image(samples.path(name))
        for _ in range(min(count, crops)):
            y, x = (int(rng.integers(extent - side + 1)) for extent in image.shape[:2])
            yield Picture(f"{name} at {x}, {y}", kind, np.ascontiguousarray(image[y : y + side, x : x + side]), query)
    for package, name, kind in _PACKAGED[: crops * len(_SAMPLES)]:
        image = load_packaged(package, name)
        if image is not None:
            small = min(image.shape[:2]) < side
            source = f"{package.split('.')[0]}: {name.split('/')[-1]}"
            yield Picture(source, kind, image if small else _middle(image, side), "", small)


def _middle(image: np.ndarray, side: int) -> np.ndarray:
    y, x = ((extent - side) // 2 for extent in image.shape[:2])
    return np.ascontiguousarray(image[y : y + side, x : x + side])


def load_packaged(package: str, name: str) -> np.ndarray | None:
    """An image of an installed package, None where package or file is missing."""
    try:
        file = resources.files(package).joinpath(name)
    except ModuleNotFoundError:
        return None
    with resources.as_file(file) as path:
        return load_image(path) if path.is_file() else None
