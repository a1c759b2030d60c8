"""What Typer makes of typed words, without pydantic where nothing about them has to be checked.

Typer from 0.25 on hands every value to pydantic, whose import takes a tenth of a warm start. Plain words need none of
it; whatever is not plain, or wrong, goes to Typer, which says so in its own way.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any

from typer import core

_UNKNOWN = object()
_NUMBERS = {int: re.compile(r"-?(0|[1-9][0-9]{0,14})"), float: re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,15})?")}
# What a path may be asked to be beside readable, which it is by default.
_PATH_OPTIONS = ("exists", "writable", "resolve_path", "allow_dash", "path_type")


def spare_pydantic() -> None:
    """Let parameters of commands read plain words by themselves; a Typer that is made otherwise stays as it is."""
    made: Any = getattr(core, "build_runtime_param", None)
    if made is not None and not isinstance(made, partial):
        core.build_runtime_param = partial(_Plain, made)  # pyright: ignore[reportPrivateImportUsage, reportAttributeAccessIssue]


class _Plain:
    """Stands in for what Typer makes of a parameter's type: that is made when it is needed."""

    def __init__(self, make: Callable[[Any], Any], described: Any) -> None:
        self._make, self._described = make, described
        self._made: Any = None

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """See Typer."""
        if param.nargs == 1 and not param.multiple:
            with suppress(Exception):  # whatever a parser raises is Typer's to tell
                found = _plain(value, self._described)
                if found is not _UNKNOWN:
                    return found
        if self._made is None:
            self._made = self._make(self._described)
        return self._made.coerce(value, param=param, ctx=ctx)


def _plain(value: Any, described: Any) -> Any:
    """The value of a plain word, or of a default, as the type of its parameter."""
    kind, asked = described.annotation, described.parameter_info
    if value is None or (kind is bool and isinstance(value, bool)):
        return value
    if asked.parser is not None:
        return asked.parser(value)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return value if isinstance(value, kind) else kind(value) if asked.case_sensitive else _UNKNOWN
    if kind in _NUMBERS and not asked.clamp:
        if type(value) is str and _NUMBERS[kind].fullmatch(value):
            value = kind(value)
        low, high = (end if limit is None else limit for limit, end in ((asked.min, value), (asked.max, value)))
        return value if type(value) is kind and low <= value <= high else _UNKNOWN
    if kind is Path and not any(getattr(asked, name) for name in _PATH_OPTIONS) and asked.file_okay and asked.dir_okay:
        plain = isinstance(value, str) and value.isascii() and (os.access(value, os.R_OK) or not os.path.lexists(value))
        return Path(value) if plain else _UNKNOWN
    return value if kind is str and type(value) is str and value.isascii() else _UNKNOWN
