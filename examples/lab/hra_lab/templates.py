"""Texts of pages: plain files beside the module that fills them in, with ``$name`` where a result goes."""

from __future__ import annotations

from importlib.resources import files
from string import Template


def text(package: str | None, name: str) -> str:
    """The text ``name`` of a package, which a module passes as its ``__package__``."""
    return files(package or "hra_lab").joinpath(name).read_text("utf-8")


def template(package: str | None, name: str) -> Template:
    """The same, for values to be substituted."""
    return Template(text(package, name))
