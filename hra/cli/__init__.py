"""The command line ``hra``: commands that packages register as ``hra.commands``, and what becomes of their errors."""

from __future__ import annotations

import sys

import typer

from hra.cli.groups import Commands
from hra.errors import HraError
from hra.plugins import available

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
    try:
        if "doctor" not in available("hra.commands"):
            fix = "install hra again: its entry points are those of an older version"
            raise HraError("no commands are registered", where="hra.commands", fix=fix)
        app()
    except HraError as error:
        typer.echo("error: " + "\n".join(error.lines()), err=True)
        sys.exit(2)
