"""Questions to a canvas, and their closed answers."""

from __future__ import annotations

from dataclasses import dataclass

from hra.lab.evidence.sprites import GARMENTS, LETTERS

SHAPES = ("square", "circle", "octagon")
COLOURS = ("red", "green", "blue", "yellow", "magenta", "cyan")
THINGS = ("code", "garment", "digit")
_COUNTED = ("garments", "codes", "digits")
_MOST = 12

WORDS = ("nothing", *THINGS, *_COUNTED, "which", "how many", "commonest colour", *SHAPES, *COLOURS)
"""Every word that a question is made of; "nothing" fills up."""
LENGTH = 4
"""Words in a question."""

ANSWERS = (
    *GARMENTS,
    *(f"digit {number}" for number in range(10)),
    *(f"letter {letter}" for letter in LETTERS),
    *COLOURS,
    *(f"count {number}" for number in range(_MOST + 1)),
)
"""What the first head of the reader tells apart."""
SECOND = tuple(LETTERS)
"""What the second head tells apart: the second letter of a code."""


@dataclass(frozen=True)
class Question:
    """What is asked, and what is right.

    Attributes
    ----------
    words : numbers of `WORDS`, `LENGTH` of them.
    answer : number of `ANSWERS`; for a code its first letter.
    second : number of `SECOND` for a code, else -1.
    box : pixels (x0, y0, x1, y1), end excluded, of what is asked for; None for questions to the whole canvas.
    """

    words: tuple[int, ...]
    answer: int
    second: int
    box: tuple[int, int, int, int] | None

    @property
    def text(self) -> str:
        """The question in words."""
        return " ".join(WORDS[word] for word in self.words if word)

    @property
    def right(self) -> str:
        """The right answer in words."""
        return say(self.answer, self.second)


def say(answer: int, second: int) -> str:
    """An answer in words."""
    name = ANSWERS[answer].split()[-1]
    return name + SECOND[second] if ANSWERS[answer].startswith("letter") and second >= 0 else name


def ask_thing(kind: str, shape: str, colour: str, answer: int, second: int, box: tuple[int, int, int, int]) -> Question:
    """As "which code, circle, red": its two letters, the class of a garment, a digit."""
    return Question(_numbers("which", kind, shape, colour), answer, second, box)


def ask_count(kind: str, count: int) -> Question:
    """How many of a kind there are."""
    return Question(_numbers("how many", f"{kind}s"), ANSWERS.index(f"count {count}"), -1, None)


def ask_colour(colour: str) -> Question:
    """The colour of most frames."""
    return Question(_numbers("commonest colour"), ANSWERS.index(colour), -1, None)


def _numbers(*words: str) -> tuple[int, ...]:
    numbers = [WORDS.index(word) for word in words]
    return tuple(numbers + [0] * (LENGTH - len(numbers)))
