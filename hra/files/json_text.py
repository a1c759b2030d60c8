"""JSON from files: bounded in depth and number of values before it is parsed."""

from __future__ import annotations

import json
import re
from typing import Any

from hra.errors import FileError
from hra.files.limits import DEFAULT, Limits

_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
# Of each byte how much deeper it leads: 1 at brackets that open, -1 (as a byte) at those that close.
_STEPS = bytes(1 if sign in b"[{" else 255 if sign in b"]}" else 0 for sign in range(256))


def parse_object(text: bytes, what: str, where: str, limits: Limits = DEFAULT) -> dict[str, Any]:
    """The JSON object ``text``; ``what`` names it in messages.

    Raises
    ------
    FileError : not JSON in UTF-8, not an object, a number that JSON does not have.
    LimitExceeded : too deep, or too many values: a list of empty lists takes 24 times its text.
    """
    bare = _STRING.sub(b'"', text)
    limits.check("json_values", sum(bare.count(sign) for sign in (b",", b"[", b"{")), where)
    limits.check("json_depth", _depth(bare), where)
    try:
        found = json.loads(text.decode("utf-8-sig"), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise FileError(f"the {what} is not valid JSON: {error}", where=where) from error
    if not isinstance(found, dict):
        raise FileError(f"the {what} is not a JSON object", where=where)
    return found


def _depth(bare: bytes) -> int:
    import numpy as np

    steps = np.frombuffer(bare.translate(_STEPS), np.int8)
    steps = steps[steps != 0]
    return int(steps.cumsum(dtype=np.int32).max()) if steps.size else 0


def _refuse(name: str) -> float:
    raise ValueError(f"JSON has no number {name}")
