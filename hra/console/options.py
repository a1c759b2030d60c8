"""Options that several commands share, each list in one place: a dataclass stands for all options in its fields.

Where a command writes to is checked while its options are read, so that no work is done for nothing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from tempfile import TemporaryFile
from typing import Annotated, Any, get_type_hints

import typer

from hra.errors import FileError, HraError
from hra.files.local_files import local_path

_Check = Callable[[typer.Context, typer.CallbackParam, Path | None], Path | None]


def written_as(*suffixes: str) -> _Check:
    """A callback of an option that names a file to write, of one of the ``suffixes``; of any without some.

    The callback raises what `check_file` does, and FileError for a file that the command names twice: what it reads, or
    writes for another option, would be lost.
    """

    def check(context: typer.Context, option: typer.CallbackParam, path: Path | None) -> Path | None:
        if path is not None:
            check_file(path, *suffixes)
            _check_alone(path, _is_typed(context, option.name or ""))
        return path

    return check


def check_file(path: Path, *suffixes: str) -> None:
    """Check that a file can be written, of one of the ``suffixes``; of any without some.

    Raises
    ------
    FileError : another suffix, a folder, pipe or device in its place, or a folder that is missing or not writable.
    """
    _check_suffix(path, suffixes)
    _check_place(path)


def refuse_given(context: typer.Context, names: Sequence[str], what: str) -> None:
    """Refuse options that somebody has typed and that would be ignored.

    Parameters
    ----------
    names : of the command's parameters: those of the options with ``_`` for ``-``. what : why they are ignored.

    Raises
    ------
    HraError : one of them was typed.
    """
    if typed := [name for name in names if _is_typed(context, name)]:
        where = ", ".join(f"--{name.replace('_', '-')}" for name in typed)
        raise HraError(what, where=where, fix="leave out what is named")


def folder_or(*suffixes: str) -> _Check:
    """A callback as that of `written_as`, for folders that are there or not, and files of the ``suffixes`` if any."""
    file = written_as(*suffixes)

    def check(context: typer.Context, option: typer.CallbackParam, path: Path | None) -> Path | None:
        if path is None:
            return None
        if suffixes and path.suffix and not os.path.isdir(path):
            _check_suffix(path, suffixes, ", or make the folder of this name first")
            return file(context, option, path)
        _check_folder(path)
        return path

    return check


def _is_typed(context: typer.Context, name: str) -> bool:
    """Whether somebody has typed the parameter of a command: it may have its default value."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _check_alone(path: Path, is_typed: bool) -> None:
    """Refuse to write a file that another word of the command names, too: inputs are read after outputs are checked."""
    words = [word.partition("=")[2] if word.startswith("--") else word for word in sys.argv[1:]]
    words += [word[2:] for word in sys.argv[1:] if word.startswith("-")]
    file = os.path.realpath(path)
    if sum(os.path.realpath(word) == file for word in words if word) > is_typed:
        fix = "choose another name for what is written"
        raise FileError("the command names this file twice, and would write over it", where=str(path)[:500], fix=fix)


def _check_suffix(path: Path, suffixes: tuple[str, ...], otherwise: str = "") -> None:
    if suffixes and path.suffix.lower() not in suffixes and not os.path.isdir(path):
        what = f"the format {path.suffix[:20]!r} is not written here" if path.suffix else "the name says no format"
        raise FileError(what, where=str(path)[:500] or "path", fix=f"use {', '.join(suffixes)}{otherwise}")


def _check_place(path: Path) -> None:
    try:
        file = local_path(path)
        if file.exists() and not file.is_file():
            what = f"the file cannot be written: there is {'a folder' if file.is_dir() else 'a pipe or device'}"
            raise FileError(what, where=str(path)[:500], fix="name a file in a folder")
        folder = Path(os.path.realpath(file)).parent
        if not folder.is_dir():
            _refuse("the folder does not exist", path, f"mkdir -p {str(folder)[:200]}")
    except OSError as error:
        return _refuse(error.strerror or str(error), path, "choose a shorter name in a writable folder")
    return _check_writable(folder, path)


def _check_folder(path: Path) -> None:
    """A folder that is there or can be made: the first one above it that is there is writable."""
    try:
        there = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    except OSError as error:
        return _refuse(error.strerror or str(error), path, "choose a shorter name in a writable folder")
    if not there.is_dir():
        _refuse(f"{there.name[:100]!r} is a file", path, "name a folder")
    return _check_writable(there, path)


def _check_writable(folder: Path, path: Path) -> None:
    """Try it: what permissions say is not all that folders of the system, of the network or of containers ask for."""
    try:
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        _refuse(f"the folder is not writable: {error.strerror or error}", path, "choose a writable folder")


def _refuse(reason: str, path: Path, fix: str) -> None:
    raise FileError(f"the file cannot be written: {reason}", where=str(path)[:500], fix=fix)


JsonOption = Annotated[
    Path | None,
    typer.Option("--json", callback=written_as(), help="Also write the result as JSON to this file."),
]


class Scale(StrEnum):
    """Sizes of benchmarks and evaluations: those that the pages state, or tiny ones that only show that all runs."""

    full = "full"
    small = "small"


ScaleOption = Annotated[Scale, typer.Option(help="Sizes of the documented runs, or small.")]


def with_option_lists(command: Callable[..., None]) -> Callable[..., None]:
    """``command`` as typer reads it: a parameter that is a dataclass of options becomes one option for each field."""
    hints = get_type_hints(command, include_extras=True)
    lists: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    flat: list[Parameter] = []
    for parameter in signature(command).parameters.values():
        known = parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[parameter.name])
        flat += _options(lists[parameter.name]) if parameter.name in lists else [known]

    @wraps(command)
    def run(**given: Any) -> None:
        for name, kind in lists.items():
            given[name] = kind(**{field.name: given.pop(field.name) for field in fields(kind)})
        command(**given)

    run.__signature__ = Signature(flat)  # pyright: ignore[reportAttributeAccessIssue]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
    return run


def _options(kind: Any) -> list[Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(kind)
    ]
