"""Questions to a canvas, and their closed answers."""

from __future__ import annotations

from dataclasses import dataclass

from hra.lab.evidence.sprites import GARMENTS, LETTERS

COLOURS = ("red", "green", "blue", "yellow", "magenta", "cyan")
THINGS = ("letter", "garment")
_MOST = len(COLOURS)

WORDS = ("nothing", "which", "how many", "ground", *THINGS, *(f"{kind}s" for kind in THINGS), *COLOURS)
"""Every word that a question is made of; "nothing" fills up."""
LENGTH = 3
"""Words in a question."""

ANSWERS = (
    *GARMENTS,
    *(f"letter {letter}" for letter in LETTERS),
    *COLOURS,
    *(f"count {number}" for number in range(_MOST + 1)),
)
"""What the reader tells apart."""


@dataclass(frozen=True)
class Question:
    """What is asked, and what is right.

    Attributes
    ----------
    words : numbers of `WORDS`, `LENGTH` of them.
    answer : number of `ANSWERS`.
    box : pixels (x0, y0, x1, y1), end excluded, of what is asked for; None for questions to the whole canvas.
    """

    words: tuple[int, ...]
    answer: int
    box: tuple[int, int, int, int] | None

    @property
    def text(self) -> str:
        """The question in words."""
        return " ".join(WORDS[word] for word in self.words if word)


def say(answer: int) -> str:
    """An answer in words."""
    return ANSWERS[answer].split()[-1]


def ask_thing(kind: str, colour: str, answer: int, box: tuple[int, int, int, int]) -> Question:
    """As "which letter red": the letter or the class of the garment, on the plate of that colour."""
    return Question(_numbers("which", kind, colour), answer, box)


def ask_count(kind: str, count: int) -> Question:
    """How many of a kind there are."""
    return Question(_numbers("how many", f"{kind}s"), ANSWERS.index(f"count {count}"), None)


def ask_ground(colour: str) -> Question:
    """The colour behind all."""
    return Question(_numbers("which", "ground"), ANSWERS.index(colour), None)


def _numbers(*words: str) -> tuple[int, ...]:
    numbers = [WORDS.index(word) for word in words]
    return tuple(numbers + [0] * (LENGTH - len(numbers)))
