"""The command line ``hra``: commands that packages register as ``hra.commands``, and what becomes of their errors.

A command reads its options, calls the library or the lab and prints what comes back: nothing is computed there that a
program could not call. What commands share is in `hra.console`.
"""

from __future__ import annotations

import gc
import io
import sys

import typer

from hra.cli.groups import Commands
from hra.errors import HraError
from hra.plugins import available
from hra.safety.limits import enough_memory

_OBJECTS_PER_COLLECTION = 100_000

app = typer.Typer(
    cls=Commands,
    help="Which level of detail where, within this budget?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def _hra() -> None:
    """What is said of all commands stands above; without a function here Typer would look for a single command."""


def main() -> None:
    """Entry point: errors of hra become three lines on standard error and exit code 2."""
    # Imports and compiling make millions of objects that stay: to look through them again and again finds nothing.
    gc.set_threshold(_OBJECTS_PER_COLLECTION)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Names of files need not be text in the terminal's encoding.
            stream.reconfigure(errors="backslashreplace")
    try:
        if "doctor" not in available("hra.commands"):
            fix = "install hra again: its entry points are those of an older version"
            raise HraError("no commands are registered", where="hra.commands", fix=fix)
        with enough_memory("this", "the command's arguments"):
            app()
    except HraError as error:
        typer.echo("error: " + "\n".join(error.lines()), err=True)
        sys.exit(2)
