"""Damage at random: one valid file in, one that may be anything out."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

Damage = Callable[[np.random.Generator, bytes, bytes], bytes]
_NUMBER = re.compile(rb"-?\d+\.?\d*(?:[eE][-+]?\d+)?")
_ODD = (
    *(b"0", b"-1", b"1", b"255", b"65535", b"4294967295", b"2147483648", b"-2147483649", b"9223372036854775808"),
    *(
        b"1e308",
        b"1e400",
        b"-1e-320",
        b"nan",
        b"inf",
        b"0.5",
        b"1_0",
        b"",
        b"9" * 400,
        b"true",
        b"null",
        b'"x"',
        b"[]",
        b"{}",
    ),
)
_WORDS = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


def mutated(rng: np.random.Generator, content: bytes, other: bytes) -> bytes:
    """``content`` with one to four random damages, mostly one; ``other`` is a file that pieces may come from."""
    for _ in range(int(rng.choice([1, 1, 1, 2, 2, 3, 4]))):
        if content:
            content = _DAMAGES[int(rng.integers(len(_DAMAGES)))](rng, content, other)
    return content


def _place(rng: np.random.Generator, content: bytes) -> int:
    """Somewhere, in half of the cases among the first 256 bytes, where headers are."""
    limit = min(len(content), 256) if rng.random() < 0.5 else len(content)
    return int(rng.integers(limit))


def _flip(rng: np.random.Generator, content: bytes, other: bytes) -> bytes:
    at = _place(rng, content)
    return content[:at] + bytes([content[at] ^ (1 << int(rng.integers(8)))]) + content[at + 1 :]


def _byte(rng: np.random.Generator, content: bytes, other: bytes) -> bytes:
    at = _place(rng, content)
    return content[:at] + bytes([int(rng.integers(256))]) + content[at + 1 :]


def _word(rng: np.random.Generator, content: bytes, other: bytes) -> bytes:
    at, size = _place(rng, content), int(rng.choice([1, 2, 4, 8]))
    value = int(rng.choice(_WORDS)) % 256**size
    return content[:at] + value.to_bytes(size, "little" if rng.random() < 0.7 else "big") + content[at + size :]


def _cut(rng: np.random.Generator, content: bytes, other: bytes) -> bytes:
    return content[: int(rng.integers(len(content)))]


def _drop(rng: np.random.Generator, content: bytes, other: bytes) -> bytes:
    at = _place(rng, content)
    return content[:at] + content[at + int(rng.integers(1, 64)) :]


def _repeat(rng: np.random.Generator, content: bytes, other: bytes) -> bytes:
    at, size = _place(rng, content), int(rng.integers(1, 64))
    return content[: at + size] + content[at : at + size] * int(rng.choice([1, 1, 2, 50])) + content[at + size :]


def _splice(rng: np.random.Generator, content: bytes, other: bytes) -> bytes:
    at, begin = _place(rng, content), int(rng.integers(max(len(other), 1)))
    piece = other[begin : begin + int(rng.integers(1, 128))]
    return content[:at] + piece + content[at + (len(piece) if rng.random() < 0.5 else 0) :]


def _number(rng: np.random.Generator, content: bytes, other: bytes) -> bytes:
    """Another number in place of one in a text."""
    begin = _place(rng, content)
    found = _NUMBER.search(content, begin) or _NUMBER.search(content)
    if found is None:
        return _byte(rng, content, other)
    return content[: found.start()] + _ODD[int(rng.integers(len(_ODD)))] + content[found.end() :]


def _line(rng: np.random.Generator, content: bytes, other: bytes) -> bytes:
    """A line twice, not at all, or elsewhere."""
    lines = content.split(b"\n")
    at, to = (int(rng.integers(len(lines))) for _ in range(2))
    moved = lines[at]
    if rng.random() < 0.6:
        del lines[at]
    if rng.random() < 0.6:
        lines.insert(to, moved)
    return b"\n".join(lines)


_DAMAGES: tuple[Damage, ...] = (_flip, _byte, _word, _cut, _drop, _repeat, _splice, _number, _number, _line)
