"""Questions to anybody's images: a file of JSON lines beside a folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from hra.errors import HraError
from hra.files.images import load_image
from hra_lab.inputs.json_lines import Box, boxes, field, objects, text


@dataclass(frozen=True)
class Gold:
    """One question to one image.

    Attributes
    ----------
    file : the image.
    name : of the image, below the folder; no other image has it.
    question, answer : texts.
    boxes : pixels (x0, y0, x1, y1), end excluded, of every place where the answer stands; what is asked for first.
    paraphrase : the question in other words, or None.
    group : of which set it is.
    """

    file: Path
    name: str
    question: str
    answer: str
    boxes: tuple[Box, ...]
    paraphrase: str | None = None
    group: str = "gold"

    def image(self) -> np.ndarray:
        """The image, float32 [H, W, 3]."""
        return load_image(self.file)


def read_gold(images: Path, gold: Path) -> list[Gold]:
    """The questions of a file.

    Parameters
    ----------
    images : the folder that the names of images start from.
    gold : JSON lines with ``image`` (a path below the folder), ``question``, ``answer``, ``boxes`` (a list of
        [x0, y0, x1, y1] in pixels) and, where wanted, ``paraphrase`` and ``set``.

    Raises
    ------
    HraError : a line that is no JSON object, lacks one of the four or has another kind of value there; an image that is
        missing or outside of the folder; no box, an empty one, or one that reaches out of the image.
    """
    return [_row(images, row, where) for row, where in objects(gold)]


def _row(images: Path, row: Mapping[str, Any], where: str) -> Gold:
    name, question, answer = (text(key, field(row, key, where), where) for key in ("image", "question", "answer"))
    below = PurePath(name)
    if below.is_absolute() or ".." in below.parts:
        raise HraError(f"the image {name!r} is not below the folder", where=where, fix="write its path from --images")
    file = images / below
    if not file.is_file():
        raise HraError(f"there is no image {name} in {images}", where=where, fix="pass its folder as --images")
    found = boxes(field(row, "boxes", where), file, where)
    if not found:
        raise HraError("an answer without a box", where=where, fix="write where it stands: [[x0, y0, x1, y1]]")
    paraphrase = row.get("paraphrase")
    return Gold(
        file,
        below.as_posix(),
        question,
        answer,
        found,
        None if paraphrase is None else text("paraphrase", paraphrase, where),
        text("set", row.get("set", "gold"), where),
    )
