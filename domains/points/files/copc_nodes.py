"""The nodes of a COPC file, checked before any is read."""

from __future__ import annotations

from typing import IO

import numpy as np

from hra.domains.points.files.copc_layout import ENTRY, INFO, INFO_ID, PAGE, RECORD_HEAD, RECORD_PLACE, USER
from hra.domains.points.files.las_header import Claims, refusal

# Finer cells would have numbers that no int32 holds.
_LEVELS = 31


def is_copc(stream: IO[bytes], size: int, claims: Claims) -> bool:
    """Whether a LAZ file is a COPC file: its first record says so."""
    if not claims.packed or claims.minor < 4 or size < RECORD_PLACE + RECORD_HEAD.size + INFO.size:
        return False
    stream.seek(RECORD_PLACE)
    user, number, length = RECORD_HEAD.unpack(stream.read(RECORD_HEAD.size))
    return user.rstrip(b"\0") == USER.encode() and number == INFO_ID and length >= INFO.size


def read_nodes(stream: IO[bytes], size: int, claims: Claims, level: int | None, where: str) -> np.ndarray:
    """The nodes that hold points, those down to ``level`` or all, as rows of `ENTRY`, rising by their places.

    Raises
    ------
    FileError : pages or points lie outside of the file of ``size`` bytes, pages lead back to each other, a node is
        there twice or is not one of an octree, or nodes hold other numbers of points than the header says.
    """
    deepest = _LEVELS if level is None else level
    found = np.concatenate([page[page["points"] != PAGE] for page in _pages(stream, size, deepest, where)])
    _check_keys(found, where)
    filled = np.sort(found[(found["points"] > 0) & (found["level"] <= deepest)], order="place")
    # Sorted, so that nodes overlap only if two that follow each other do.
    ends = filled["place"] + filled["bytes"].astype(np.uint64)
    outside = (filled["bytes"] <= 0) | (filled["place"] < claims.begin) | (filled["place"] > size) | (ends > size)
    if outside.any() or (ends[:-1] > filled["place"][1:]).any():
        raise refusal("points of a node lie outside of the file, or in another node", where)
    points = int(filled["points"].sum(dtype=np.int64))
    if points > claims.points or (level is None and points < claims.points):
        raise refusal(f"its nodes hold {points:,} points, its header says {claims.points:,}", where)
    return filled


def _pages(stream: IO[bytes], size: int, deepest: int, where: str) -> list[np.ndarray]:
    """The pages of the hierarchy with nodes down to a level, from the first one on."""
    stream.seek(RECORD_PLACE + RECORD_HEAD.size)
    *_, place, length, _, _ = INFO.unpack(stream.read(INFO.size))
    waiting, read, found = [(place, length)], 0, []
    while waiting:
        place, length = waiting.pop()
        read += length
        if length <= 0 or length % ENTRY.itemsize or place + length > size:
            raise refusal("a page of its hierarchy lies outside of the file", where)
        if read > size:
            raise refusal("the pages of its hierarchy lead back to each other", where)
        stream.seek(place)
        page = np.frombuffer(stream.read(length), ENTRY)
        found.append(page)
        further = page[(page["points"] == PAGE) & (page["level"] <= deepest)]
        waiting += zip(further["place"].tolist(), further["bytes"].tolist(), strict=True)
    return found


def _check_keys(nodes: np.ndarray, where: str) -> None:
    level = nodes["level"].astype(np.int64)
    in_range = (level >= 0) & (level < _LEVELS) & (nodes["points"] >= 0)
    for axis in "xyz":
        in_range &= (nodes[axis] >= 0) & (nodes[axis] < 1 << level.clip(0, _LEVELS))
    if not in_range.all():
        raise refusal("a node does not belong to an octree", where)
    if len(np.unique(nodes[["level", "x", "y", "z"]])) < len(nodes):
        raise refusal("a node appears twice", where)
