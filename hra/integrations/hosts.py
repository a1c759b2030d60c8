"""Programs that hra runs inside of: they load hra, and no extra of hra installs them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hra.errors import MissingExtra


@contextmanager
def host(program: str) -> Iterator[None]:
    """For the imports of a host, by the name that pip knows it by.

    Raises
    ------
    MissingExtra : it, or a package that it imports, is not installed; names that one.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        what = f"the package {error.name!r} is not installed"
        raise MissingExtra(what, where=program, fix=f"pip install {program}") from error
