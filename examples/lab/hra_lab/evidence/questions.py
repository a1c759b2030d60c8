"""Questions to a canvas, and their closed answers."""

from __future__ import annotations

from dataclasses import dataclass

from hra_lab.evidence.sprites import PATTERNS

COLOURS = ("red", "green", "blue", "yellow", "magenta", "cyan")

WORDS = ("nothing", "which", "ground", "pattern", *COLOURS)
"""Every word that a question is made of; "nothing" fills up."""
LENGTH = 3
"""Words in a question."""

ANSWERS = (*PATTERNS, *COLOURS)
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


def ask_thing(colour: str, answer: int, box: tuple[int, int, int, int]) -> Question:
    """As "which pattern red": the pattern on the plate of that colour."""
    return Question(_numbers("which", "pattern", colour), answer, box)


def ask_ground(colour: str) -> Question:
    """The colour behind all."""
    return Question(_numbers("which", "ground"), ANSWERS.index(colour), None)


def _numbers(*words: str) -> tuple[int, ...]:
    numbers = [WORDS.index(word) for word in words]
    return tuple(numbers + [0] * (LENGTH - len(numbers)))
