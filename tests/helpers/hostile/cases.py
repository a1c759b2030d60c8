"""What a made-up file is and what reading it must give."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

# One tetrahedron is behind most of the files: four vertices, four triangles, closed.
POINTS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float32)
FACES = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]], np.uint32)
SQUARE = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], np.float32)
SQUARE_FACES = np.array([[0, 1, 2], [0, 2, 3]], np.uint32)
TETRAHEDRON = POINTS[FACES]
QUAD = SQUARE[SQUARE_FACES]


@dataclass(frozen=True, eq=False)
class Case:
    """A file, with others beside it, and the right answer.

    Attributes
    ----------
    name : unique among all cases; its first word is the kind of file.
    content : of the file itself.
    suffix : of its name, ".ply" for one.
    corners : float32 [F, 3, 3] of the triangles that must come out, in any order; None where it must be refused, or
        for an image.
    size : of the image that must come out (height, width); None otherwise.
    beside : further files by name.
    uv : float32 [F, 3, 2] in the order of ``corners``, where texture coordinates are to be compared.
    lenient : the name of the documented leniency by which a file that breaks its format is read all the same.
    """

    name: str
    content: bytes
    suffix: str
    corners: np.ndarray | None = None
    size: tuple[int, int] | None = None
    beside: dict[str, bytes] = field(default_factory=dict)
    uv: np.ndarray | None = None
    lenient: str = ""

    @property
    def accepted(self) -> bool:
        """Whether it must be read."""
        return self.corners is not None or self.size is not None

    @property
    def bytes(self) -> int:
        """Of all its files."""
        return len(self.content) + sum(len(content) for content in self.beside.values())


def utf8(text: str | bytes) -> bytes:
    """Text as bytes."""
    return text.encode() if isinstance(text, str) else text
