"""Views of canvases to train on: tokens of all levels drawn at random around what is asked, of no method in particular.

A canvas is made once and seen in as many ways as there are steps: moved by some pixels, so that things lie differently
on the patches, and in another choice of tokens each time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d

from hra_lab.evidence.canvas import PATCH, SIDE
from hra_lab.evidence.questions import ANSWERS, COLOURS, ask_ground, ask_thing
from hra_lab.evidence.shown import COVERED, LARGER
from hra_lab.evidence.stock import Stock

UNASKED = -1
"""In place of an answer to what cannot be asked: what went over the edge, or is not there."""
_LEVELS = 4
_GROUND = ANSWERS.index(COLOURS[0])


@dataclass(frozen=True, eq=False)
class View:
    """What a reader is shown and asked.

    Attributes
    ----------
    pixels : float32 [B, K, 768] in 0 .. 1; boxes : int16 [B, K, 4]. words : int64 [B, Q, 3]; answers : int64 [B, Q].
    shown : int64 [B, K, 3], what each token shows (`hra_lab.evidence.shown`).
    """

    pixels: Tensor
    boxes: Tensor
    words: Tensor
    answers: Tensor
    shown: Tensor


def view(stock: Stock, rows: np.ndarray, count: int, random: np.random.Generator) -> View:
    """One view of the canvases ``rows``, of ``count`` tokens each."""
    move = random.integers(-PATCH, PATCH + 1, 2)
    images = np.roll(stock.images[rows], (move[1], move[0]), (1, 2))
    things = stock.things[rows].astype(np.int64)
    things[..., :4] += np.tile(move, 2)
    # What went over the edge is in two parts now: nobody asks for it.
    whole = (things[..., :4] >= 0).all(-1) & (things[..., :4] <= SIDE).all(-1) & (things[..., 4] >= 0)
    focus = np.argsort(random.random(whole.shape) + 2.0 * ~whole, axis=1)[:, :3]
    covered = _covered(things)
    lines = np.arange(len(rows))[:, None]
    wanted = covered[lines, focus[:, :2]].max(1) > 0.2
    other = covered.max(1) > 0.2
    priority = random.gumbel(size=(len(rows), len(_BOXES))) + 4 * wanted + other
    priority += random.normal(0, 2.0, _LEVELS)[_BOXES_LEVEL] + np.log(4.0) * _BOXES_LEVEL
    chosen = np.argpartition(-priority, count, axis=1)[:, :count]
    return View(
        _pixels(images, chosen),
        torch.from_numpy(_BOXES[chosen].astype(np.int16)),
        *_asked(stock, rows, things, whole, focus),
        torch.from_numpy(_shown(things, whole, covered)[lines, chosen]),
    )


def _grid() -> tuple[np.ndarray, np.ndarray]:
    boxes, levels = [], []
    for level in range(_LEVELS):
        side = PATCH << level
        y, x = np.mgrid[0:SIDE:side, 0:SIDE:side].reshape(2, -1)
        boxes.append(np.stack([x, y, x + side, y + side], axis=1))
        levels.append(np.full(len(x), level))
    return np.concatenate(boxes), np.concatenate(levels)


_BOXES, _BOXES_LEVEL = _grid()
_AREAS = (_BOXES[:, 2] - _BOXES[:, 0]) ** 2


def _covered(things: np.ndarray) -> np.ndarray:
    """Common area of things and tokens as a part of the smaller one, [B, T, tokens]."""
    x0, y0, x1, y1 = np.moveaxis(things[:, :, None, :4].astype(np.float32), -1, 0)
    left, top, right, bottom = _BOXES.T.astype(np.float32)
    across = np.minimum(x1, right) - np.maximum(x0, left)
    down = np.minimum(y1, bottom) - np.maximum(y0, top)
    smaller = np.minimum((x1 - x0) * (y1 - y0), _AREAS.astype(np.float32))
    return across.clip(0) * down.clip(0) / smaller * (things[..., None, 4] >= 0)


def _shown(things: np.ndarray, whole: np.ndarray, covered: np.ndarray) -> np.ndarray:
    """Labels int64 [B, tokens, 3] as `hra_lab.evidence.shown.shown` gives them."""
    lines, best = np.arange(len(things))[:, None], covered.argmax(1)
    thing = things[lines, best]
    labels = np.stack([np.ones_like(best), thing[..., 4], thing[..., 5]], axis=-1)
    area = (thing[..., 2] - thing[..., 0]) * (thing[..., 3] - thing[..., 1])
    labels[(LARGER * area < _AREAS) | ~whole[lines, best]] = -1
    labels[covered.max(1) <= COVERED] = (0, -1, -1)
    return labels


def _asked(
    stock: Stock, rows: np.ndarray, things: np.ndarray, whole: np.ndarray, focus: np.ndarray
) -> tuple[Tensor, Tensor]:
    """Words and answers: the three things in focus, and the ground."""
    lines = np.arange(len(rows))[:, None]
    answer, colour = np.moveaxis(things[lines, focus][..., 4:], -1, 0)
    answer = np.where(whole[lines, focus], answer, UNASKED)
    words = np.concatenate([_ASK_THING[colour], np.broadcast_to(_ASK_GROUND, (len(rows), 1, 3))], axis=1)
    answers = np.concatenate([answer, _GROUND + stock.ground[rows, None]], axis=1)
    return torch.from_numpy(words), torch.from_numpy(answers.astype(np.int64))


_ASK_THING = np.array([ask_thing(colour, 0, (0, 0, 1, 1)).words for colour in COLOURS])
_ASK_GROUND = np.array(ask_ground(COLOURS[0]).words)


def _pixels(images: np.ndarray, chosen: np.ndarray) -> Tensor:
    """Tokens float32 [B, K, 768] in 0 .. 1 of the chosen boxes."""
    at = torch.from_numpy(images).permute(0, 3, 1, 2).float() / 255
    found = torch.empty(*chosen.shape, PATCH * PATCH * 3)
    for level in range(_LEVELS):
        if level:
            at = avg_pool2d(at, 2)
        lines, columns = np.nonzero(_BOXES_LEVEL[chosen] == level)
        corner = _BOXES[chosen[lines, columns]][:, :2] // (PATCH << level)
        parts = at.unflatten(3, (-1, PATCH)).unflatten(2, (-1, PATCH))
        found[lines, columns] = parts[lines, :, corner[:, 1], :, corner[:, 0]].permute(0, 2, 3, 1).flatten(1)
    return found
