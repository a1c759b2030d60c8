"""Subtrees: bits that just suffice are read, one byte less is refused."""

from __future__ import annotations

import json

import pytest

from hra.domains.tiles.files.subtrees import read_subtree
from hra.errors import FileError


def record(length: int) -> bytes:
    """A JSON subtree of two levels of a quadtree, whose 16 children are in ``length`` bytes of a buffer."""
    views = [{"buffer": 0, "byteLength": 1}, {"buffer": 0, "byteOffset": 1, "byteLength": length}]
    entries = {"tileAvailability": {"bitstream": 0}, "childSubtreeAvailability": {"bitstream": 1}}
    return json.dumps({"buffers": [{"uri": "bits"}], "bufferViews": views} | entries).encode()


def test_bits_that_just_suffice_are_read() -> None:
    found = read_subtree(record(2), lambda uri: bytes([0b10011, 0b00000001, 0b10000000]), 4, 2, "a.subtree")
    assert found.tiles.tolist() == [True, True, False, False, True]
    assert found.children.nonzero()[0].tolist() == [0, 15] and found.children.shape == (16,)
    assert found.contents.shape == (0, 5)


def test_bits_that_are_missing_are_counted() -> None:
    with pytest.raises(FileError, match="a subtree has 8 bits instead of 16") as caught:
        read_subtree(record(1), lambda uri: bytes(3), 4, 2, "a.subtree")
    assert caught.value.where == "a.subtree"
