"""What ``hra`` does with the words that were typed: the command, its exit code and its errors."""

from __future__ import annotations

import atexit
import gc
import io
import sys
import warnings
from typing import Annotated, Any

import typer

from hra.cli import INTERRUPTED
from hra.cli.failing import ClickException, coloured, three_lines, usage_error
from hra.cli.groups import Commands
from hra.errors import HraError
from hra.files.limits import enough_memory
from hra.plugins import available

_OBJECTS_PER_COLLECTION = 100_000

app = typer.Typer(
    cls=Commands,
    help="Which level of detail where, within this budget?",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


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


def run() -> None:
    """Call the command: errors become three lines on standard error and exit code 2, warnings one line each."""
    # Imports and compiling make millions of objects that stay: to look through them again and again finds nothing.
    gc.set_threshold(_OBJECTS_PER_COLLECTION)
    atexit.register(_spare_last_collection)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Names of files need not be text in the terminal's encoding.
            stream.reconfigure(errors="backslashreplace")
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            sys.exit(_run())
    except HraError as error:
        typer.echo(coloured(three_lines(error, sys.argv[1:])), err=True)
        sys.exit(2)


def _spare_last_collection() -> None:
    """Spare Python the quarter of a second in which it frees what ends with the process."""
    # OpenImageIO's bindings complain about everything that was not freed.
    if "OpenImageIO" not in sys.modules:
        gc.freeze()


def _run() -> int:
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
    if code == 130:  # what Typer makes of an interrupt
        typer.echo(INTERRUPTED, err=True)
    return code if isinstance(code, int) else 0


def _show_warning(message: Any, *_: Any, **__: Any) -> None:
    """One line: where in the sources a warning was raised helps nobody who typed a command."""
    typer.echo(coloured(f"warning: {' '.join(str(message).split())}"), err=True)
