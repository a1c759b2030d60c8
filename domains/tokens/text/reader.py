"""RapidOCR's detector and recogniser, called apart: lines are found on one copy of an image and read on another."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from hra.domains.tokens.text.lines import TextLine
from hra.errors import needs
from hra.files.onnx_constants import float32_constants

_HEIGHT = 48  # of the lines that the recogniser was trained with, in pixels
_BATCH = 4
_STEP = 32  # pixels that sides of the detector's input are multiples of
_LETTER, _LEAST_WIDTH = 15, 24  # pixels: the recogniser steps by 8, and values must be right to the letter
_SKIMMED = 11  # of long lines: their words are to be recognised
# Grey pixels after each line, which the recogniser needs to see that a line ends: the longest of a batch has no others.
# On 97 foreign pages tokens then read .006 more of what an oracle's do, for 5 % more time.
_BLANK, _GREY = 16, 128
LONG = 12.0
"""Length over height from which a line is read more narrowly."""
_OPTIONS = {
    "Global.log_level": "error",
    "EngineConfig.onnxruntime.intra_op_num_threads": 1,
    "EngineConfig.onnxruntime.inter_op_num_threads": 1,
    # Pages have many batches: memory of one serves the next.
    "EngineConfig.onnxruntime.enable_cpu_mem_arena": True,
    # Short lines are not padded to the length of long ones.
    "Rec.rec_img_shape": [3, _HEIGHT, _HEIGHT],
    "Rec.rec_batch_num": _BATCH,
}


def can_read() -> bool:
    """Whether RapidOCR is installed."""
    return all(find_spec(name) is not None for name in ("rapidocr", "onnxruntime"))


def found_lines(image: np.ndarray, scale: float) -> list[TextLine]:
    """Lines that the detector finds on a copy of an image, unread, from top to bottom.

    Parameters
    ----------
    image : float32 [h, w, 3] in [0, 1], the copy.
    scale : pixels of the image per pixel of the copy.

    Raises
    ------
    MissingExtra : RapidOCR is not installed.
    """
    import cv2

    detector = _detector()
    height, width = (max(round(side / _STEP), 1) * _STEP for side in image.shape[:2])
    # As the detector prepares it itself, but not in float64.
    copy = cv2.resize(_bgr(_bytes(image)), (width, height)).astype(np.float32)
    copy = np.ascontiguousarray(((copy / 255 - 0.5) / 0.5).transpose(2, 0, 1)[None])
    boxes, _ = detector.postprocess_op(detector.session(copy), image.shape[:2])
    return [TextLine(np.asarray(box, np.float64) * scale) for box in detector.sorted_boxes(boxes)]


def reading_widths(image: np.ndarray, scale: float, lines: Sequence[TextLine]) -> list[int]:
    """Pixels of the recogniser's input along each line, what reading it costs: as narrow as letters stay legible.

    A letter is about as wide as small letters are high, which is the height of the rows that most strokes cross.

    Parameters
    ----------
    image : float32 [h, w, 3] in [0, 1], a copy of the image.
    scale : pixels of the image per pixel of the copy.
    """
    green = np.ascontiguousarray(image[..., 1])  # tells as much as three colours
    return [_legible_width(_strip(green, line.quad / scale, _full_width(line)), line.aspect >= LONG) for line in lines]


def read_lines(
    image: np.ndarray, scale: float, lines: Sequence[TextLine], widths: Sequence[int] | None = None, least: float = 0.0
) -> list[TextLine]:
    """The same lines with their text.

    Parameters
    ----------
    image : float32 [h, w, 3] in [0, 1], a copy of the image.
    scale : pixels of the image per pixel of the copy.
    widths : see `reading_widths`; by default letters keep their proportions.
    least : lines of which the recogniser is less sure stay unread: it sees letters in anything.

    Raises
    ------
    MissingExtra : RapidOCR is not installed.
    """
    read = _recognised(image, scale, lines, widths)
    return [
        line.saying(text, edges) if score >= least else line
        for line, (text, score, edges) in zip(lines, read, strict=True)
    ]


def scores(image: np.ndarray, scale: float, lines: Sequence[TextLine]) -> float:
    """How sure the recogniser is of these lines, their mean in [0, 1]; 0 without lines.

    Parameters
    ----------
    image : float32 [h, w, 3] in [0, 1], a copy of the image.
    scale : pixels of the image per pixel of the copy.

    Raises
    ------
    MissingExtra : RapidOCR is not installed.
    """
    return float(np.mean([score for _, score, _ in _recognised(image, scale, lines, None)])) if lines else 0.0


def _recognised(
    image: np.ndarray, scale: float, lines: Sequence[TextLine], widths: Sequence[int] | None
) -> list[tuple[str, float, np.ndarray | None]]:
    """What each line says, how sure that is, and where its letters stand, see `TextLine.edges`."""
    if not lines:
        return []
    from rapidocr.ch_ppocr_rec import TextRecInput

    widths = [_full_width(line) for line in lines] if widths is None else widths
    strips = [_bgr(_strip(image, line.quad / scale, width)) for line, width in zip(lines, widths, strict=True)]
    strips = [np.pad(strip, ((0, 0), (0, _BLANK), (0, 0)), constant_values=_GREY) for strip in strips]
    read = _engine()._load_rec_model()(TextRecInput(img=strips, return_word_box=True))
    shares = [width / (width + _BLANK) for width in widths]
    edges = [_edges(*one) for one in zip(read.txts, read.word_results, shares, strict=True)]
    return list(zip(read.txts, map(float, read.scores), edges, strict=True))


def _edges(text: str, placed: Any, share: float) -> np.ndarray | None:
    """Letters begin and end halfway between the steps at which the recogniser saw them; it says none for blanks.

    ``share`` of what the recogniser saw is the line, the rest is blank.
    """
    letters = np.flatnonzero([not letter.isspace() for letter in text])
    steps = [step for word in placed.word_cols for step in word]
    if not steps or len(steps) != len(letters):
        return None
    middles = np.minimum((np.array(steps) + 0.5) / (share * placed.line_txt_len), 1.0)
    number = [-0.5, *letters, len(text) - 0.5]
    return np.interp(np.arange(len(text) + 1) - 0.5, number, [0.0, *middles, 1.0])


def _full_width(line: TextLine) -> int:
    return max(round(line.aspect * _HEIGHT), _LEAST_WIDTH)


def _legible_width(strip: np.ndarray, long: bool) -> int:
    strokes = np.abs(np.diff(strip.astype(np.float32), axis=1)).mean(axis=1)
    height = np.count_nonzero(strokes >= strokes.max() / 2)
    letter = _SKIMMED if long else _LETTER
    return int(np.clip(letter * strip.shape[1] / height, _LEAST_WIDTH, strip.shape[1]))


@cache
def _engine() -> Any:
    with needs("rapidocr", "ocr"):
        from rapidocr import RapidOCR
    return RapidOCR(params=_OPTIONS)


@cache
def _detector() -> Any:
    """The detector, of which two layers with subnormal weights would take most of the time."""
    from onnxruntime import InferenceSession

    detector = _engine()._load_det_model()
    slow = detector.session.session
    path = getattr(slow, "_model_path", None)  # another thread may have been here
    if path is not None:
        weights = without_subnormals(Path(path).read_bytes())
        detector.session.session = InferenceSession(weights, slow.get_session_options(), providers=slow.get_providers())
    return detector


def _bytes(image: np.ndarray) -> np.ndarray:
    """The image in [0, 1] as uint8; what overshoots 1 is 255."""
    import cv2

    return cv2.convertScaleAbs(image, alpha=255)


def _bgr(image: np.ndarray) -> np.ndarray:
    import cv2

    return cv2.cvtColor(image, cv2.COLOR_RGB2BGR)


def _strip(image: np.ndarray, quad: np.ndarray, width: int) -> np.ndarray:
    """A line made straight, uint8 [48, width, 3]; of an image [h, w] without colours [48, width]."""
    import cv2

    corners = np.array([[0, 0], [width, 0], [width, _HEIGHT], [0, _HEIGHT]], np.float32)
    matrix = cv2.getPerspectiveTransform(quad.astype(np.float32), corners)
    line = cv2.warpPerspective(image, matrix, (width, _HEIGHT), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    return _bytes(np.maximum(line, 0))


def without_subnormals(model: bytes) -> bytes:
    """A model whose subnormal float32 weights are 0: below 1.2e-38 processors calculate up to a hundred times slower.

    Training leaves them where it shrinks what nothing needs. Products with them vanish beside all other numbers, so
    that the network says the same.

    Parameters
    ----------
    model : a file of ONNX; weights that it keeps in other files stay as they are.
    """
    made = bytearray(model)
    for *_, weights in float32_constants(memoryview(made)):
        weights[np.abs(weights) < np.finfo(np.float32).tiny] = 0
    return bytes(made)
