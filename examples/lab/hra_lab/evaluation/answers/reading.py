"""The judge that reads: OCR of made pages at places that are known.

Tesseract, a recogniser of another origin than the one that relevance reads with, where it is installed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from hra.domains import tokens
from hra.domains.tokens.text.lines import TextLine
from hra.domains.tokens.text.reader import read_lines
from hra.files.images.files import png_bytes
from hra_lab.evaluation.answers.run import Scored, judged
from hra_lab.evaluation.answers.tasks import Task
from hra_lab.inputs.documents.document import Document, Field
from hra_lab.inputs.documents.fields import FIELDS
from hra_lab.inputs.documents.generate import documents
from hra_lab.vqa.scores import anls, exact_match

ANLS, EXACT, NEAR, FAR, TESSERACT = "ANLS", "exact match", "words near", "words far", "ANLS, Tesseract"
_MARGIN = 4.0  # pixels around a line that the judge sees
SEED = 29
_LINES = 1  # of a page that are read near the answer, and far from it
_LEAST_WORD = 3
_SOME = 3  # every third page is read by Tesseract, a process per line, and asked about strata, levels and budgets
_ONE_LINE = "7"  # a page segmentation mode
_SECONDS = 60


def has_tesseract() -> bool:
    """Whether the program is on the path."""
    return shutil.which("tesseract") is not None


def read_strip(strip: np.ndarray) -> str:
    """The text of a picture [h, w, 3] uint8 of one line; empty where nothing is read."""
    command = ["tesseract", "stdin", "stdout", "--psm", _ONE_LINE, "-l", "eng"]
    one_thread = {**os.environ, "OMP_THREAD_LIMIT": "1"}
    done = subprocess.run(command, input=png_bytes(strip), capture_output=True, env=one_thread, timeout=_SECONDS)
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else ""


def scored_pages(count: int, parts: Path | None, progress: Any, seed: int = SEED) -> list[Scored]:
    """So many pages, each asked for one of its fields, judged.

    Raises
    ------
    MissingExtra : RapidOCR, Pillow, Matplotlib or rapidfuzz is not installed.
    HraError : see `judged`.
    """
    facts = {"suite": "reading", "tesseract": has_tesseract()} | ({} if seed == SEED else {"seed": seed})
    return judged(tasks(count, seed), facts, parts, progress)


def tasks(count: int, seed: int = SEED) -> Iterator[Task]:
    """One question to each page, in the words of the label; the same ones every time."""
    for number, page in enumerate(documents(count, seed)):
        random = np.random.default_rng((seed, 1, number))
        field = page.fields[int(random.integers(len(page.fields)))]
        question = FIELDS[field.kind].question(field.label)
        some = number % _SOME == 0
        judge = partial(_scores, field, surroundings(page, field), some and has_tesseract())
        yield Task(
            page.name,
            page.image,
            question,
            field.box,
            tokens.PhraseRelevance(read=True),
            judge,
            partial(_score, field) if some else None,
        )


def surroundings(page: Document, field: Field) -> Mapping[str, list[tuple[str, np.ndarray]]]:
    """The lines nearest to an answer, and lines from the farther half of the page, each with its place."""
    middle = field.quad.mean(axis=0)
    printed = [line for line in zip(page.texts, page.quads, strict=True) if _words(line[0])]
    others = [line for line in printed if not np.array_equal(line[1], field.quad)]
    others.sort(key=lambda line: float(np.linalg.norm(line[1].mean(axis=0) - middle)))
    half = others[len(others) // 2 :]
    return {NEAR: others[:_LINES], FAR: [half[i] for i in np.linspace(0, len(half) - 1, _LINES, dtype=int)]}


def _scores(
    field: Field, around: Mapping[str, list[tuple[str, np.ndarray]]], other: bool, picture: np.ndarray
) -> dict[str, float]:
    quads = [field.quad, *(quad for lines in around.values() for _, quad in lines)]
    answer, *others = (line.text or "" for line in read_lines(picture, 1.0, [TextLine(_wider(quad)) for quad in quads]))
    value, read = _joined(field.value), iter(others)
    scores = {ANLS: anls(_joined(answer), [value], "paper"), EXACT: exact_match(_joined(answer), [value])}
    for region, lines in around.items():
        scores[region] = float(np.mean([word_recall(text, next(read)) for text, _ in lines]))
    if other:
        scores[TESSERACT] = anls(_joined(read_strip(_crop(picture, field.box))), [value], "paper")
    return scores


def _score(field: Field, picture: np.ndarray) -> float:
    return _scores(field, {}, False, picture)[ANLS]


def word_recall(printed: str, read: str) -> float:
    """Share of the words of three letters or digits and more that stand in what was read, in one piece.

    Examples
    --------
    >>> word_recall("Total due 20", "totaldue2O"), word_recall("VAT 20%", "WAT")
    (1.0, 0.0)
    """
    words, found = _words(printed), "".join(_words(read, 1))
    return float(np.mean([word in found for word in words]))


def _words(text: str, least: int = _LEAST_WORD) -> list[str]:
    return [word for word in re.findall(r"[a-z0-9]+", text.lower()) if len(word) >= least]


def _joined(text: str) -> str:
    """The answer of a line as OCR reads it: spaces, which recognisers drop and add, do not count."""
    return "".join(text.split())


def _wider(quad: np.ndarray) -> np.ndarray:
    return quad + _MARGIN * np.sign(quad - quad.mean(axis=0))


def _crop(picture: np.ndarray, box: tuple[int, int, int, int]) -> np.ndarray:
    """A box and what lies around it, uint8 [h, w, 3], twice as large, as Tesseract wants its letters."""
    import cv2

    x0, y0, x1, y1 = box
    wide = int(2 * _MARGIN)
    cut = picture[max(y0 - wide, 0) : y1 + wide, max(x0 - wide, 0) : x1 + wide]
    large = cv2.resize(cut, None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC)
    return np.round(255 * np.clip(large, 0, 1)).astype(np.uint8)
