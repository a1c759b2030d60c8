"""Whether the library has what a benchmark measures."""

from __future__ import annotations

from functools import reduce
from importlib import import_module

from hra.errors import MissingExtra


def missing(feature: str) -> str | None:
    """Why ``feature`` cannot be used here, or None if it can.

    Parameters
    ----------
    feature : "module:attribute", for example "hra.traversals.hull:Hull"; attributes may be dotted.
    """
    module, _, attribute = feature.partition(":")
    try:
        reduce(getattr, attribute.split("."), import_module(module))
    except (ImportError, AttributeError, MissingExtra) as error:
        return f"{feature} is not available: {str(error).splitlines()[0]}"
    return None
