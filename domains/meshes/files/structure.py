"""Kinds of JSON values that check themselves: what a format's property table says, as values that can be combined.

A kind takes a value and the whole document and gives the value back, whole numbers as ints however they were written.
Where it does not fit, `Misfit` collects the way to it from the inside out, so that valid files pay for no text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

Document = Mapping[str, Any]
Kind = Callable[[Any, Document], Any]
# Beyond this, float64 and JSON readers do not tell whole numbers apart.
_LARGEST = 2**53
_SHOWN = 40


class Misfit(Exception):
    """A value that is not of its kind; ``path`` leads to it, last step first."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what
        self.path: list[str] = []

    @property
    def place(self) -> str:
        """The way to the value, as in "accessors[3].count"."""
        return "".join(reversed(self.path)).lstrip(".") or "the whole header"


# Some units in the last place of float32, in which exporters compute.
_ROUNDING = 2.0**-20


def whole(low: int = 0, high: int = _LARGEST, *, step: int = 1, choices: Collection[int] = ()) -> Kind:
    """A whole number, perhaps one of some; 5.0 is one, true is not."""

    def check(value: Any, document: Document) -> int:
        if type(value) is float and value.is_integer():
            value = int(value)
        if type(value) is not int:
            raise Misfit(f"{_quote(value)} is not a whole number")
        if not low <= value <= high or value % step or (choices and value not in choices):
            raise Misfit(f"{_quote(value)} is out of range")
        return value

    return check


def number(low: float = -math.inf, high: float = math.inf, *, above: float = -math.inf) -> Kind:
    """A finite number from ``low`` to ``high``, greater than ``above``; what float32 rounds beyond is the bound."""

    def check(value: Any, document: Document) -> float:
        if type(value) not in (int, float):
            raise Misfit(f"{_quote(value)} is not a number")
        if not (abs(value) < 1e308 and value > above):
            raise Misfit(f"{_quote(value)} is out of range")
        nearest = min(max(float(value), low), high)
        if abs(value - nearest) > _ROUNDING * abs(nearest):
            raise Misfit(f"{_quote(value)} is out of range")
        return nearest

    return check


def text(pattern: str = "") -> Kind:
    """A text, perhaps of a pattern."""
    compiled = re.compile(pattern or "", re.DOTALL)

    def check(value: Any, document: Document) -> str:
        if type(value) is not str:
            raise Misfit(f"{_quote(value)} is not a text")
        if pattern and not compiled.fullmatch(value):
            raise Misfit(f"{_quote(value)} is not allowed")
        return value

    return check


def flag(value: Any, document: Document) -> bool:
    """True or false."""
    if type(value) is not bool:
        raise Misfit(f"{_quote(value)} is neither true nor false")
    return value


def anything(value: Any, document: Document) -> Any:
    """Any value."""
    return value


def index(target: str) -> Kind:
    """The number of an entry of the document's list ``target``."""
    of_list = whole()

    def check(value: Any, document: Document) -> int:
        value = of_list(value, document)
        entries = document.get(target)
        count = len(entries) if isinstance(entries, list) else 0
        if value >= count:
            raise Misfit(f"there is no {target[:-1]} {_quote(value)}, but {count}")
        return value

    return check


def listing(item: Kind, least: int = 1, most: int = _LARGEST, *, unique: bool = False) -> Kind:
    """A list of ``least`` to ``most`` values of one kind."""

    def check(value: Any, document: Document) -> list[Any]:
        if type(value) is not list:
            raise Misfit(f"{_quote(value)} is not a list")
        if not least <= len(value) <= most:
            raise Misfit(f"a list has {len(value)} entries")
        for place, entry in enumerate(value):
            try:
                value[place] = item(entry, document)
            except Misfit as misfit:
                misfit.path.append(f"[{place}]")
                raise
        if unique and len(set(value)) < len(value):
            raise Misfit("a list has the same entry twice")
        return value

    return check


def mapping(item: Kind, names: str = "", least: int = 0) -> Kind:
    """An object of values of one kind, whose names have a pattern."""
    pattern = re.compile(names, re.DOTALL)

    def check(value: Any, document: Document) -> dict[str, Any]:
        if type(value) is not dict:
            raise Misfit(f"{_quote(value)} is not an object")
        if len(value) < least:
            raise Misfit("an object is empty")
        for name, entry in value.items():
            if names and not pattern.fullmatch(name):
                raise Misfit(f"the name {_quote(name)} is not allowed")
            _set(value, name, item, entry, document)
        return value

    return check


def record(
    fields: Mapping[str, Kind],
    *,
    required: Sequence[str] = (),
    one_of: Sequence[str] = (),
    needs: Mapping[str, str] | None = None,
) -> Kind:
    """An object with some properties; others are passed over.

    Parameters
    ----------
    required : must be there; one_of : of these exactly one must.
    needs : properties that need another one beside them.
    """

    def check(value: Any, document: Document) -> dict[str, Any]:
        if type(value) is not dict:
            raise Misfit(f"{_quote(value)} is not an object")
        for name in required:
            if name not in value:
                raise Misfit(f"{name!r} is missing")
        for name in value:
            kind = fields.get(name)
            if kind is not None:
                _set(value, name, kind, value[name], document)
        if one_of and sum(name in value for name in one_of) != 1:
            raise Misfit(f"exactly one of {', '.join(one_of)} is needed")
        for name, other in (needs or {}).items():
            if name in value and other not in value:
                raise Misfit(f"{name!r} needs {other!r}")
        return value

    return check


def _set(value: dict[str, Any], name: str, kind: Kind, entry: Any, document: Document) -> None:
    try:
        value[name] = kind(entry, document)
    except Misfit as misfit:
        misfit.path.append(f".{name[:_SHOWN]}")
        raise


def _quote(value: Any) -> str:
    if isinstance(value, int) and value.bit_length() > 128:
        return f"a number of {value.bit_length()} bits"
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    shown = repr(value)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
