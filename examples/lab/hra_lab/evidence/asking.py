"""One question to one canvas, answered by the reader that hra carries."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from hra.domains import tokens
from hra.errors import HraError
from hra_lab.evidence.canvas import SIDE
from hra_lab.evidence.cells import BLIND, METHODS
from hra_lab.evidence.questions import ANSWERS, COLOURS, LENGTH, WORDS
from hra_lab.evidence.sprites import PATTERNS
from hra_lab.evidence.weights import load_reader

WEIGHTS = Path(__file__).parent / "reader.safetensors"
_UNLIKE = "the reader knows only the canvases that it was trained on (hra_lab.evidence.canvas.canvases)"


def answer(
    image: np.ndarray, question: str, method: str = "pyramid", budget: int = 68, around: str = ""
) -> dict[str, Any]:
    """Answer ``question`` about ``image``, float32 [256, 256, 3] in 0 .. 1, from ``budget`` tokens of ``method``.

    Parameters
    ----------
    question : "which pattern COLOUR" or "which ground".
    around : the box "x0,y0,x1,y1" in pixels that matters; else all matters alike.

    Returns
    -------
    ``answer`` in words, the ``share`` of belief that it has among answers of its kind, ``tokens``, ``method``.

    Raises
    ------
    HraError : the image is of another size, the question has other words, the method is unknown, the box is none.
    """
    if image.shape[:2] != (SIDE, SIDE):
        raise HraError(
            f"an image of {image.shape[1]} x {image.shape[0]} pixels", where="image", fix=f"{_UNLIKE}: {SIDE} x {SIDE}"
        )
    if method not in METHODS:
        raise HraError(f"no method {method!r}", where="method", fix=f"one of {', '.join(METHODS)}")
    _read(question)
    allocator = METHODS[method](_relevance(around, method))
    chosen = allocator.realize(allocator.allocate((image[..., :3], question), budget))
    said, share = _believed(chosen, question)
    return {"answer": said, "share": round(share, 3), "tokens": len(chosen), "method": method}


def from_tokens(chosen: Any, question: str) -> str:
    """What the reader answers from a token set of a canvas: the function that ``hra eval vqa --model`` takes.

    Raises
    ------
    HraError : the question has other words.
    """
    return _believed(chosen, question)[0]


def _believed(chosen: Any, question: str) -> tuple[str, float]:
    """The answer, and the share of belief that it has among answers of its kind."""
    words, possible = _read(question)
    pixels = np.round(255 * chosen.values.clip(0, 1)).astype(np.float32) / 255
    with torch.no_grad():
        scores = _reader()(
            *(torch.from_numpy(part)[None] for part in (pixels, chosen.boxes.astype(np.int16), words[None]))
        )
    belief = scores[0, 0, list(possible)].softmax(0)
    best = int(belief.argmax())
    return ANSWERS[possible[best]], float(belief[best])


@cache
def _reader() -> Any:
    return load_reader(WEIGHTS)


def words_of(question: str) -> np.ndarray:
    """Numbers of the words of a question, int64 [3].

    Raises
    ------
    HraError : it has other words.
    """
    return _read(question)[0]


def _read(question: str) -> tuple[np.ndarray, range]:
    """Numbers of words, int64 [3], and the answers that can be meant."""
    said = question.lower().strip(" ?").split()
    of_thing = len(said) == LENGTH and said[:2] == ["which", "pattern"] and said[2] in COLOURS
    if not of_thing and said != ["which", "ground"]:
        known = f"'which pattern COLOUR' with {', '.join(COLOURS)}, or 'which ground'"
        raise HraError(f"not a question that the reader knows: {question!r}", where="question", fix=known)
    numbers = [WORDS.index(word) for word in said] + [0] * (LENGTH - len(said))
    return np.array(numbers), range(len(PATTERNS)) if of_thing else range(len(PATTERNS), len(ANSWERS))


def _relevance(around: str, method: str) -> Any:
    if not around:
        return tokens.UniformRelevance()
    if method in BLIND:
        raise HraError(f"{method} asks for no relevance", where="around", fix="leave the box out, or choose pyramid")
    try:
        box = tuple(int(part) for part in around.split(","))
    except ValueError:
        box = ()
    if len(box) != 4 or not (0 <= box[0] < box[2] <= SIDE and 0 <= box[1] < box[3] <= SIDE):
        raise HraError(f"no box on the canvas: {around!r}", where="around", fix="x0,y0,x1,y1 in pixels, ends excluded")
    return tokens.OracleRelevance([box])
