"""Images with a question and the box of its answer: fields of made pages, and pictures on a canvas."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hra_lab.evaluation.token_methods.images import load_packaged
from hra_lab.inputs.documents.document import Document, Field
from hra_lab.inputs.documents.fields import FIELDS
from hra_lab.inputs.documents.generate import documents
from hra_lab.inputs.documents.typeset import Sheet

_SEED = 11
_SIDE = 768
# Package, file, what it shows.
_PICTURES = (
    ("skimage.data", "chelsea.png", "cat"),
    ("skimage.data", "coffee.png", "cup of coffee"),
    ("skimage.data", "rocket.jpg", "rocket"),
    ("skimage.data", "motorcycle_left.png", "motorcycle"),
    ("matplotlib", "mpl-data/sample_data/grace_hopper.jpg", "uniform"),
)
_QUESTIONS = ("where is the {}?", "what colour is the {}?", "is the {} new or old?")


@dataclass(frozen=True, eq=False)
class Pair:
    """One question to one image.

    Attributes
    ----------
    kind : "page" or "canvas".
    image : float32 [H, W, 3].
    box : pixels (x0, y0, x1, y1), end excluded, of the answer.
    adversarial : whether words of the question also stand elsewhere in the image.
    """

    kind: str
    image: np.ndarray
    query: str
    box: tuple[int, int, int, int]
    adversarial: bool


def pairs(pages: int, canvases: int) -> Iterator[Pair]:
    """Two questions to each of so many pages and canvases; the same ones every time.

    Raises
    ------
    MissingExtra : Pillow or Matplotlib is not installed.
    """
    for number, document in enumerate(documents(pages, _SEED)):
        random = np.random.default_rng((_SEED, number))
        for field in _chosen(document, random):
            query = FIELDS[field.kind].question(field.label)
            yield Pair("page", document.image, query, field.box, _elsewhere(document, field))
    for number in range(canvases):
        yield from _canvas(np.random.default_rng((_SEED + 1, number)), labelled=number % 3 > 0)


def _chosen(document: Document, random: np.random.Generator) -> list[Field]:
    return [document.fields[i] for i in random.permutation(len(document.fields))[:2]]


def _elsewhere(document: Document, field: Field) -> bool:
    """Whether a word of the label stands in another text of the page."""
    words = set(re.findall(r"[a-z]{3,}", field.label.lower()))
    others = [text for text in document.texts if field.label.rstrip(".").lower() not in text.lower() or len(text) > 36]
    return any(words & set(re.findall(r"[a-z]{3,}", text.lower())) for text in others)


def _canvas(random: np.random.Generator, labelled: bool) -> Iterator[Pair]:
    """Pictures in the quarters of a canvas; labelled ones carry the name of another picture below each."""
    sheet = Sheet((_SIDE, _SIDE), "DejaVuSans.ttf", 24, paper=int(random.integers(150, 256)))
    canvas, boxes = sheet.pixels(), {}
    shown = [_PICTURES[i] for i in random.permutation(len(_PICTURES))[:4]]
    for i, (package, file, name) in enumerate(shown):
        tile = _tile(load_packaged(package, file), int(random.integers(160, 225)))
        y, x = (int(random.integers(16, 384 - 64 - len(tile))) + 384 * place for place in divmod(i, 2))
        boxes[name] = (x, y, x + len(tile), y + len(tile))
        canvas[y : y + len(tile), x : x + len(tile)] = tile
        if labelled:
            sheet.text(x, y + len(tile) + 8, shown[(i + 1) % 4][2])
    if labelled:
        canvas = np.where(sheet.pixels() < sheet.pixels().max(), sheet.pixels(), canvas)
    for name in [shown[i][2] for i in random.permutation(4)[:2]]:
        query = str(random.choice(_QUESTIONS)).format(name)
        yield Pair("canvas", canvas.astype(np.float32), query, boxes[name], labelled)


def _tile(image: np.ndarray | None, side: int) -> np.ndarray:
    """The middle square of an image, float32 [side, side, 3]; noise where no package carries the image."""
    from PIL import Image

    if image is None:
        return np.random.default_rng(side).random((side, side, 3), np.float32)
    height, width = image.shape[:2]
    cut = min(height, width)
    y, x = (height - cut) // 2, (width - cut) // 2
    picture = Image.fromarray(np.round(255 * image[y : y + cut, x : x + cut]).astype(np.uint8))
    return np.asarray(picture.resize((side, side), Image.Resampling.LANCZOS), np.float32) / 255
