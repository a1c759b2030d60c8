"""Questions to anybody's images: a file of JSON lines beside a folder."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hra.errors import HraError
from hra.files.images import load_image


@dataclass(frozen=True)
class Gold:
    """One question to one image.

    Attributes
    ----------
    file : the image.
    question, answer : texts.
    boxes : pixels (x0, y0, x1, y1), end excluded, of every place where the answer stands; what is asked for first.
    paraphrase : the question in other words, or None.
    group : of which set it is.
    """

    file: Path
    question: str
    answer: str
    boxes: tuple[tuple[int, int, int, int], ...]
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
    HraError : a line that is no JSON, lacks one of the four, or names no box or no file.
    """
    found = []
    for number, line in enumerate(gold.read_text(encoding="utf-8").splitlines(), 1):
        if line.strip():
            found.append(_row(images, line, f"{gold.name}, line {number}"))
    if not found:
        raise HraError("a file without questions", where=gold.name, fix="write one JSON object a line")
    return found


def _row(images: Path, line: str, where: str) -> Gold:
    fix = 'write {"image": "a.png", "question": "..", "answer": "..", "boxes": [[x0, y0, x1, y1]]}'
    try:
        row = json.loads(line)
        boxes = tuple((int(x0), int(y0), int(x1), int(y1)) for x0, y0, x1, y1 in row["boxes"])
        made = Gold(
            images / row["image"],
            str(row["question"]),
            str(row["answer"]),
            boxes,
            row.get("paraphrase"),
            str(row.get("set", "gold")),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise HraError(f"{type(error).__name__}: {error}", where=where, fix=fix) from error
    if not boxes or any(x1 <= x0 or y1 <= y0 for x0, y0, x1, y1 in boxes):
        raise HraError("an answer without a box, or an empty one", where=where, fix=fix)
    if not made.file.is_file():
        raise HraError(f"there is no image {made.file.name}", where=where, fix="pass its folder as --images")
    return made
