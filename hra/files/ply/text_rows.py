"""Text files of numbers, line by line, as arrays: what a line lacks is never taken from the next one."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from hra.errors import FileError

# Pieces that are split into lines at a time, since a line of two bytes takes 40 as an object.
_PIECE = 2**20
_SHOWN = 60
# Of numbers that NumPy reads at once; others, such as nan, are read one by one.
_PLAIN = b"0123456789+-.eE \t\n"


@dataclass(frozen=True, eq=False)
class Rows:
    """Numbers of consecutive lines.

    Attributes
    ----------
    values : float64 [n]; offsets : int64 [R + 1], where each row begins among them.
    lines : int64 [R], the number of each row's line in the file, from 1.
    """

    values: np.ndarray
    offsets: np.ndarray
    lines: np.ndarray

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def counts(self) -> np.ndarray:
        """Numbers in each row, int64 [R]."""
        return np.diff(self.offsets)

    def place(self, row: int, where: str) -> str:
        """Where ``row`` is, for messages."""
        return f"{where}, line {self.lines[row]}"

    def part(self, begin: int, end: int) -> Rows:
        """The rows from ``begin`` to before ``end``."""
        first, last = self.offsets[begin], self.offsets[end]
        return Rows(self.values[first:last], self.offsets[begin : end + 1] - first, self.lines[begin:end])


def pieces(text: bytes, begin: int = 0, first: int = 1) -> Iterator[tuple[int, bytes]]:
    r"""Whole lines of ``text`` from byte ``begin`` on, many at a time, with the number of the first one of each piece.

    Lines end with \n, \r\n or \r in the file, with \n in the pieces.
    """
    while begin < len(text):
        end = _piece_end(text, begin)
        piece = text[begin:end]
        if b"\r" in piece:
            piece = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        piece = piece if piece.endswith(b"\n") else piece + b"\n"
        yield first, piece
        begin, first = end, first + piece.count(b"\n")


def numbered_lines(text: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines of `pieces` one by one, without their ends."""
    for number, piece in pieces(text):
        yield from enumerate(piece.split(b"\n")[:-1], number)


def _piece_end(text: bytes, begin: int) -> int:
    """Behind the last line end of the next piece."""
    end = begin + _PIECE
    while end < len(text):
        # The last byte of the piece is not a line end if it is \r: it may be the first of two.
        last = max(text.rfind(b"\n", begin, end), text.rfind(b"\r", begin, end - 1))
        if last >= begin:
            return last + 1
        end += _PIECE
    return len(text)


def read_rows(lines: Iterable[tuple[int, bytes]], where: str) -> Rows:
    r"""The numbers of all lines that are not blank.

    Parameters
    ----------
    lines : whole lines that end with \n with the number of the first one, as `pieces` gives them.

    Raises
    ------
    FileError : something else than a number, with its line.
    """
    values, counts, numbers = array("d"), array("q"), array("q")
    for first, piece in lines:
        fast = uniform_numbers(piece)
        if fast is None:
            _read_slowly(piece, first, where, values, counts, numbers)
            continue
        found, words = fast
        there = np.flatnonzero(words)
        values.frombytes(found.tobytes())
        counts.frombytes(words[there].tobytes())
        numbers.frombytes((there + first).tobytes())
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(np.frombuffer(counts, np.int64) if counts else [], out=offsets[1:])
    return Rows(_array(values, np.float64), offsets, _array(numbers, np.int64))


def uniform_numbers(piece: bytes) -> tuple[np.ndarray, np.ndarray] | None:
    """All numbers float64 [n] of whole lines, and how many each line has, int64 [L]; None where one is not plain."""
    if piece.translate(None, _PLAIN):
        return None
    try:
        values = np.fromstring(piece, sep=" ")
    except (ValueError, DeprecationWarning):  # of NumPy, where something is left over
        return None
    counts = word_counts(piece)
    return (values, counts) if counts.sum() == len(values) else None


def word_counts(piece: bytes) -> np.ndarray:
    """How many words each of whole lines has, int64 [L]."""
    letters = np.frombuffer(piece, np.uint8)
    blank = letters <= ord(" ")
    begins = ~blank
    begins[1:] &= blank[:-1]
    so_far = np.cumsum(begins)[letters == ord("\n")]
    return np.diff(so_far, prepend=0)


def _read_slowly(piece: bytes, first: int, where: str, values: array, counts: array, numbers: array) -> None:
    for number, line in enumerate(piece.split(b"\n")[:-1], first):
        words = line.split()
        if words:
            values.extend(floats(words, line, f"{where}, line {number}"))
            counts.append(len(words))
            numbers.append(number)


def floats(words: list[bytes], line: bytes, where: str) -> list[float]:
    """Words as numbers.

    Raises
    ------
    FileError : one that is none; Python's underscores between digits are none either.
    """
    try:
        if b"_" not in line:
            return [float(word) for word in words]
    except ValueError:
        pass
    raise FileError(f"a line is not of numbers: {quote(line)}", where=where)


def whole_numbers(name: str, values: np.ndarray, where: str) -> np.ndarray:
    """float64 ``values`` that are whole numbers of 32 bits, as int64.

    Raises
    ------
    FileError : one is not.
    """
    bad = np.flatnonzero(~((values == np.floor(values)) & (np.abs(values) < 2.0**32)))
    if bad.size:
        raise FileError(f"{name} is {values[bad[0]]:g}, which is not a whole number of 32 bits", where=where)
    return values.astype(np.int64)


def quote(line: bytes) -> str:
    """The beginning of a line, for messages."""
    text = line[:_SHOWN].decode("utf-8", "replace")
    return repr(text) + ("..." if len(line) > _SHOWN else "")


def _array(values: array, dtype: type) -> np.ndarray:
    return np.frombuffer(values, dtype) if values else np.empty(0, dtype)
