"""Canvases: plates of six colours with patterns on them on a textured ground, with four questions each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from hra_lab.evidence.questions import COLOURS, Question, ask_ground, ask_thing
from hra_lab.evidence.sprites import PATTERNS, SPLITS, Split, pattern

SIDE = 256
PATCH = 16
KINDS = ("target", "secondary", "periphery", "global")
"""What the four questions are to an allocation that is made for the first."""
SIZES = ((44, 57), (26, 34), (16, 21))
"""Pixels of the sides of large, medium and small plates, end excluded."""

_RGB = {
    "red": (0.9, 0.15, 0.15), "green": (0.15, 0.75, 0.2), "blue": (0.25, 0.35, 0.95),
    "yellow": (0.95, 0.9, 0.15), "magenta": (0.9, 0.2, 0.85), "cyan": (0.15, 0.85, 0.9),
}  # fmt: skip
_COUNTS = ((1, 3), (1, 3), (1, 3))
_PAPER, _INK = 0.5, 0.05
# Periphery is at least so far from the target, centre to centre; what is nearer is secondary.
_FAR = 100
_TRIES = 60


@dataclass(frozen=True)
class Template:
    """Where plates lie, and what is behind them.

    Attributes
    ----------
    across, down : pixels from the left and the top within which a plate's first corner lies.
    noise : of the ground, in that of the first template. stripes : how much darker slanting stripes of it are.
    """

    across: tuple[int, int] = (0, SIDE)
    down: tuple[int, int] = (0, SIDE)
    noise: float = 1.0
    stripes: float = 0.0


TEMPLATES: Mapping[str, Template] = MappingProxyType(
    {
        "scattered": Template(),
        "column": Template(across=(8, 40), noise=0.2),
        "busy": Template(noise=2.5),
        "shelf": Template(down=(170, 200), stripes=0.15),
    }
)
"""By name. Readers are trained on the first alone; allocators on the first three, and the last is held out."""


@dataclass(frozen=True)
class Thing:
    """A plate: its answer, colour and box (x0, y0, x1, y1), and its size in `SIZES`."""

    answer: int
    colour: str
    box: tuple[int, int, int, int]
    size: int

    @property
    def centre(self) -> np.ndarray:
        """(x, y) in pixels."""
        return np.array([self.box[0] + self.box[2], self.box[1] + self.box[3]]) / 2

    def ask(self) -> Question:
        """The question for it."""
        return ask_thing(self.colour, self.answer, self.box)


@dataclass(frozen=True, eq=False)
class Canvas:
    """An image uint8 [256, 256, 3], what is on it, the ground's colour, and a question of each of `KINDS`."""

    image: np.ndarray
    things: tuple[Thing, ...]
    ground: str
    questions: tuple[Question, ...]


def canvases(
    split: Split, count: int, seed: int = 0, *, start: int = 0, template: str = "scattered"
) -> Iterator[Canvas]:
    """``count`` canvases of a split from number ``start`` on, each with a random state of its own.

    Raises
    ------
    MissingExtra : Pillow or Matplotlib is not installed.
    """
    for number in range(start, start + count):
        random = np.random.default_rng((seed, SPLITS.index(split), number))
        while (canvas := _canvas(random, TEMPLATES[template])) is None:
            pass
        yield canvas


def _canvas(random: np.random.Generator, template: Template) -> Canvas | None:
    """One canvas, or None where four questions cannot be asked."""
    colour = str(random.choice(COLOURS))
    image, taken = _ground(colour, random, template), np.zeros((SIDE, SIDE), bool)
    # No colour twice, so that it names one thing; large things first: they find no place later.
    plan = [size for size, few in enumerate(_COUNTS) for _ in range(random.integers(*few))]
    plates = random.permutation(COLOURS)
    put = (_put(image, taken, str(plate), size, random, template) for plate, size in zip(plates, plan, strict=False))
    things = [thing for thing in put if thing is not None]
    questions = _questions(things, colour, random)
    if questions is None:
        return None
    return Canvas(np.round(255 * image.clip(0, 1)).astype(np.uint8), tuple(things), colour, questions)


def _ground(colour: str, random: np.random.Generator, template: Template) -> np.ndarray:
    """Noise of several scales around a pale colour, float32 [256, 256, 3]."""
    pale = _PAPER + 0.25 * (np.array(_RGB[colour], np.float32) - _PAPER) + random.uniform(-0.06, 0.06)
    noise = np.zeros((SIDE, SIDE), np.float32)
    for cells, strength in ((8, 0.08), (32, 0.04), (128, 0.03)):
        grains = random.standard_normal((cells, cells), np.float32) * strength * template.noise
        noise += grains.repeat(SIDE // cells, 0).repeat(SIDE // cells, 1)
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    noise -= np.float32(template.stripes) * ((x + y) % 48 < 24)
    return (pale + noise[..., None]).astype(np.float32)


def _put(
    image: np.ndarray, taken: np.ndarray, colour: str, size: int, random: np.random.Generator, template: Template
) -> Thing | None:
    """Draw a thing where nothing is yet; None where no place was found."""
    side = int(random.integers(*SIZES[size]))
    for _ in range(_TRIES):
        x, y = (int(random.integers(low, min(high, SIDE - side))) for low, high in (template.across, template.down))
        if not taken[y : y + side, x : x + side].any():
            break
    else:
        return None
    taken[max(y - 2, 0) : y + side + 2, max(x - 2, 0) : x + side + 2] = True
    answer = int(random.integers(len(PATTERNS)))
    plate = np.clip(np.array(_RGB[colour], np.float32) + random.uniform(-0.08, 0.08, 3), 0, 1)
    ink = pattern(answer, side, random)[..., None]
    image[y : y + side, x : x + side] = plate + ink * (_INK - plate)
    return Thing(answer, colour, (x, y, x + side, y + side), size)


def _questions(things: Sequence[Thing], ground: str, random: np.random.Generator) -> tuple[Question, ...] | None:
    """The target, something near, something far, and one to the whole; None where there is no such thing.

    Every size is the target as often as the others.
    """
    for size in random.permutation(len(SIZES)):
        of_size = [thing for thing in things if thing.size == size]
        for i in random.permutation(len(of_size)):
            target = of_size[i]
            away = [float(np.hypot(*(thing.centre - target.centre))) for thing in things]
            near = [t for t, far in zip(things, away, strict=True) if t is not target and far < _FAR]
            far = [t for t, distance in zip(things, away, strict=True) if distance >= _FAR]
            if near and far:
                others = [group[random.integers(len(group))].ask() for group in (near, far)]
                return (target.ask(), *others, ask_ground(ground))
    return None
