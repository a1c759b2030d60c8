"""Canvases: framed garments, digits and codes on a textured ground, with four questions each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from hra.lab.evidence import sprites
from hra.lab.evidence.questions import (
    ANSWERS,
    COLOURS,
    SECOND,
    SHAPES,
    THINGS,
    Question,
    ask_colour,
    ask_count,
    ask_thing,
)
from hra.lab.evidence.sprites import LETTERS, SPLITS, Split

SIDE = 256
PATCH = 8
KINDS = ("target", "secondary", "periphery", "global")
"""What the four questions are to an allocation that is made for the first."""

_RGB = {
    "red": (0.9, 0.1, 0.1), "green": (0.1, 0.75, 0.15), "blue": (0.15, 0.25, 0.95),
    "yellow": (0.95, 0.9, 0.1), "magenta": (0.9, 0.15, 0.85), "cyan": (0.1, 0.85, 0.9),
}  # fmt: skip
_MARGIN = 3
# Periphery is at least so far from the target, centre to centre; what is nearer is secondary.
_FAR = 110
_TRIES = 60


@dataclass(frozen=True)
class Thing:
    """Something framed: its kind, answers, frame and box (x0, y0, x1, y1) with the frame."""

    kind: str
    answer: int
    second: int
    shape: str
    colour: str
    box: tuple[int, int, int, int]

    @property
    def centre(self) -> np.ndarray:
        """(x, y) in pixels."""
        return np.array([self.box[0] + self.box[2], self.box[1] + self.box[3]]) / 2

    def ask(self) -> Question:
        """The question for it."""
        return ask_thing(self.kind, self.shape, self.colour, self.answer, self.second, self.box)


@dataclass(frozen=True, eq=False)
class Canvas:
    """An image uint8 [256, 256, 3], what is on it, and a question of each of `KINDS`."""

    image: np.ndarray
    things: tuple[Thing, ...]
    questions: tuple[Question, ...]

    @property
    def everything(self) -> tuple[Question, ...]:
        """All that can be asked: for each thing, how many of each kind, and the commonest colour where one leads."""
        colour = _commonest(self.things)
        counts = tuple(_count(kind, self.things) for kind in THINGS)
        return (*(t.ask() for t in self.things), *counts, *((ask_colour(colour),) if colour else ()))


def canvases(split: Split, count: int, seed: int = 0) -> Iterator[Canvas]:
    """``count`` canvases of a split, each with a random state of its own: more of them begin with the same ones.

    Raises
    ------
    MissingExtra : scikit-learn, Pillow or Matplotlib is not installed.
    """
    for number in range(count):
        random = np.random.default_rng((seed, SPLITS.index(split), number))
        while (canvas := _canvas(split, random)) is None:
            pass
        yield canvas


def _canvas(split: Split, random: np.random.Generator) -> Canvas | None:
    """One canvas, or None where four questions cannot be asked."""
    image, taken, things = _ground(random), np.zeros((SIDE, SIDE), bool), []
    plan = ["large"] * random.integers(1, 3) + ["garment"] * random.integers(3, 6)
    plan += ["digit"] * random.integers(2, 5) + ["code"] * random.integers(6, 13)
    frames = {kind: _frames(random) for kind in ("garment", "digit", "code")}
    for kind in plan:
        named = "garment" if kind == "large" else kind
        thing = _put(image, taken, split, kind, next(frames[named]), random)
        if thing is not None:
            things.append(thing)
    questions = _questions(things, random)
    if questions is None:
        return None
    return Canvas(np.round(255 * image.clip(0, 1)).astype(np.uint8), tuple(things), questions)


def _frames(random: np.random.Generator) -> Iterator[tuple[str, str]]:
    """Shapes with colours, none twice, so that a frame names one thing of a kind."""
    pairs = [(shape, colour) for shape in SHAPES for colour in COLOURS]
    for i in random.permutation(len(pairs)):
        yield pairs[i]


def _ground(random: np.random.Generator) -> np.ndarray:
    """Noise of several scales around a colour, float32 [256, 256, 3]."""
    ground = np.zeros((SIDE, SIDE, 3), np.float32) + random.uniform(0.3, 0.7, 3).astype(np.float32)
    for cells, strength in ((8, 0.08), (32, 0.04), (128, 0.03)):
        noise = random.normal(0, strength, (cells, cells, 1)).astype(np.float32)
        ground += noise.repeat(SIDE // cells, 0).repeat(SIDE // cells, 1)
    return ground


def _put(
    image: np.ndarray,
    taken: np.ndarray,
    split: Split,
    kind: str,
    frame: tuple[str, str],
    random: np.random.Generator,
) -> Thing | None:
    """Draw a thing with its frame where nothing is yet; None where no place was found."""
    cover, answer, second = _sprite(split, kind, random)
    side = max(cover.shape) + 2 * _MARGIN + (0 if frame[0] == "square" else max(cover.shape) // 3)
    for _ in range(_TRIES):
        x, y = random.integers(0, SIDE - side, 2).tolist()
        if not taken[y : y + side, x : x + side].any():
            break
    else:
        return None
    taken[max(y - 1, 0) : y + side + 1, max(x - 1, 0) : x + side + 1] = True
    place = image[y : y + side, x : x + side]
    dark = random.random() < 0.5
    ink, paper = (0.05, 0.95) if dark else (0.95, 0.05)
    _draw_frame(place, frame, paper)
    top, left = ((side - extent) // 2 for extent in cover.shape)
    inside = place[top : top + cover.shape[0], left : left + cover.shape[1]]
    inside += cover[..., None] * (ink - inside)
    named = "garment" if kind == "large" else kind
    return Thing(named, answer, second, *frame, (x, y, x + side, y + side))


def _sprite(split: Split, kind: str, random: np.random.Generator) -> tuple[np.ndarray, int, int]:
    """How much ink each pixel of a thing has, and its answers."""
    if kind == "code":
        first, second = random.integers(0, len(LETTERS), 2).tolist()
        cover = sprites.code(split, LETTERS[first] + LETTERS[second], int(random.integers(8, 11)), random)
        return cover, ANSWERS.index(f"letter {LETTERS[first]}"), SECOND.index(LETTERS[second])
    label = int(random.integers(10))
    if kind == "digit":
        return _enlarge(sprites.digit(split, label, random), 16), ANSWERS.index(f"digit {label}"), -1
    return _enlarge(sprites.garment(split, label, random), 84 if kind == "large" else 28), label, -1


def _enlarge(cover: np.ndarray, side: int) -> np.ndarray:
    from PIL import Image

    return np.asarray(Image.fromarray(cover).resize((side, side), Image.Resampling.BILINEAR), np.float32)


def _draw_frame(place: np.ndarray, frame: tuple[str, str], paper: float) -> None:
    """A coloured ring of 2 pixels in the frame's shape, and paper of one grey within it."""
    shape, colour = frame
    side = len(place)
    middle = (side - 1) / 2
    across, down = np.abs(np.mgrid[:side, :side] - middle)
    distance = {"square": np.maximum(across, down), "circle": np.hypot(across, down), "octagon": across + down}[shape]
    # Four corners cut off: where the rotated square of 1.5 times the radius meets the upright one.
    radius = middle * (1.5 if shape == "octagon" else 1.0)
    outer = (
        np.minimum(radius - distance, middle - np.maximum(across, down)) if shape == "octagon" else radius - distance
    )
    place[(outer >= -0.5) & (outer < 1.5)] = _RGB[colour]
    place[outer >= 1.5] = paper


def _questions(things: list[Thing], random: np.random.Generator) -> tuple[Question, ...] | None:
    """The target, something near, something far, and one to the whole; None where there is no such thing."""
    kinds = random.permutation(["code", "code", "garment", "digit"])
    for kind in kinds:
        of_kind = [thing for thing in things if thing.kind == kind]
        for i in random.permutation(len(of_kind)):
            target = of_kind[i]
            away = [float(np.hypot(*(thing.centre - target.centre))) for thing in things]
            near = [t for t, far in zip(things, away, strict=True) if t is not target and far < _FAR]
            far = [t for t, distance in zip(things, away, strict=True) if distance >= _FAR]
            if near and far:
                others = [group[random.integers(len(group))].ask() for group in (near, far)]
                return (target.ask(), *others, _global(things, random))
    return None


def _global(things: list[Thing], random: np.random.Generator) -> Question:
    """How many of a kind, or the colour of most frames where one leads."""
    colour = _commonest(things)
    return ask_colour(colour) if colour and random.random() < 0.4 else _count(str(random.choice(THINGS)), things)


def _commonest(things: Sequence[Thing]) -> str | None:
    """The colour of most frames; None where two are as common."""
    colours = Counter(thing.colour for thing in things).most_common()
    return colours[0][0] if len(colours) == 1 or colours[0][1] > colours[1][1] else None


def _count(kind: str, things: Sequence[Thing]) -> Question:
    return ask_count(kind, sum(thing.kind == kind for thing in things))
