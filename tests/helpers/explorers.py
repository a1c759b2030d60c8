"""What a page to move a budget on holds, as its program reads it."""

from __future__ import annotations

import base64

import numpy as np

_TYPES = {"Uint8Array": "<u1", "Uint16Array": "<u2", "Uint32Array": "<u4", "Float32Array": "<f4", "Float64Array": "<f8"}


def unpacked(record: dict[str, str]) -> np.ndarray:
    return np.frombuffer(base64.b64decode(record["bytes"]), _TYPES[record["type"]])


def cuts(track: dict) -> list[set[int]]:
    """What the page's program makes of a track: nodes at every step."""
    nodes: set[int] = set()
    steps, begin = [], 0
    for end in unpacked(track["ends"]):
        nodes ^= set(unpacked(track["changed"])[begin:end].tolist())
        begin = int(end)
        steps.append(set(nodes))
    return steps
