"""The command line: ``hra demo``, ``hra doctor``, ``hra bench``, ``hra mesh``, ``hra texture``, ``hra tokens``,
``hra verify``.

A command reads its options, calls the library or the lab and prints what comes back: nothing is computed here that a
program could not call. One file per command or family of commands; options that several share are in `options` and
`camera_options`, tables and files in `output`.
"""

from __future__ import annotations

import io
import sys

import typer

from hra.cli import bench, demo, doctor, evaluate, mesh, texture, tokens, verify
from hra.errors import HraError
from hra.safety.limits import enough_memory

app = typer.Typer(
    help="Which level of detail where, within this budget?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(mesh.app, name="mesh")
app.add_typer(texture.app, name="texture")
app.add_typer(tokens.app, name="tokens")
app.command("bench")(bench.bench)
app.command("demo")(demo.demo)
app.command("eval")(evaluate.evaluate)
app.command("doctor")(doctor.doctor)
app.command("verify")(verify.verify)


def main() -> None:
    """Entry point: errors of hra become three lines on standard error and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Names of files need not be text in the terminal's encoding.
            stream.reconfigure(errors="backslashreplace")
    try:
        with enough_memory("this", "the command's arguments"):
            app()
    except HraError as error:
        typer.echo("error: " + "\n".join(error.lines()), err=True)
        sys.exit(2)
