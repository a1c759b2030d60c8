"""What a page to move a budget on holds, as its program reads it."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

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


@contextmanager
def opened(browser: Any, file: Path, content: str, width: int = 1100) -> Iterator[Any]:
    """A page in a browser: nothing in it fails, and it asks for nothing beside itself."""
    file.write_text(content, "utf-8")
    page = browser.new_page(viewport={"width": width, "height": 800})
    asked, failed = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: failed.append(str(error)))
    page.goto(file.as_uri())
    page.wait_for_selector("html[data-ready=yes]", timeout=60_000)
    yield page
    assert failed == [] and [url for url in asked if not url.startswith(("file:", "data:"))] == []
    page.close()
