"""What ``hra`` does with the words that were typed: the command, its exit code and its errors.

When it cannot go on it says three lines, whoever raised the error.
"""

from __future__ import annotations

import atexit
import gc
import io
import os
import shlex
import sys
import warnings
from collections.abc import Sequence
from difflib import get_close_matches
from importlib.metadata import requires
from typing import Annotated, Any

import typer

from hra.cli.groups import Commands
from hra.errors import HraError, MissingExtra
from hra.files.limits import enough_memory
from hra.plugins import available

app = typer.Typer(
    cls=Commands,
    help="Which level of detail where, within this budget?",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
# Typer has had two homes for Click's errors, and exports only these.
UsageError: type[Any] = typer.BadParameter.__bases__[0]
ClickException: type[Exception] = UsageError.__bases__[0]
# The extra that a command's packages belong to, by its first word.
_EXTRAS = {"mesh": "meshes", "texture": "textures", "tokens": "tokens", "demo": "demo"}
_COLOURS = {"error": "red", "warning": "yellow", "fix": "green"}


def three_lines(error: HraError, typed: Sequence[str]) -> str:
    """What is wrong, where, and what to do, each in one line.

    Parameters
    ----------
    typed : the words after ``hra``, for errors that do not know what was called.
    """
    command = " ".join(["hra", *_words(typed)])
    shown = _for_command(error, typed) if isinstance(error, MissingExtra) else error
    parts = (shown.what, shown.where or command, shown.fix or f"`{command} --help` shows how it is called")
    what, where, fix = (" ".join(part.split()) for part in parts)
    return f"error: {what}\nwhere: {where}\nfix: {fix}"


def coloured(lines: str) -> str:
    """The word before each line's first colon in a colour: Typer drops colours where nobody sees them."""
    if os.environ.get("NO_COLOR"):
        return lines
    words = (line.partition(": ") for line in lines.splitlines())
    return "\n".join(typer.style(word, fg=_COLOURS.get(word), bold=True) + colon + rest for word, colon, rest in words)


def usage_error(error: Any, typed: Sequence[str]) -> HraError:
    """An error of Typer's parser as one of hra; ``typed`` as for `three_lines`."""
    context, parameter = getattr(error, "ctx", None), getattr(error, "param", None)
    command = " ".join(["hra", *_words(typed)]) if context is None else context.command_path
    what = getattr(error, "message", "") or error.format_message()
    if type(error).__name__ == "MissingParameter":
        what = error.format_message()
    name = "" if parameter is None else max(parameter.opts or [parameter.name], key=len)
    where = f"{command} {name}".strip()
    return HraError(_lower(what.strip().rstrip(".")), where=where, fix=_usage_fix(error, command))


def _usage_fix(error: Any, command: str) -> str:
    """Near names where there are some, else how the command is called."""
    near = _near(getattr(error, "option_name", ""), getattr(error, "possibilities", None) or ())
    help_line = f"`{command} --help` shows all options"
    if near:
        return f"use {' or '.join(sorted(near))}; {help_line}"
    context = getattr(error, "ctx", None)
    return help_line if context is None else f"{context.get_usage().removeprefix('Usage: ')}; {help_line}"


def _near(typed: str, names: Sequence[str]) -> list[str]:
    """Those of Typer's near names that are near without their dashes, too, by which ``--out`` is like ``--budget``."""
    bare = {name.lstrip("-"): name for name in names}
    return [bare[name] for name in get_close_matches(typed.lstrip("-"), bare)]


def _lower(text: str) -> str:
    """A sentence that goes on after a colon."""
    return text[:1].lower() + text[1:]


def _for_command(error: MissingExtra, typed: Sequence[str]) -> HraError:
    """The error with a whole line to paste: it names the typed command's extra, if that has the package."""
    words, fix, where = _words(typed), error.fix, error.where
    extra = _EXTRAS.get(words[0]) if words else None
    if extra and error.package and _has(extra, error.package):
        fix, where = f"pip install 'hra[{extra}]'", f"extra {extra!r}"
    if fix.startswith("pip "):  # that of this Python, which need not be the first on the path
        fix = f"{shlex.quote(sys.executable)} -m {fix}"
    return HraError(error.what, where=where, fix=fix)


def _has(extra: str, package: str) -> bool:
    """Whether ``hra[extra]`` itself requires ``package``, as the installed hra says."""
    lines = (line.partition(";") for line in requires("hra") or ())
    return any(
        name.lower().startswith(package.lower()) and f"extra == '{extra}'" in condition.replace('"', "'")
        for name, _, condition in lines
    )


def _words(typed: Sequence[str]) -> list[str]:
    """The command's name among the words that were typed: at most two, before any option or path."""
    groups = ("mesh", "texture", "tokens")
    return [word for word in typed[: 2 if typed and typed[0] in groups else 1] if not word.startswith("-")]


def _version(wanted: bool) -> None:
    if wanted:
        from hra import __version__

        typer.echo(f"hra {__version__}")
        raise typer.Exit


@app.callback()
def _hra(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """What is said of all commands stands above; without a function here Typer would look for a single command."""


def run(interrupted: str, interrupts: Sequence[int]) -> None:
    """Call the command: errors become three lines on standard error and exit code 2, warnings one line each.

    Parameters
    ----------
    interrupted : what is said where the user broke it off.
    interrupts : those that came: compiled code and imports turn the exception of one into another.
    """
    atexit.register(_spare_last_collection)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Names of files need not be text in the terminal's encoding.
            stream.reconfigure(errors="backslashreplace")
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            sys.exit(_run(interrupted, interrupts))
    except HraError as error:
        typer.echo(coloured(three_lines(error, sys.argv[1:])), err=True)
        sys.exit(2)


def _spare_last_collection() -> None:
    """Spare Python the quarter of a second in which it frees what ends with the process."""
    # OpenImageIO's bindings complain about everything that was not freed.
    if "OpenImageIO" not in sys.modules:
        gc.freeze()


def _run(interrupted: str, interrupts: Sequence[int]) -> int:
    """Exit code of the command that was typed."""
    if "doctor" not in available("hra.commands"):
        fix = "install hra again: its entry points are those of an older version"
        raise HraError("no commands are registered", where="hra.commands", fix=fix)
    try:
        with enough_memory("this", "the command's arguments"):
            code = app(standalone_mode=False, prog_name="hra")
    except ClickException as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # a group without a command: its help is the answer
            error.show()  # pyright: ignore[reportAttributeAccessIssue]
            return 2
        raise usage_error(error, sys.argv[1:]) from error
    except typer.Abort:
        return 1
    except Exception:
        if not interrupts:
            raise
        code = 130
    if code == 130:  # what Typer makes of an interrupt
        typer.echo(interrupted, err=True)
    return code if isinstance(code, int) else 0


def _show_warning(message: Any, *_: Any, **__: Any) -> None:
    """One line: where in the sources a warning was raised helps nobody who typed a command."""
    typer.echo(coloured(f"warning: {' '.join(str(message).split())}"), err=True)
